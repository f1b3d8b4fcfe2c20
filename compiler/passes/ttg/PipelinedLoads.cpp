// Finds the loads of a loop that can be pipelined and gives each its stage.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/PipelinedLoads.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/PointerBases.h"
#include "compiler/analysis/RegisterPressure.h"
#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/tt/NeutralElement.h"
#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/layout/SharedAccessPlan.h"
#include "compiler/passes/ttg/LoopSchedule.h"

#include "mlir/Analysis/SliceAnalysis.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// The 32-bit registers of a thread that a tile may take until its use.
static constexpr unsigned kRegistersOfTile = 32;

bool ttg::hasDots(scf::ForOp loop) { return llvm::any_of(*loop.getBody(), llvm::IsaPred<tt::DotOpInterface>); }

bool PipelinedLoads::hasMultiBuffers() const {
  return llvm::any_of(loads, [](const PipelinedLoad &load) { return bool(load.buffer); });
}

static unsigned stageBufferBytes(const PipelinedLoad &load) {
  return load.buffer ? analysis::bufferBytes(load.buffer) : 0;
}

bool PipelinedLoads::hasThreadCopies() const {
  return llvm::any_of(loads, [](const PipelinedLoad &load) { return load.buffer && !load.isTileLoad; });
}

AsyncTileLoad PipelinedLoads::firstTileCopy() const {
  AsyncTileLoad first;
  for (const PipelinedLoad &load : loads)
    if (AsyncTileLoad tile = load.tile(); load.buffer && tile && (!first || tile->isBeforeInBlock(first)))
      first = tile;
  return first;
}

unsigned PipelinedLoads::multiBufferBytes() const {
  // Room for barriers, and padding up to the next panel.
  unsigned bytes = firstTileCopy() ? 1024 : 0;
  for (const PipelinedLoad &load : loads)
    bytes += numBuffers() * stageBufferBytes(load);
  return bytes;
}

Operation *PipelinedLoads::largest() const {
  Operation *largest = nullptr;
  unsigned bytes = 0;
  for (const PipelinedLoad &pipelined : loads) {
    const unsigned here = stageBufferBytes(pipelined);
    Operation *load = pipelined.load;
    if (here > bytes || (here && here == bytes && largest->isBeforeInBlock(load)))
      largest = load;
    bytes = std::max(bytes, here);
  }
  return largest;
}

//--- buffers -------------------------------------------------------------------------------

/// Whether masked-off elements are zero or may be.
static bool isZeroWhereMasked(tt::LoadOp load) {
  Value other = load.getOther();
  if (!load.getMask() || !other)
    return true;
  while (Operation *op = other.getDefiningOp()) {
    if (!isa<tt::SplatOp, tt::BroadcastOp, tt::TransOp, ConvertLayoutOp>(op))
      break;
    other = op->getOperand(0);
  }
  return tt::isPositiveZero(other);
}

/// Whether the load's vectors can be copied to `buffer` asynchronously as they are.
static bool canCopyTo(tt::LoadOp load, MemDescType buffer, const index::AxisInfoAnalysis &axisInfo) {
  auto tile = dyn_cast<RankedTensorType>(load.getPtr().getType());
  Type element = buffer.getElementType();
  const bool isWholeBytes = element.isIntOrFloat() && analysis::memoryBits(element) == element.getIntOrFloatBitWidth();
  if (!tile || !isWholeBytes || !isZeroWhereMasked(load))
    return false;
  const unsigned bytes = tt::storageBytes(element);
  const auto bufferLayout = cast<LayoutEncoding>(buffer.getEncoding()).toLinearLayout(buffer.getShape());
  const unsigned vectorWidth = analysis::vectorElems(*analysis::memoryAccessOf(load), axisInfo);
  const auto pattern =
      layout::planSharedAccesses(linearLayoutOf(tile), bufferLayout, bytes, vectorWidth, layout::RegisterOrder::Kept);
  const unsigned vectorBytes = bytes * pattern.vectorElems;
  const TargetInterface *target = targetInterfaceOf(load);
  return analysis::isCpAsyncSize(vectorBytes) && (!target || target->copiesAsync(load, pattern, vectorBytes));
}

LocalAllocOp ttg::onlyAllocation(Operation *load) {
  auto allocation = load->hasOneUse() ? dyn_cast<LocalAllocOp>(*load->user_begin()) : LocalAllocOp();
  return allocation && allocation->getBlock() == load->getBlock() ? allocation : LocalAllocOp();
}

/// A buffer with rows in the order in which the tile's threads hold them.
static MemDescType plainBuffer(RankedTensorType tile) {
  auto blocked = dyn_cast_or_null<BlockedAttr>(tile.getEncoding());
  if (!blocked)
    return {};
  auto encoding = SwizzledSharedAttr::get(tile.getContext(), 1, 1, 1, blocked.getOrder());
  return MemDescType::get(tile.getShape(), tile.getElementType(), encoding, SharedMemoryAttr::get(tile.getContext()));
}

/// Whether threads exchange the loaded elements through shared memory.
static bool isExchanged(tt::LoadOp load) {
  return llvm::any_of(load->getUsers(), [](Operation *user) {
    auto conversion = dyn_cast<ConvertLayoutOp>(user);
    return conversion && analysis::bufferBytes(conversion) > 0;
  });
}

//--- dependences of loads ------------------------------------------------------------------

namespace {
class Finder {
public:
  Finder(scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo, bool mayCopy)
      : loop(loop), axisInfo(axisInfo), mayCopy(mayCopy), written(analysis::writtenBases(loop)) {}

  PipelinedLoads run(unsigned numStages, ArrayRef<Operation *> leftOut);

private:
  std::optional<unsigned> add(Operation *load, bool isIndex);
  bool mayMove(Operation *load);
  bool collect(Value value, PipelinedLoad &into);
  bool chooseBuffer(PipelinedLoad &pipelined, bool isIndex);
  bool chooseTileBuffer(PipelinedLoad &pipelined);
  bool feedsDot(Operation *load);
  void assignStages(unsigned numStages);

  scf::ForOp loop;
  const index::AxisInfoAnalysis &axisInfo;
  const bool mayCopy;
  const std::optional<analysis::Bases> written;
  PipelinedLoads plan;
  llvm::DenseMap<Operation *, std::optional<unsigned>> known; ///< nothing: cannot be pipelined, or is being visited
  llvm::SmallDenseSet<Value, 8> carried;                      ///< loop-carried values that are being followed
};
} // namespace

/// Adds to `into` the ops that compute `value`; false where they cannot run in an earlier iteration.
bool Finder::collect(Value value, PipelinedLoad &into) {
  if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar())
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    OpOperand *next = argument.getOwner() == loop.getBody() ? loop.getTiedLoopYieldedValue(argument) : nullptr;
    if (!next)
      return false;
    return !carried.insert(value).second || collect(next->get(), into);
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != loop.getBody() || into.slice.contains(op))
    return op->getBlock() == loop.getBody();
  if (auto load = dyn_cast<tt::LoadOp>(op)) {
    const std::optional<unsigned> index = add(load, /*isIndex=*/true);
    if (index && !llvm::is_contained(into.needs, *index))
      into.needs.push_back(*index);
    return index.has_value();
  }
  if (!canPredicate(op) || !isMemoryEffectFree(op))
    return false;
  const WalkResult result = op->walk([&](Operation *inside) { // including branches
    const bool isCollected = llvm::all_of(inside->getOperands(), [&](Value operand) {
      return op->isAncestor(operand.getParentRegion()->getParentOp()) || collect(operand, into);
    });
    return isCollected ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return false;
  into.slice.insert(op);
  return true;
}

/// Chooses where the tile is copied to as a whole: the buffer that a user allocates for it, else one that threads read.
bool Finder::chooseTileBuffer(PipelinedLoad &pipelined) {
  pipelined.buffer = pipelined.tile().bufferType(/*isMutable=*/false);
  LocalAllocOp allocation = onlyAllocation(pipelined.load);
  if (allocation && allocation.getType() == pipelined.buffer)
    pipelined.allocation = allocation;
  return true;
}

bool Finder::chooseBuffer(PipelinedLoad &pipelined, bool isIndex) {
  if (pipelined.tile())
    return chooseTileBuffer(pipelined);
  auto load = cast<tt::LoadOp>(pipelined.load);
  if (LocalAllocOp allocation = onlyAllocation(pipelined.load); allocation && mayCopy && !isIndex) {
    if (canCopyTo(load, allocation.getType(), axisInfo)) {
      pipelined.buffer = allocation.getType();
      pipelined.allocation = allocation;
      return true;
    }
  }
  auto tile = dyn_cast<RankedTensorType>(load.getType());
  if (!tile)
    return true;
  const bool fitsRegisters = analysis::registersOf(tile) <= kRegistersOfTile;
  if (fitsRegisters && !isExchanged(load))
    return true;
  MemDescType plain = mayCopy && !isIndex ? plainBuffer(tile) : MemDescType();
  if (!plain || !canCopyTo(load, plain, axisInfo))
    return fitsRegisters;
  pipelined.buffer = plain;
  return true;
}

/// Whether the op reads the same values before the stores of the iterations in between. A tensor map made in the loop
/// would be rewritten while copies through it are in flight.
bool Finder::mayMove(Operation *op) {
  if (!written)
    return false;
  if (auto tile = dyn_cast<AsyncTileLoad>(op))
    return loop.isDefinedOutsideOfLoop(tile.getMemory()) && analysis::staysUnwritten(tile.getMemory(), *written);
  auto load = cast<tt::LoadOp>(op);
  return !load.getIsVolatile() && load.getCache() != tt::CacheModifier::CV &&
         analysis::staysUnwritten(load.getPtr(), *written);
}

std::optional<unsigned> Finder::add(Operation *load, bool isIndex) {
  auto [entry, isNew] = known.try_emplace(load, std::nullopt);
  if (!isNew)
    return entry->second;
  if (!mayMove(load))
    return std::nullopt;
  PipelinedLoad pipelined;
  pipelined.load = load;
  pipelined.isTileLoad = isa<AsyncTileLoad>(load);
  const llvm::SmallDenseSet<Value, 8> around = std::exchange(carried, {});
  const bool isCollected =
      llvm::all_of(load->getOperands(), [&](Value operand) { return collect(operand, pipelined); });
  carried = around;
  if (!isCollected || !chooseBuffer(pipelined, isIndex))
    return std::nullopt;
  plan.loads.push_back(std::move(pipelined));
  return known[load] = plan.loads.size() - 1;
}

bool Finder::feedsDot(Operation *load) {
  SetVector<Operation *> after;
  ForwardSliceOptions options;
  options.filter = [&](Operation *op) { return loop->isProperAncestor(op); };
  getForwardSlice(load, &after, options);
  return llvm::any_of(after, llvm::IsaPred<tt::DotOpInterface>);
}

/// Copies run as many stages ahead of the dots as there are; loads that give addresses run one stage earlier each.
void Finder::assignStages(unsigned numStages) {
  SmallVector<unsigned> depth(plan.loads.size(), 0);
  for (auto [index, pipelined] : llvm::enumerate(plan.loads)) {
    for (unsigned needed : pipelined.needs)
      depth[index] = std::max(depth[index], depth[needed] + 1);
    if (pipelined.buffer)
      plan.copyStage = std::max(plan.copyStage, depth[index]);
  }
  const unsigned ahead = numStages - 1 > plan.copyStage ? numStages - 1 - plan.copyStage : 1;
  plan.lastStage = plan.copyStage + ahead;
  for (PipelinedLoad &pipelined : plan.loads)
    pipelined.stage = pipelined.buffer ? plan.copyStage : plan.lastStage - 1;
  for (PipelinedLoad &pipelined : llvm::reverse(plan.loads))
    for (unsigned needed : pipelined.needs)
      plan.loads[needed].stage = std::min(plan.loads[needed].stage, pipelined.stage > 0 ? pipelined.stage - 1 : 0);
}

PipelinedLoads Finder::run(unsigned numStages, ArrayRef<Operation *> leftOut) {
  const bool hasDot = hasDots(loop);
  // Backwards: a load that gives addresses is visited as such first.
  for (Operation &op : llvm::reverse(*loop.getBody())) {
    if (llvm::is_contained(leftOut, &op))
      continue;
    const bool isTileLoad = isa<AsyncTileLoad>(op);
    if ((isTileLoad && !hasDot) || ((isTileLoad || isa<tt::LoadOp>(op)) && feedsDot(&op)))
      add(&op, /*isIndex=*/false);
  }
  assignStages(numStages);
  return std::move(plan);
}

PipelinedLoads ttg::findPipelinedLoads(scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo, unsigned numStages,
                                       bool mayCopy, ArrayRef<Operation *> leftOut) {
  return Finder(loop, axisInfo, mayCopy).run(numStages, leftOut);
}
