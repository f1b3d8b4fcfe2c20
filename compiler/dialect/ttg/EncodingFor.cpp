// Finds an encoding for a linear layout: a blocked one where possible, else the bases themselves.
//
// In a blocked layout the bits of a coordinate go to sizePerThread's registers first, then to lanes, warps and the
// registers that repeat the pattern, and each of these lists follows one order of dimensions. A candidate is read off
// the bases by that rule and kept only if its layout is the same.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/EncodingShape.h"

#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;
using layout::LinearLayout;

namespace {
/// The coordinate bit that one bit of an input selects; no dim for a copy.
struct CoordinateBit {
  std::optional<unsigned> dim;
  unsigned bit = 0;
};
using CoordinateBits = SmallVector<CoordinateBit, 8>;
} // namespace

/// The bits of `in`; none unless each is a bit of one coordinate or a copy.
static std::optional<CoordinateBits> coordinateBitsOf(const LinearLayout &layout, StringRef in) {
  CoordinateBits coordinateBits;
  for (unsigned bit = 0; bit < layout.inBits(in); ++bit) {
    CoordinateBit &coordinateBit = coordinateBits.emplace_back();
    for (auto [dim, coordinate] : llvm::enumerate(layout.basis(in, bit))) {
      if (coordinate == 0)
        continue;
      if (coordinateBit.dim || !llvm::isPowerOf2_32(coordinate))
        return std::nullopt;
      coordinateBit = {unsigned(dim), llvm::Log2_32(coordinate)};
    }
  }
  return coordinateBits;
}

/// Dimensions in an order that agrees with all lists, each of which names dimensions from the fastest on.
static SmallVector<unsigned> mergeOrders(unsigned rank, ArrayRef<SmallVector<unsigned, 8>> lists) {
  SmallVector<unsigned> order;
  while (order.size() < rank) {
    std::optional<unsigned> best;
    for (unsigned dim : lastDimFirst(rank)) {
      if (llvm::is_contained(order, dim))
        continue;
      const bool isNext = llvm::all_of(lists, [&](ArrayRef<unsigned> list) {
        auto first = llvm::find_if(list, [&](unsigned other) { return !llvm::is_contained(order, other); });
        return first == list.end() || *first == dim || !llvm::is_contained(list, dim);
      });
      if (isNext || !best)
        best = dim;
      if (isNext)
        break;
    }
    order.push_back(*best);
  }
  return order;
}

static SmallVector<unsigned, 8> dimsOf(ArrayRef<CoordinateBit> coordinateBits) {
  SmallVector<unsigned, 8> dims;
  for (const CoordinateBit &coordinateBit : coordinateBits)
    if (coordinateBit.dim)
      dims.push_back(*coordinateBit.dim);
  return dims;
}

/// The number of bits of each dimension, as extents; a copy counts with the bit before it.
static SmallVector<unsigned> extentsOf(ArrayRef<CoordinateBit> coordinateBits, ArrayRef<unsigned> order) {
  SmallVector<unsigned> extents(order.size(), 1);
  unsigned current = order[0];
  for (const CoordinateBit &coordinateBit : coordinateBits) {
    current = coordinateBit.dim.value_or(current);
    extents[current] *= 2;
  }
  return extents;
}

/// The candidate; `keepUnsplit` says whether a dimension that only registers hold is part of sizePerThread.
static BlockedAttr candidate(MLIRContext *context, const CoordinateBits &registers, const CoordinateBits &lanes,
                             const CoordinateBits &warps, unsigned rank, bool keepUnsplit) {
  SmallVector<unsigned> firstShared(rank, keepUnsplit ? 32 : 0);
  SmallVector<bool> isShared(rank, false);
  for (const CoordinateBits *list : {&lanes, &warps})
    for (const CoordinateBit &coordinateBit : *list)
      if (coordinateBit.dim) {
        unsigned &first = firstShared[*coordinateBit.dim];
        first = isShared[*coordinateBit.dim] ? std::min(first, coordinateBit.bit) : coordinateBit.bit;
        isShared[*coordinateBit.dim] = true;
      }
  CoordinateBits inner, outer;
  for (const CoordinateBit &coordinateBit : registers)
    (coordinateBit.bit < firstShared[*coordinateBit.dim] ? inner : outer).push_back(coordinateBit);
  const SmallVector<unsigned> order = mergeOrders(rank, {dimsOf(inner), dimsOf(lanes), dimsOf(warps), dimsOf(outer)});
  return BlockedAttr::get(context, extentsOf(inner, order), extentsOf(lanes, order), extentsOf(warps, order), order);
}

LayoutEncoding ttg::encodingFor(MLIRContext *context, const LinearLayout &layout, ArrayRef<int64_t> shape) {
  const auto registers = coordinateBitsOf(layout, layout::kRegister), lanes = coordinateBitsOf(layout, layout::kLane),
             warps = coordinateBitsOf(layout, layout::kWarp);
  const bool hasCopies =
      registers && llvm::any_of(*registers, [](const CoordinateBit &coordinateBit) { return !coordinateBit.dim; });
  if (registers && lanes && warps && !hasCopies && layout.inBits(layout::kBlock) == 0 && !shape.empty())
    for (bool keepUnsplit : {false, true}) {
      BlockedAttr blocked = candidate(context, *registers, *lanes, *warps, shape.size(), keepUnsplit);
      if (blocked.toLinearLayout(shape) == layout)
        return blocked;
    }
  return LinearAttr::get(context, layout);
}
