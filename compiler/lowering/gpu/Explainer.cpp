// Derives findings from the ops of a finished kernel, as far as they are no vendor's own.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/Explainer.h"

#include "compiler/analysis/Barriers.h"
#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"
#include "compiler/lowering/UserPosition.h"
#include "compiler/lowering/gpu/TileMoves.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using explain::Finding;
using explain::Unit;

unsigned lowering::roleOf(Operation *op) {
  for (Region *region = op->getParentRegion(); region; region = region->getParentRegion())
    if (isa<ttg::WarpSpecializeOp>(region->getParentOp()))
      return region->getRegionNumber();
  return 0;
}

bool lowering::isPrefetchedLoad(Operation *op) {
  return isa<tt::LoadOp>(op) && isa<RankedTensorType>(op->getResult(0).getType()) && !op->use_empty() &&
         llvm::all_of(op->getUsers(), [](Operation *user) { return isa<scf::YieldOp>(user); });
}

/// Arithmetic that takes fewer is not reported.
static constexpr uint64_t kLeastCycles = 4;

static std::string shapeText(ArrayRef<int64_t> shape, Type element) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, "x");
  os << "x" << element;
  return text;
}

std::string lowering::tileText(Value value) {
  if (auto buffer = dyn_cast<ttg::MemDescType>(value.getType()))
    return shapeText(buffer.getShape(), buffer.getElementType());
  auto tile = cast<RankedTensorType>(value.getType());
  return shapeText(tile.getShape(), tile.getElementType());
}

/// How many tiles the buffer has room for that `view` is one of.
int64_t lowering::numBuffers(Value view) {
  int64_t count = 1;
  while (auto index = view.getDefiningOp<ttg::MemDescIndexOp>()) {
    view = index.getSrc();
    count = cast<ttg::MemDescType>(view.getType()).getShape().front();
  }
  return count;
}

void Explainer::add(Operation *op, StringRef kind, std::string text, std::string reason) {
  const OpCost cost = costOf(op);
  Finding finding{userPosition(op->getLoc()), kind.str(), std::move(text), std::move(reason)};
  finding.unit = cost.unit;
  finding.cycles = cost.cycles;
  explain::add(explanation, std::move(finding));
}

//--- memory --------------------------------------------------------------------------------

/// The dimension along which addresses follow one another most.
static unsigned fastestDim(const index::AxisInfo &info) {
  unsigned best = info.dims.size() - 1;
  for (unsigned dim = 0; dim < info.dims.size(); ++dim)
    if (info.contiguity(dim) > info.contiguity(best))
      best = dim;
  return best;
}

/// What keeps an access from vectors of 16 bytes.
std::string Explainer::narrowReason(const analysis::MemoryAccess &access, unsigned elems) const {
  if (access.bytes(elems) >= std::min(analysis::kWidestAccessBytes, access.widestBytes))
    return "";
  const index::AxisInfo info = axes.of(access.pointer);
  const unsigned dim = fastestDim(info);
  if (elems < analysis::maxVectorElems(access, axes, dim))
    return access.tile().getNumElements() < int64_t(ttg::numWarpsOf(access.op) * ttg::threadsPerWarpOf(access.op) *
                                                    analysis::kWidestAccessBytes / access.bytes(1))
               ? "the tile is too small to give each thread a vector of 16 bytes; a larger tile or fewer warps do"
               : "its layout, which other accesses share, has neighbouring elements in different threads";
  if (access.mask && axes.of(access.mask).constancy(dim) <= elems)
    return llvm::formatv("the mask may change after every {0}; it is constant over more where its bound is known to be "
                         "a multiple of {1}, as by tl.multiple_of or an argument divisible by 16",
                         elems == 1 ? "element" : llvm::formatv("{0} elements", elems).str(),
                         analysis::kWidestAccessBytes / access.bytes(1));
  if (info.contiguity(dim) <= elems)
    return llvm::formatv("only {0} addresses are known to follow one another along dimension {1}", info.contiguity(dim),
                         dim);
  return llvm::formatv(
      "the addresses are not known to be multiples of more than {0} bytes; tl.multiple_of, or arguments "
      "divisible by 16, say more",
      std::max<int64_t>(info.dims[dim].divisibility, access.bytes(1)));
}

/// Whether a copy is emitted as the target's instruction (Shared.cpp: copyVector).
static bool isAsync(ttg::AsyncCopyGlobalToLocalOp copy, const index::AxisInfoAnalysis &axes) {
  const layout::SharedAccessPattern pattern = copyPatternOf(copy, axes);
  const unsigned bytes = pattern.vectorElems * elementBytesOf(copy.getDst().getType());
  const ttg::TargetInterface *target = ttg::targetInterfaceOf(copy);
  return analysis::isCpAsyncSize(bytes) && (!target || target->copiesAsync(copy, pattern, bytes));
}

void Explainer::addAccess(const analysis::MemoryAccess &access) {
  RankedTensorType tile = access.tile();
  const unsigned elems = analysis::vectorElems(access, axes);
  const unsigned vectorBytes = access.bytes(elems);
  auto copy = dyn_cast<ttg::AsyncCopyGlobalToLocalOp>(access.op);
  const bool isAtomic = analysis::atomicAccessOf(access.op).has_value();
  const StringRef kind = copy ? "copy" : isAtomic ? "atomic" : access.isStore() ? "store" : "load";
  std::string text = llvm::formatv("{0} of {1} in vectors of {2} bytes", kind,
                                   shapeText(tile.getShape(), tt::elementOf(tt::pointeeLike(tile))), vectorBytes);
  if (access.mask && !copy) // the pipeline masks copies that are past the end
    text += ", masked";
  if (copy)
    text += isAsync(copy, axes)
                ? llvm::formatv(", asynchronous ({0}), to {1} buffers in shared memory", asyncCopyName(),
                                numBuffers(copy.getDst()))
                      .str()
                : llvm::formatv(", through registers, as {0} takes no such vectors", asyncCopyName()).str();
  Finding finding{userPosition(access.op->getLoc()), kind.str(), std::move(text), narrowReason(access, elems)};
  const OpCost cost = costOf(access.op);
  finding.unit = cost.unit;
  finding.cycles = cost.cycles;
  finding.vectorBytes = vectorBytes;
  finding.bytes = access.bytes(tile.getNumElements());
  explain::add(explanation, std::move(finding));
}

void Explainer::addConversion(ttg::ConvertLayoutOp op) {
  const layout::ConversionPlan plan = ttg::planConversion(op);
  const std::string tile = tileText(op.getResult());
  if (plan.kind == layout::ConversionKind::Shared)
    add(op, "conversion",
        llvm::formatv("layout of {0} converted through {1} bytes of shared memory", tile, plan.sharedBytes()));
  else if (plan.kind == layout::ConversionKind::Shuffle)
    add(op, "conversion", llvm::formatv("layout of {0} converted by warp shuffles", tile));
}

//--- control -------------------------------------------------------------------------------

void Explainer::addLoop(scf::ForOp loop) {
  auto note = [&](std::string text, std::string reason = "") {
    explain::add(explanation, {userPosition(loop.getLoc()), "loop", std::move(text), std::move(reason)});
  };
  auto has = [&](auto isOp) {
    return llvm::any_of(loop.getBody()->getOperations(), [&](Operation &op) { return isOp(&op); });
  };
  if (explanation.roles.size() > 1) {
    if (roleOf(loop) == 0 && has([&](Operation *op) { return waitsForOtherWarps(op); }))
      note("other warps load for this loop; barriers in shared memory pass the buffers on");
  } else if (auto ahead = loop->getAttrOfType<IntegerAttr>(tt::kScheduledStage)) {
    note(llvm::formatv("pipelined: loads run up to {0} iterations ahead", ahead.getInt()));
  } else if (has([](Operation *op) { return isPrefetchedLoad(op); })) {
    note("the loads of the next iteration run beside this one");
  } else if (has([](Operation *op) {
               return isa<tt::LoadOp>(op) && isa<RankedTensorType>(op->getResult(0).getType());
             })) {
    const bool hasDots = has([](Operation *op) { return isa<tt::DotOpInterface>(op); });
    note("each iteration waits for its own loads",
         hasDots ? "" : "num_stages of a kernel is for loops with a dot; tl.range(..., num_stages=N) is for any loop");
  }
}

void Explainer::addRoles(tt::FuncOp function) {
  function.walk([&](ttg::WarpSpecializeOp op) {
    for (unsigned region = 0; region < op->getNumRegions(); ++region) {
      const auto [first, count] = op.warpsOf(region);
      const unsigned registers = op.getActualRegisters() ? (*op.getActualRegisters())[region] : 0;
      explanation.roles.push_back(
          {region ? "partition " + std::to_string(region - 1) : "default", first, count, registers});
      if (region)
        explain::add(explanation,
                     {userPosition(function.getLoc()), "warps",
                      llvm::formatv("warps specialised: {0} warps load for the other {1}", count, first), ""});
    }
  });
  if (explanation.roles.empty())
    explanation.roles.push_back({"all warps", 0, explanation.warps, 0});
}

void Explainer::addBarriers(tt::FuncOp function) {
  const analysis::BarrierPlan plan = analysis::planBarriers(function, shared);
  function.walk([&](Operation *op) {
    if (plan.needsBarrierBefore.contains(op))
      explain::add(explanation, {userPosition(op->getLoc()), "barrier", "barrier between the threads' accesses", ""});
  });
}

//--- arithmetic ----------------------------------------------------------------------------

void Explainer::addArithmetic(Operation *op) {
  const OpCost cost = costOf(op);
  const explain::Position at = userPosition(op->getLoc());
  if (cost.cycles == 0 || (cost.unit != Unit::Alu && cost.unit != Unit::SpecialFunctions) || !at.line)
    return;
  fileOf.try_emplace(at.line, at.file);
  OpCost &sum = arithmetic[{at.line, unsigned(cost.unit)}][op->getBlock()];
  sum.unit = cost.unit;
  sum.cycles += cost.cycles;
  if (sum.label.empty())
    sum.label = cost.label;
}

void Explainer::addArithmeticFindings() {
  for (auto &[key, byBlock] : arithmetic) {
    const OpCost *most = nullptr;
    for (const auto &[block, cost] : byBlock)
      if (!most || cost.cycles > most->cycles)
        most = &cost;
    if (most->cycles < kLeastCycles)
      continue;
    const std::string text = most->unit == Unit::Alu ? "arithmetic on tiles" : most->label + " of tiles";
    Finding finding{{fileOf[key.first], key.first}, "arithmetic", text, ""};
    finding.unit = most->unit;
    finding.cycles = most->cycles;
    explain::add(explanation, std::move(finding));
  }
}

//--- all -----------------------------------------------------------------------------------

void Explainer::visit(Operation *op) {
  if (auto access = analysis::anyAccessOf(op); access && access->tile())
    return addAccess(*access);
  if (addOwn(op))
    return;
  if (auto convert = dyn_cast<ttg::ConvertLayoutOp>(op))
    return addConversion(convert);
  if (auto access = sharedTileAccess(op))
    return add(op, access->isLoad ? "shared load" : "shared store",
               llvm::formatv("{0} {1} {2} shared memory{3}{4}", access->isLoad ? "read of" : "write of",
                             shapeText(access->tile.getShape(), access->tile.getElementType()),
                             access->isLoad ? "from" : "to",
                             access->pattern.matrix != layout::MatrixForm::None ? " by ldmatrix" : "",
                             access->pattern.conflicts ? ", with bank conflicts" : ""));
  if (auto dot = dyn_cast<tt::DotOpInterface>(op)) {
    auto [text, reason] = describeDot(dot);
    return add(dot, "dot", llvm::formatv("dot of {0} and {1}, {2}", tileText(dot.getA()), tileText(dot.getB()), text),
               std::move(reason));
  }
  if (auto reduce = dyn_cast<tt::ReduceOp>(op))
    return add(
        op, "reduction",
        llvm::formatv("reduction of {0} along dimension {1}, {2}", tileText(reduce->getOperand(0)), reduce.getAxis(),
                      shared.bytesOf.lookup(op) ? "across warps through shared memory" : "within threads and warps"));
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return addLoop(loop);
  addArithmetic(op);
}

void Explainer::run() {
  for (auto function : module.getOps<tt::FuncOp>())
    if (!function.isExternal()) {
      addRoles(function);
      function.walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
      addBarriers(function);
    }
  addArithmeticFindings();
}
