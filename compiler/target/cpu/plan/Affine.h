// Tiles whose element is `base + sum(index[d] * stride[d])`, with bases and strides symbolic in scalars.
// SPDX-License-Identifier: MIT
//
// Arithmetic is that of 64-bit integers over sign-extended scalars: an i32 addition of tiles is assumed not to wrap
// where it is part of an address, since a wrapped address points to no element. A comparison of other additions sets
// `mayWrap`.
#pragma once

#include "mlir/IR/Value.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace nereid::cpu {

/// A scalar SSA value, numbered in the order in which the analysis first sees it, so that equal input gives equal code.
using SymbolId = unsigned;

/// A polynomial over scalars, in normal form.
class Poly {
public:
  struct Term {
    llvm::SmallVector<SymbolId, 2> factors; ///< sorted; empty for the constant
    int64_t coefficient = 0;
    bool operator==(const Term &) const = default;
  };

  static Poly constant(int64_t value);
  static Poly symbol(SymbolId symbol);

  Poly operator+(const Poly &other) const { return plus(other, 1); }
  Poly operator-(const Poly &other) const { return plus(other, -1); }
  Poly operator*(const Poly &other) const;
  bool operator==(const Poly &) const = default;

  bool isZero() const { return list.empty(); }
  std::optional<int64_t> asConstant() const;
  llvm::ArrayRef<Term> terms() const { return list; }

private:
  Poly plus(const Poly &other, int64_t factor) const;
  void add(Term term);
  llvm::SmallVector<Term, 2> list; ///< sorted by factors, no zero coefficient
};

/// A scalar or tile of integers or pointers. Distances of pointers are in bytes.
struct AffineForm {
  mlir::Value pointer; ///< scalar pointer; null for integers
  Poly base;
  llvm::SmallVector<Poly, 2> strides;         ///< one per dimension; zero along extent 1
  llvm::SmallVector<SymbolId, 1> assumptions; ///< remainders that must not wrap for this to hold

  bool isUniform() const {
    return llvm::all_of(strides, [](const Poly &stride) { return stride.isZero(); });
  }
};

/// Whether elements that are neighbours along the dimension are neighbours in the memory that `pointer` addresses.
bool isContiguous(const AffineForm &form, unsigned dim, mlir::Value pointer);

/// `(dividend + i) % divisor` for 0 <= i < extent, which is `dividend % divisor + i` where it does not wrap.
struct Remainder {
  Poly dividend, divisor;
  int64_t extent = 1;
};

/// `index[dim] < bound`.
struct PrefixMask {
  unsigned dim = 0;
  Poly bound;
  bool mayWrap = false; ///< holds only where neither side's addition overflows its type
};

/// Analyses the tiles of one function and caches the results.
class AffineInfo {
public:
  /// Null where the value is not affine.
  const AffineForm *affine(mlir::Value value) {
    const AffineForm *form = assumed(value);
    return form && form->assumptions.empty() ? form : nullptr;
  }
  /// A form that holds where its assumptions do.
  const AffineForm *assumed(mlir::Value value);
  /// The remainder that an assumption's symbol stands for; null for other symbols.
  const Remainder *remainderOf(SymbolId symbol) const {
    auto found = remainders.find(symbol);
    return found == remainders.end() ? nullptr : &found->second;
  }
  /// The prefix of one dimension for which a comparison holds; null where it is no prefix.
  const PrefixMask *prefix(mlir::Value mask);
  /// Whether comparisons that may wrap are rejected as prefixes from here on.
  void setExact(bool value) { isExact = value; }
  /// The dimensions that the elements depend on, as a bit set. Dimensions of extent 1 are never in it.
  uint32_t dependence(mlir::Value value);

  /// Whether the predicate holds for every scalar of the polynomial.
  bool allScalars(const Poly &poly, llvm::function_ref<bool(mlir::Value)> predicate) const {
    return llvm::all_of(poly.terms(), [&](const Poly::Term &term) {
      return llvm::all_of(term.factors, [&](SymbolId symbol) { return predicate(valueOf(symbol)); });
    });
  }

  SymbolId symbolOf(mlir::Value scalar);
  mlir::Value valueOf(SymbolId symbol) const { return symbols[symbol]; }

private:
  std::optional<AffineForm> analyse(mlir::Value value);
  std::optional<AffineForm> analyseShape(mlir::Operation *op);
  std::optional<AffineForm> analyseArithmetic(mlir::Operation *op);
  std::optional<AffineForm> analyseRemainder(mlir::Operation *op);
  std::optional<PrefixMask> analyseMask(mlir::Value mask);
  bool mayWrap(mlir::Value side);
  uint32_t analyseDependence(mlir::Value value);

  llvm::DenseMap<mlir::Value, std::optional<AffineForm>> forms;
  llvm::DenseMap<mlir::Value, std::optional<PrefixMask>> masks;
  llvm::DenseMap<mlir::Value, uint32_t> dependences;
  llvm::DenseMap<mlir::Value, SymbolId> symbolIds;
  llvm::SmallVector<mlir::Value> symbols;
  llvm::DenseMap<SymbolId, Remainder> remainders;
  bool isExact = false;
};

/// Bytes that an element takes in memory; i1 takes one.
uint64_t storageBytes(mlir::Type element);
/// Those of an element that a pointer, or each pointer of a tile, addresses.
int64_t bytesOfPointee(mlir::Value pointer);

} // namespace nereid::cpu
