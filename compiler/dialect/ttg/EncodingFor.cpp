// Finds an encoding for a linear map: a blocked one where the map is one, else its bases.
//
// In a blocked layout the bits of a coordinate go to sizePerThread's registers first, then to lanes, warps and the
// registers that repeat the pattern, and each of these lists follows one order of dimensions. A candidate is read off
// the bases by that rule and kept only if it gives the same map.
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
/// One bit of an input: the coordinate bit that it is, or none for a copy.
struct Place {
  std::optional<unsigned> dim;
  unsigned bit = 0;
};
using Places = SmallVector<Place, 8>;
} // namespace

/// The bits of `in`, where each is a bit of one coordinate or a copy.
static std::optional<Places> placesOf(const LinearLayout &layout, StringRef in) {
  Places places;
  for (unsigned bit = 0; bit < layout.inBits(in); ++bit) {
    Place &place = places.emplace_back();
    for (auto [dim, coordinate] : llvm::enumerate(layout.basis(in, bit))) {
      if (coordinate == 0)
        continue;
      if (place.dim || !llvm::isPowerOf2_32(coordinate))
        return std::nullopt;
      place = {unsigned(dim), llvm::Log2_32(coordinate)};
    }
  }
  return places;
}

/// Dimensions in an order that agrees with all lists, each of which names dimensions from the fastest.
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

static SmallVector<unsigned, 8> dimsOf(ArrayRef<Place> places) {
  SmallVector<unsigned, 8> dims;
  for (const Place &place : places)
    if (place.dim)
      dims.push_back(*place.dim);
  return dims;
}

/// How many of the bits belong to each dimension, as extents; a copy goes with the bit before it.
static SmallVector<unsigned> extentsOf(ArrayRef<Place> places, ArrayRef<unsigned> order) {
  SmallVector<unsigned> extents(order.size(), 1);
  unsigned current = order[0];
  for (const Place &place : places) {
    current = place.dim.value_or(current);
    extents[current] *= 2;
  }
  return extents;
}

/// The candidate; `keepUnsplit` says whether a dimension that only registers hold is part of sizePerThread.
static BlockedAttr candidate(MLIRContext *context, const Places &registers, const Places &lanes, const Places &warps,
                             unsigned rank, bool keepUnsplit) {
  SmallVector<unsigned> firstShared(rank, keepUnsplit ? 32 : 0);
  SmallVector<bool> isShared(rank, false);
  for (const Places *list : {&lanes, &warps})
    for (const Place &place : *list)
      if (place.dim) {
        unsigned &first = firstShared[*place.dim];
        first = isShared[*place.dim] ? std::min(first, place.bit) : place.bit;
        isShared[*place.dim] = true;
      }
  Places inner, outer;
  for (const Place &place : registers)
    (place.bit < firstShared[*place.dim] ? inner : outer).push_back(place);
  const SmallVector<unsigned> order = mergeOrders(rank, {dimsOf(inner), dimsOf(lanes), dimsOf(warps), dimsOf(outer)});
  return BlockedAttr::get(context, extentsOf(inner, order), extentsOf(lanes, order), extentsOf(warps, order), order);
}

LayoutEncoding ttg::encodingFor(MLIRContext *context, const LinearLayout &layout, ArrayRef<int64_t> shape) {
  const auto registers = placesOf(layout, layout::kRegister), lanes = placesOf(layout, layout::kLane),
             warps = placesOf(layout, layout::kWarp);
  const bool hasCopies = registers && llvm::any_of(*registers, [](const Place &place) { return !place.dim; });
  if (registers && lanes && warps && !hasCopies && layout.inBits(layout::kBlock) == 0 && !shape.empty())
    for (bool keepUnsplit : {false, true}) {
      BlockedAttr blocked = candidate(context, *registers, *lanes, *warps, shape.size(), keepUnsplit);
      if (blocked.toLinearLayout(shape) == layout)
        return blocked;
    }
  return LinearAttr::get(context, layout);
}
