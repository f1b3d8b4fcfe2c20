// Keeps loads that are contiguous along another dimension than what their nest writes, and transposes them in between.
// SPDX-License-Identifier: MIT
//
// `store(y + i * n + j, load(x + j * m + i))` reads or writes memory with a stride, one element of each cache line, and
// lines are gone from the caches before their next element is used. Instead a nest of its own copies the load as it
// lies into a buffer, which is transposed in registers, in square blocks, into the buffer that the store's nest reads.
// The same holds for a dot's operand whose buffer must be row-major. That nest stands where the load was evaluated:
// what protects the load from earlier stores holds for it, too.
#include "compiler/target/cpu/plan/Chunks.h"
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include <optional>

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
/// The two dimensions of a tile along which a load and what it is written to are contiguous.
struct Directions {
  unsigned load = 0, store = 0;
};
} // namespace

constexpr int64_t fewestElements = 8; ///< along either dimension: fewer do not pay for two more passes

/// The dimension along which an access of the tile's shape is contiguous, as a whole or in chunks, of those with
/// several elements.
static std::optional<unsigned> contiguousDim(AffineInfo &affineInfo, Value pointer) {
  const AffineForm *form = affineInfo.assumed(pointer);
  ArrayRef<int64_t> shape = tt::shapeOf(pointer.getType());
  for (size_t dim = shape.size(); dim-- > 0;)
    if (shape[dim] != 1 && (form ? isContiguous(*form, dim, pointer) : hasContiguousChunks(affineInfo, pointer, dim)))
      return dim;
  return std::nullopt;
}

/// Whether the nest only fills operands of dots, in their buffers' order.
static bool fillsOperands(const Nest &nest) {
  return !nest.inPlace && llvm::all_of(nest.roots, [](const Root &root) {
    return root.kind == RootKind::Assign && isa<tt::DotOp>(root.op);
  });
}

static bool isOneStore(const Nest &nest) {
  return nest.roots.size() == 1 && isa_and_nonnull<tt::StoreOp>(nest.roots.front().op) && nest.roots.front().isWrite();
}

/// The dimension along which the nest writes adjacent elements.
static std::optional<unsigned> writtenDim(AffineInfo &affineInfo, const Nest &nest) {
  if (isOneStore(nest))
    return contiguousDim(affineInfo, cast<tt::StoreOp>(nest.roots.front().op).getPtr());
  for (size_t dim = nest.shape.size(); dim-- > 0;)
    if (nest.shape[dim] != 1)
      return dim;
  return std::nullopt;
}

/// The directions of the load and of what the nest writes, where they differ and the tile is a matrix.
static std::optional<Directions> directionsOf(PlanContext &context, const Nest &nest, tt::LoadOp load) {
  ArrayRef<int64_t> shape = tt::shapeOf(load.getType());
  const Type element = tt::elementOf(load.getType());
  if (shape != ArrayRef<int64_t>(nest.shape) || llvm::count_if(shape, [](int64_t size) { return size != 1; }) != 2 ||
      isa<tt::PointerType>(element) || element.isInteger(1))
    return std::nullopt;
  const std::optional<unsigned> from = contiguousDim(context.affineInfo, load.getPtr());
  const std::optional<unsigned> to = writtenDim(context.affineInfo, nest);
  if (!from || !to || *from == *to || shape[*from] < fewestElements || shape[*to] < fewestElements)
    return std::nullopt;
  const AffineForm *form = context.affineInfo.assumed(load.getPtr());
  if (form && form->steps[*to].isZero())
    return std::nullopt;
  return Directions{*from, *to};
}

/// The loads that the nest evaluates at its own index, and no other nest does.
static SmallVector<tt::LoadOp> ownLoads(PlanContext &context, const Nest &nest, Block *block) {
  SmallVector<tt::LoadOp> loads;
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &map) {
    if (context.plan.bufferOf.contains(value))
      return false;
    auto load = value.getDefiningOp<tt::LoadOp>();
    if (load && load->getBlock() == block && load->hasOneUse() && !load.getIsVolatile() &&
        isIdentity(tt::shapeOf(load.getType()), map, nest))
      loads.push_back(load);
    return true;
  });
  walk.nest(nest);
  return loads;
}

/// Writes the root to another buffer first, in the order of memory.
static void stage(PlanContext &context, Root &root, Directions directions) {
  root.staging = context.newBuffer(root.value.getType(), "staged");
  context.plan.buffers[*root.staging].innermost = directions.load;
  context.plan.buffers[root.buffers.front()].innermost = directions.store;
}

void cpu::transposeLoads(PlanContext &context, Sequence &sequence) {
  for (size_t index = 0; index < sequence.steps.size(); ++index) {
    for (Sequence &region : sequence.steps[index].regions)
      transposeLoads(context, region);
    Nest *nest = sequence.steps[index].nest.get();
    if (!nest || !(isOneStore(*nest) || fillsOperands(*nest)))
      continue;
    for (tt::LoadOp load : ownLoads(context, *nest, sequence.block)) {
      const std::optional<Directions> directions = directionsOf(context, *nest, load);
      if (!directions)
        continue;
      auto copy = llvm::find_if(nest->roots, [&](const Root &root) { return root.value == load.getResult(); });
      if (copy != nest->roots.end()) { // for a dot
        stage(context, context.nestOfOnly(copy, sequence.steps, index).roots.front(), *directions);
        continue;
      }
      Step step = context.materialiseStep(load.getResult(), "transposed");
      stage(context, step.nest->roots.front(), *directions);
      sequence.steps.insert(sequence.steps.begin() + index, std::move(step));
      ++index; // of the nest again
    }
  }
}
