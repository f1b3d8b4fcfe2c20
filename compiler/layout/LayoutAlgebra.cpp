// Implements product, composition and inverses of layouts.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Layout.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace nereid;
using namespace nereid::layout;

LinearLayout LinearLayout::operator*(const LinearLayout &right) const {
  LinearLayout result;
  result.outs = outs;
  for (const OutDim &out : right.outs) {
    auto *same = llvm::find_if(result.outs, [&](const OutDim &dim) { return dim.name == out.name; });
    if (same == result.outs.end())
      result.outs.push_back(out);
    else
      same->bits += out.bits;
  }
  auto append = [&](const LinearLayout &operand, bool isRight) {
    for (const InDim &in : operand.ins) {
      auto *same = llvm::find_if(result.ins, [&](const InDim &dim) { return dim.name == in.name; });
      if (same == result.ins.end()) {
        result.ins.push_back({in.name, {}});
        same = &result.ins.back();
      }
      for (BitVector column : in.columns) {
        const Coordinates coordinates = operand.unflatten(column);
        Coordinates placed(result.outs.size(), 0);
        for (auto [value, out] : llvm::zip_equal(coordinates, operand.outs))
          placed[result.findOut(out.name) - result.outs.begin()] = isRight ? value << outBits(out.name) : value;
        same->columns.push_back(result.flatten(placed));
      }
    }
  };
  append(*this, false);
  append(right, true);
  assert(result.totalOutBits() < 64 && result.totalInBits() < 64 && "a layout has at most 63 bits");
  return result;
}

LinearLayout LinearLayout::compose(const LinearLayout &outer) const {
  LinearLayout result;
  result.outs = outer.outs;
  for (const InDim &in : ins) {
    InDim &composed = result.ins.emplace_back();
    composed.name = in.name;
    for (BitVector column : in.columns) {
      uint64_t position = 0;
      for (auto [value, out] : llvm::zip_equal(unflatten(column), outs)) {
        assert(out.bits <= outer.inBits(out.name) && "the outer layout takes all outputs of the inner one");
        position ^= multiply(outer.columns(out.name), uint32_t(value));
      }
      composed.columns.push_back(position);
    }
  }
  return result;
}

LinearLayout LinearLayout::invert() const {
  assert(isInvertible() && "only a bijective layout has an inverse");
  return pseudoInvert();
}

/// Columns of the inputs named in `order`, concatenated.
BitColumns LinearLayout::columnsByIns(llvm::ArrayRef<llvm::StringRef> order) const {
  BitColumns all;
  for (llvm::StringRef name : order)
    all.append(columns(name).begin(), columns(name).end());
  return all;
}

/// Values of inputs as coordinates of a layout that has them as outputs; `selection` has the first input in the lowest
/// bits.
static LinearLayout::Coordinates splitSelection(uint64_t selection, llvm::ArrayRef<unsigned> bitsOfInputs) {
  LinearLayout::Coordinates values;
  for (unsigned bits : bitsOfInputs) {
    values.push_back(selection & ((uint64_t(1) << bits) - 1));
    selection >>= bits;
  }
  return values;
}

LinearLayout LinearLayout::pseudoInvert() const {
  assert(isSurjective() && "only a surjective layout has a right inverse");
  LinearLayout result;
  llvm::SmallVector<unsigned, 4> bitsOfInputs;
  for (const InDim &in : ins) {
    bitsOfInputs.push_back(in.columns.size());
    result.outs.push_back({in.name, bitsOfInputs.back()});
  }
  const BitSpan span(allColumns());
  for (const OutDim &out : outs) {
    InDim &in = result.ins.emplace_back();
    in.name = out.name;
    for (unsigned bit = 0; bit < out.bits; ++bit) {
      const uint64_t selection = span.express(uint64_t(1) << (shiftOf(out) + bit)).value_or(0);
      in.columns.push_back(result.flatten(splitSelection(selection, bitsOfInputs)));
    }
  }
  return result;
}

LinearLayout LinearLayout::invertAndCompose(const LinearLayout &other) const {
  assert(other.isSurjective() && "every coordinate must exist in the other layout");
  const LinearLayout target = other.transposeOuts(outputNames());
  LinearLayout result;
  for (const InDim &in : target.ins)
    result.outs.push_back({in.name, unsigned(in.columns.size())});

  // The inputs that should keep their value, from the strictest requirement on; the others are solved for.
  static constexpr llvm::StringLiteral kOrder[] = {kBlock, kWarp, kLane};
  auto find = [&](llvm::StringRef name, unsigned bit, BitVector position) {
    for (unsigned level = 0; level <= 4; ++level) {
      auto isKept = [&](llvm::StringRef in) {
        return level == 0 || llvm::is_contained(llvm::ArrayRef(kOrder).take_front(4 - level), in);
      };
      const bool keepsBit = isKept(name);
      if (keepsBit && bit >= target.inBits(name))
        continue;
      llvm::SmallVector<llvm::StringRef, 4> solved;
      for (const InDim &in : target.ins)
        if (!isKept(in.name))
          solved.push_back(in.name);
      const BitVector keptPosition = keepsBit ? target.columns(name)[bit] : 0;
      const std::optional<uint64_t> selection = solve(target.columnsByIns(solved), position ^ keptPosition);
      if (!selection)
        continue;
      Coordinates values(target.ins.size(), 0);
      uint64_t rest = *selection;
      for (auto [index, in] : llvm::enumerate(target.ins)) {
        if (keepsBit && in.name == name)
          values[index] = int32_t(1) << bit;
        if (isKept(in.name))
          continue;
        values[index] = rest & ((uint64_t(1) << in.columns.size()) - 1);
        rest >>= in.columns.size();
      }
      return result.flatten(values);
    }
    assert(false && "a surjective layout holds every coordinate");
    return uint64_t(0);
  };
  for (const InDim &in : ins) {
    InDim &mapped = result.ins.emplace_back();
    mapped.name = in.name;
    for (auto [bit, column] : llvm::enumerate(in.columns))
      mapped.columns.push_back(find(in.name, bit, column));
  }
  return result;
}
