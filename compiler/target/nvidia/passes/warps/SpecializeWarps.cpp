// Gives the loads of a kernel's loops of dots to warps of their own, which fill buffers for the others.
//
//   for { %k = load; %b = local_alloc %k; dot(%b) }
//     ->  %buffers = local_alloc of several stages, %full, %empty = barriers
//         warp_specialize
//           default     for { wait full; dot(%buffers[stage]); arrive empty }
//           partition0  for { wait empty; copies to %buffers[stage], which arrive at full }
//
// The copies are those of threads (cp.async) for loads of pointers, of TMA for loads of whole tiles.
// WarpBuffers.cpp fills and reads the multi-buffered allocations, OverlapDots.cpp orders the rest; see
// docs/why/warp-specialisation.md.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/index/AxisInfo.h"
#include "compiler/passes/ttg/Diagnostics.h"
#include "compiler/passes/ttg/JoinLoops.h"
#include "compiler/passes/ttg/PipelinedLoads.h"
#include "compiler/target/nvidia/passes/warps/Specializer.h"

#include "mlir/IR/BuiltinOps.h"

namespace nereid::nvidia {
#define GEN_PASS_DEF_SPECIALIZEWARPS
#include "compiler/target/nvidia/passes/Passes.h.inc"
} // namespace nereid::nvidia

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::ttg;

static constexpr unsigned kWarpGroup = kProducerWarps;
/// Bytes for barriers, scratch buffers that share no memory, and padding.
static constexpr unsigned kSmallBuffers = 6144;
/// The part of it that a kernel needs which has no such scratch buffers.
static constexpr unsigned kBarriersAndPadding = 1024;

//--- the choice ----------------------------------------------------------------------------

bool Specializer::addLoop(scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo) {
  auto found = findSpecialLoop(loop, axisInfo, options.defaultStages);
  if (!found)
    return false;
  if (found->stages > askedBuffers)
    deepest = loop;
  askedBuffers = std::max(askedBuffers, found->stages);
  loops.push_back(std::move(*found));
  return true;
}

/// Whether the module has another kernel, which would get as many warps.
static bool isOnlyKernel(tt::FuncOp function) {
  return llvm::count_if(function->getParentOfType<ModuleOp>().getOps<tt::FuncOp>(),
                        [](tt::FuncOp other) { return other.isPublic(); }) == 1;
}

/// The first loop with dots; null where there is none.
static scf::ForOp firstLoopOfDots(tt::FuncOp function) {
  scf::ForOp first;
  function.walk([&](scf::ForOp loop) {
    if (!hasDots(loop))
      return WalkResult::advance();
    first = loop;
    return WalkResult::interrupt();
  });
  return first;
}

/// Whether the op stands in the body of a loop with dots.
static bool hasDotsAround(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  return loop && hasDots(loop);
}

/// Whether the buffer is only read, by dots of loops.
static bool feedsLoops(Value buffer) {
  return llvm::all_of(buffer.getUsers(), [](Operation *user) {
    if (isa<MemDescTransOp>(user))
      return feedsLoops(user->getResult(0));
    return isa<ttng::WarpGroupDotOp>(user) && hasDotsAround(user);
  });
}

/// Adds a tile that is loaded once for all loops.
bool Specializer::addOnce(Operation *load) {
  auto allocation = load->hasOneUse() ? dyn_cast<LocalAllocOp>(*load->user_begin()) : LocalAllocOp();
  if (load->getParentOp() != function || !allocation ||
      allocation.getType() != cast<AsyncTileLoad>(load).bufferType(/*isMutable=*/false) || !feedsLoops(allocation))
    return declineSpecialization(load, "a tile is loaded by TMA, but not for the dots of loops alone");
  once.push_back({load, allocation});
  return true;
}

/// Whether a producer may load ahead of all that precedes the loops.
bool Specializer::mayMove(Channel channel, const std::optional<analysis::Bases> &written) {
  return (written && analysis::staysUnwritten(channel.memory(), *written) && producer.add(channel.load)) ||
         declineSpecialization(channel.load,
                               "the kernel may write what this load reads, or its addresses are read from memory");
}

bool Specializer::collect() {
  scf::ForOp first = firstLoopOfDots(function);
  if (!first || !function.isPublic())
    return false;
  if (const unsigned numWarps = numWarpsOf(function); numWarps != 2 * kWarpGroup)
    return declineSpecialization(first, llvm::formatv("num_warps is {0}, not {1}", numWarps, 2 * kWarpGroup).str());
  if (!isOnlyKernel(function) || !function.getBody().hasOneBlock())
    return declineSpecialization(first, "the module has other kernels or unstructured control flow");
  const index::AxisInfoAnalysis axisInfo(function->getParentOfType<ModuleOp>());
  WalkResult result = function.walk([&](Operation *op) {
    if (isa<tt::CallOp>(op)) {
      declineSpecialization(op, "the kernel calls functions");
      return WalkResult::interrupt();
    }
    if (isa<AsyncTileLoad>(op) && !hasDotsAround(op))
      return addOnce(op) ? WalkResult::advance() : WalkResult::interrupt();
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || !hasDots(loop))
      return WalkResult::advance();
    if (!addLoop(loop, axisInfo))
      return WalkResult::interrupt();
    if (!haveSameBuffers(loops.front(), loops.back())) {
      declineSpecialization(loop, "its tiles have other shapes than those of the loop before");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted() || loops.empty())
    return false;
  const std::optional<analysis::Bases> written = analysis::writtenBases(function);
  if (waitsForOthers(loops.back().loop))
    return declineSpecialization(loops.back().loop, "the kernel may wait for other programs before it");
  auto moves = [&](Channel channel) { return mayMove(channel, written); };
  for (const SpecialLoop &special : loops)
    if (!llvm::all_of(special.channels, moves))
      return false;
  if (!once.empty() && !usesTma())
    return declineSpecialization(once.front().load, "threads load the tiles of the loops, TMA this one");
  if (!llvm::all_of(once, moves))
    return false;
  return fits() || declineSpecialization(loops.back().loop, "shared memory has no room for two buffers of each tile");
}

/// Takes as many buffers as shared memory has room for besides the kernel's other needs; false where not even two fit.
/// Tiles that are loaded once get a second buffer from what is left, for the next program's.
bool Specializer::fits() {
  unsigned perBuffer = 0;
  for (Channel channel : loops.front().channels)
    perBuffer += analysis::bufferBytes(channel.allocation);
  llvm::SmallPtrSet<Operation *, 4> replaced;
  auto replace = [&](Channel &channel) {
    replaced.insert_range(ArrayRef<Operation *>{channel.load, channel.allocation});
  };
  for (SpecialLoop &special : loops)
    llvm::for_each(special.channels, replace);
  // Up to the end of the loops, and after it, when most allocations are dead.
  unsigned allocated[2] = {}, scratch[2] = {}, bytesOfOnce = 0;
  for (Channel &channel : once) {
    replace(channel);
    bytesOfOnce += analysis::bufferBytes(channel.allocation);
  }
  allocated[0] = allocated[1] = bytesOfOnce;
  bool hasSmall = false;
  Operation *last = loops.back().loop;
  auto isAfter = [&](Operation *op) { return last->isBeforeInBlock(last->getBlock()->findAncestorOpInBlock(*op)); };
  function.walk([&](Operation *op) {
    const unsigned bytes = op == function || replaced.contains(op) ? 0 : analysis::bufferBytes(op);
    if (bytes == 0)
      return;
    if (!isa<LocalAllocOp>(op)) {
      hasSmall |= bytes < kSmallBuffers;
      scratch[isAfter(op)] = std::max(scratch[isAfter(op)], bytes);
      return;
    }
    if (!isAfter(op))
      allocated[0] += bytes;
    if (isAfter(op) || llvm::any_of(op->getUsers(), isAfter))
      allocated[1] += bytes;
  });
  const unsigned others = std::max(allocated[0] + scratch[0], allocated[1] + scratch[1]) + kSmallBuffers;
  numBuffers = askedBuffers;
  while (numBuffers > 1 && numBuffers * perBuffer + others > options.maxBytes)
    --numBuffers;
  const unsigned used = numBuffers * perBuffer + others - (hasSmall ? 0 : kSmallBuffers - kBarriersAndPadding);
  buffersOfOnce = used + bytesOfOnce <= options.maxBytes ? 2 : 1;
  return numBuffers > 1;
}

/// Makes one loop of two that follow each other, as of a causal mask's diagonal and the rest: dots of one then run
/// beside the other, and the code stands once.
bool Specializer::joinLoops() {
  if (loops.size() != 2)
    return false;
  const index::AxisInfoAnalysis axisInfo(function->getParentOfType<ModuleOp>());
  auto isSpecial = [&](scf::ForOp) { return Specializer(function, options).collect(); };
  return bool(ttg::joinLoops(loops[0].loop, loops[1].loop, axisInfo, rewriter, isSpecial));
}

//--- the whole -----------------------------------------------------------------------------

void Specializer::run() {
  const Location loc = function.getLoc();
  if (numBuffers < askedBuffers)
    tt::report(deepest.getLoc(), ttg::diag::StagesReduced, askedBuffers, options.maxBytes, numBuffers);
  Block &body = function.getBody().front();
  SmallVector<Operation *> work;
  for (Operation &op : body.without_terminator())
    work.push_back(&op);
  if (options.mayPersist && usesTma() && programsMayShareCtas(function))
    programs.emplace(function,
                     lengthTrendOf(llvm::map_to_vector(loops, [](SpecialLoop &special) { return special.loop; })));
  else
    buffersOfOnce = 1;
  rewriter.setInsertionPointToStart(&body);
  createMultiBuffers();
  auto specialize = WarpSpecializeOp::create(rewriter, loc, TypeRange(), ValueRange(),
                                             rewriter.getDenseI32ArrayAttr({kProducerWarps}), DenseI32ArrayAttr(),
                                             DenseI32ArrayAttr(), DenseI32ArrayAttr(), 1);
  // Registers move only where it is needed: not every assembler can do that.
  if (llvm::any_of(loops, [&](const SpecialLoop &special) {
        return registersOf(special.dots, true) > specialize.initialRegisters();
      })) {
    const auto [ofProducer, ofConsumers] = registerShares(usesTma());
    specialize.setActualRegisters(ArrayRef<int32_t>{ofConsumers, ofProducer});
  }
  Block *partition = rewriter.createBlock(&specialize.getPartitionRegions().front());
  Block *consumers = rewriter.createBlock(&specialize.getDefaultRegion());
  specialize->moveBefore(body.getTerminator());
  buildProducer(*partition);
  buildConsumers(*consumers, work);
  function->getParentOfType<ModuleOp>()->setAttr(kTotalWarps, rewriter.getI32IntegerAttr(specialize.totalWarps()));
}

namespace {
struct SpecializeWarps : nvidia::impl::SpecializeWarpsBase<SpecializeWarps> {
  using SpecializeWarpsBase::SpecializeWarpsBase;

  void runOnOperation() final {
    for (auto function : llvm::to_vector(getOperation().getOps<tt::FuncOp>())) {
      const SpecializeWarpsOptions options = {defaultStages, maxBytes, mayPersist};
      auto specializer = std::make_unique<Specializer>(function, options);
      if (!specializer->collect())
        continue;
      if (specializer->joinLoops()) {
        specializer = std::make_unique<Specializer>(function, options);
        if (!specializer->collect())
          continue;
      }
      specializer->run();
      ++numSpecialized;
    }
  }
};
} // namespace
