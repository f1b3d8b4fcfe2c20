// Finds tiles that are regular in each chunk of lanes.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Chunks.h"

#include "compiler/index/AxisInfo.h"
#include "compiler/target/cpu/plan/Expressions.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

std::optional<int64_t> cpu::chunkStep(AffineInfo &affineInfo, Value value, const IndexMap &map, int loop,
                                      unsigned lanes) {
  const IndexMap reduced = reduceMap(affineInfo, value, map);
  const size_t dim = llvm::find(reduced, loop) - reduced.begin();
  if (dim == reduced.size())
    return 0;
  const auto [group, step, divisibility] = affineInfo.axes(value).of(value).dims[dim];
  return group >= lanes ? std::optional(step) : std::nullopt;
}

unsigned cpu::largestChunk(unsigned most, unsigned fewest, llvm::function_ref<bool(unsigned)> holds) {
  for (unsigned lanes = most; lanes >= fewest; lanes /= 2)
    if (holds(lanes))
      return lanes;
  return 0;
}

/// Fewer lanes are no chunk that pays.
static constexpr unsigned fewestLanes = 8;

bool cpu::hasContiguousChunks(AffineInfo &affineInfo, Value pointer, unsigned dim) {
  ArrayRef<int64_t> shape = tt::shapeOf(pointer.getType());
  return shape[dim] % fewestLanes == 0 &&
         chunkStep(affineInfo, pointer, identityMap(shape.size()), dim, fewestLanes) == bytesOfPointee(pointer);
}

unsigned cpu::regularLanes(AffineInfo &affineInfo, Value pointer, const IndexMap &map, int loop, unsigned most) {
  return largestChunk(most, fewestLanes, [&](unsigned lanes) {
    const auto step = chunkStep(affineInfo, pointer, map, loop, lanes);
    return step == 0 || step == bytesOfPointee(pointer);
  });
}

bool cpu::isUniformComparison(AffineInfo &affineInfo, Value value, const IndexMap &map, int loop, unsigned lanes) {
  return value.getDefiningOp<arith::CmpIOp>() && !affineInfo.prefix(value) &&
         chunkStep(affineInfo, value, map, loop, lanes) == 0;
}

unsigned cpu::uniformLanes(AffineInfo &affineInfo, Value comparison, const IndexMap &map, int loop, unsigned most) {
  constexpr unsigned fewestLanes = 16; // fewer would cost other elements of the nest more than the comparison
  return largestChunk(most, fewestLanes,
                      [&](unsigned lanes) { return isUniformComparison(affineInfo, comparison, map, loop, lanes); });
}
