// Linear layouts: maps over GF(2) from named hardware bits to named tile coordinates.
// SPDX-License-Identifier: MIT
//
// A layout gives each input bit a basis, the coordinates that the bit adds by XOR: the coordinates of register 5 are
// bases[register][0] ^ bases[register][2]. A zero basis belongs to a bit that holds copies (broadcast). Sizes are
// powers of two.
//
// Lists of dims that are flattened or reshaped, inputs and outputs alike, are row-major: the last dim runs fastest.
#pragma once

#include "compiler/layout/BitMatrix.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace nereid::layout {

/// Names of the input dims of tiles held by threads, and of shared memory.
inline constexpr llvm::StringLiteral kRegister = "register", kLane = "lane", kWarp = "warp", kBlock = "block",
                                     kOffset = "offset";

class LinearLayout {
public:
  /// One value per output dim.
  using Coordinates = llvm::SmallVector<int32_t, 4>;
  /// An input dim with the basis of each of its bits, least significant first.
  struct Input {
    std::string name;
    std::vector<Coordinates> bases;
  };
  /// An output dim and its size.
  struct Output {
    std::string name;
    int32_t size = 1;
    bool operator==(const Output &) const = default;
  };
  /// A dim and its size, or a value for it.
  using Named = std::pair<llvm::StringRef, int32_t>;

  /// No dims at all: the neutral element of the product.
  LinearLayout() = default;
  static LinearLayout identity1D(int32_t size, llvm::StringRef in, llvm::StringRef out);
  /// Input i has coordinate i * stride in an output of size * stride.
  static LinearLayout strided1D(int32_t size, int32_t stride, llvm::StringRef in, llvm::StringRef out);
  /// Every input has coordinate 0 in an output of `outSize`.
  static LinearLayout zeros1D(int32_t size, llvm::StringRef in, llvm::StringRef out, int32_t outSize = 1);
  /// For bases from users: a size that is not a power of two, a basis outside the outputs, a duplicate name or more
  /// than 63 bits give nothing and set `reason`.
  static std::optional<LinearLayout> tryFromBases(llvm::ArrayRef<Input> inputs, llvm::ArrayRef<Output> outputs,
                                                  std::string &reason);
  /// For bases that are valid by construction.
  static LinearLayout fromBases(llvm::ArrayRef<Input> inputs, llvm::ArrayRef<Output> outputs);

  // Shape.
  unsigned numInputs() const { return ins.size(); }
  unsigned numOutputs() const { return outs.size(); }
  llvm::SmallVector<llvm::StringRef, 4> inputNames() const;
  llvm::SmallVector<llvm::StringRef, 4> outputNames() const;
  bool hasInput(llvm::StringRef in) const;
  bool hasOutput(llvm::StringRef out) const;
  /// 0 bits and size 1 for a dim that does not exist.
  unsigned inBits(llvm::StringRef in) const;
  unsigned outBits(llvm::StringRef out) const;
  int32_t inSize(llvm::StringRef in) const { return int32_t(1) << inBits(in); }
  int32_t outSize(llvm::StringRef out) const { return int32_t(1) << outBits(out); }
  unsigned totalInBits() const;
  unsigned totalOutBits() const;
  /// Output dims in order.
  llvm::SmallVector<Output, 4> outputs() const;

  // Values.
  Coordinates basis(llvm::StringRef in, unsigned bit) const;
  int32_t basis(llvm::StringRef in, unsigned bit, llvm::StringRef out) const;
  /// The bases of one input with outputs flattened.
  BitColumnsRef columns(llvm::StringRef in) const;
  /// The bases of all inputs in order, each dim's least significant bit first.
  BitColumns allColumns() const;
  /// The coordinates of an input, in the order of the outputs. Inputs that are not named are 0.
  Coordinates apply(std::initializer_list<Named> inputs) const { return apply(llvm::ArrayRef<Named>(inputs)); }
  Coordinates apply(llvm::ArrayRef<Named> inputs) const;
  /// The coordinates of an input, flattened.
  uint64_t applyFlat(std::initializer_list<Named> inputs) const { return applyFlat(llvm::ArrayRef<Named>(inputs)); }
  uint64_t applyFlat(llvm::ArrayRef<Named> inputs) const;

  // Algebra.
  /// Dims of one name are concatenated: the right operand's bits are the more significant ones.
  LinearLayout operator*(const LinearLayout &right) const;
  /// outer(this(x)); the outputs here are the inputs of `outer`, in any order, and not larger.
  LinearLayout compose(const LinearLayout &outer) const;
  /// The inverse of a bijective layout.
  LinearLayout invert() const;
  /// A right inverse of a surjective layout: one input for each output, preferring bits of earlier inputs.
  LinearLayout pseudoInvert() const;
  /// Maps inputs to inputs of `other` with the same coordinates: other(result(x)) = this(x). Where `other` holds
  /// copies, the result moves least: same block, then same warp, then same lane. `other` is surjective and has the same
  /// outputs.
  LinearLayout invertAndCompose(const LinearLayout &other) const;

  // Views.
  LinearLayout sublayout(llvm::ArrayRef<llvm::StringRef> ins, llvm::ArrayRef<llvm::StringRef> outs) const;
  bool sublayoutIsZero(llvm::ArrayRef<llvm::StringRef> ins, llvm::ArrayRef<llvm::StringRef> outs) const;
  LinearLayout transposeIns(llvm::ArrayRef<llvm::StringRef> order) const;
  LinearLayout transposeOuts(llvm::ArrayRef<llvm::StringRef> order) const;
  LinearLayout reshapeIns(llvm::ArrayRef<Named> shape) const;
  LinearLayout reshapeOuts(llvm::ArrayRef<Named> shape) const;
  LinearLayout flattenOuts(llvm::StringRef name) const;
  LinearLayout renameOut(llvm::StringRef from, llvm::StringRef to) const;
  /// The layout without the bits of `in` whose basis is zero.
  LinearLayout removeZeroBases(llvm::StringRef in) const;

  // Properties.
  bool isSurjective() const;
  bool isInjective() const;
  bool isInvertible() const { return isSurjective() && isInjective(); }
  /// The bits of `in` that may stay 0 with every coordinate still reached: zero bases, and bases that depend on those
  /// of earlier bits. In one thread of each set of copies all of them are 0.
  uint32_t freeVariableMask(llvm::StringRef in) const;

  std::string toString() const;
  bool operator==(const LinearLayout &) const = default;
  friend llvm::hash_code hash_value(const LinearLayout &layout);

private:
  struct InDim {
    std::string name;
    BitColumns columns;
    bool operator==(const InDim &) const = default;
  };
  struct OutDim {
    std::string name;
    unsigned bits = 0;
    bool operator==(const OutDim &) const = default;
  };
  const InDim *findIn(llvm::StringRef name) const;
  const OutDim *findOut(llvm::StringRef name) const;
  unsigned shiftOf(const OutDim &out) const;
  uint64_t flatten(llvm::ArrayRef<int32_t> coordinates) const;
  Coordinates unflatten(uint64_t flat) const;
  BitColumns columnsByIns(llvm::ArrayRef<llvm::StringRef> order) const;

  llvm::SmallVector<InDim, 4> ins;
  llvm::SmallVector<OutDim, 4> outs;
};

} // namespace nereid::layout
