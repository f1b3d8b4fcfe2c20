// Derives findings from the ops of a finished kernel.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/Explain.h"

#include "compiler/analysis/Barriers.h"
#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/lowering/TileMoves.h"
#include "compiler/lowering/UserPosition.h"
#include "compiler/target/nvidia/dialect/Dialect.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using explain::Finding;
using explain::Unit;

namespace {
class Explainer {
public:
  Explainer(const CudaKernel &kernel, const OpCosts &costs, explain::Explanation &explanation)
      : kernel(kernel), costs(costs), explanation(explanation) {}

  void run();

private:
  void addRoles(tt::FuncOp function);
  void visit(Operation *op);
  void add(Operation *op, StringRef kind, std::string text, std::string reason = "");
  void addAccess(const analysis::MemoryAccess &access);
  void addDot(tt::DotOpInterface dot);
  void addConversion(ttg::ConvertLayoutOp op);
  void addExchange(Operation *op);
  void addLoop(scf::ForOp loop);
  void addArithmetic(Operation *op);
  void addArithmeticFindings();
  void addBarriers(tt::FuncOp function);
  std::string narrowReason(const analysis::MemoryAccess &access, unsigned elems) const;
  std::string mmaReason(tt::DotOpInterface dot, ttg::NvidiaMmaAttr mma) const;

  const CudaKernel &kernel;
  const OpCosts &costs;
  explain::Explanation &explanation;
  /// Cycles of elementwise ops by line and unit, of each basic block on its own: copies before and after a loop repeat.
  llvm::MapVector<std::pair<unsigned, unsigned>, llvm::MapVector<Block *, OpCost>> arithmetic;
  llvm::DenseMap<unsigned, std::string> fileOf; ///< by line of `arithmetic`
};
} // namespace

/// Arithmetic that takes fewer is not reported.
static constexpr uint64_t kLeastCycles = 4;

static std::string shapeText(ArrayRef<int64_t> shape, Type element) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, "x");
  os << "x" << element;
  return text;
}

static std::string tileText(Value value) {
  if (auto buffer = dyn_cast<ttg::MemDescType>(value.getType()))
    return shapeText(buffer.getShape(), buffer.getElementType());
  auto tile = cast<RankedTensorType>(value.getType());
  return shapeText(tile.getShape(), tile.getElementType());
}

/// How many tiles the buffer has room for that `view` is one of.
static int64_t numBuffers(Value view) {
  int64_t count = 1;
  while (auto index = view.getDefiningOp<ttg::MemDescIndexOp>()) {
    view = index.getSrc();
    count = cast<ttg::MemDescType>(view.getType()).getShape().front();
  }
  return count;
}

void Explainer::add(Operation *op, StringRef kind, std::string text, std::string reason) {
  const OpCost cost = costs.of(op);
  Finding finding{lowering::userPosition(op->getLoc()), kind.str(), std::move(text), std::move(reason)};
  finding.unit = cost.unit;
  finding.cycles = cost.cycles;
  explain::add(explanation, std::move(finding));
}

//--- memory --------------------------------------------------------------------------------

/// The dimension along which addresses follow one another most.
static unsigned fastestDim(const analysis::AxisInfo &info) {
  unsigned best = info.dims.size() - 1;
  for (unsigned dim = 0; dim < info.dims.size(); ++dim)
    if (info.dims[dim].contiguity > info.dims[best].contiguity)
      best = dim;
  return best;
}

/// What keeps an access from vectors of 16 bytes.
std::string Explainer::narrowReason(const analysis::MemoryAccess &access, unsigned elems) const {
  const unsigned bytes = access.elementBits / 8;
  if (elems * bytes >= analysis::kWidestAccessBytes || elems * bytes >= access.widestBytes)
    return "";
  const analysis::AxisInfo info = costs.axisInfo().of(access.pointer);
  const unsigned dim = fastestDim(info);
  if (elems < analysis::maxVectorElems(access, costs.axisInfo(), dim))
    return access.tile().getNumElements() < int64_t(ttg::numWarpsOf(access.op) * ttg::threadsPerWarpOf(access.op) *
                                                    analysis::kWidestAccessBytes / bytes)
               ? "the tile is too small to give each thread a vector of 16 bytes; a larger tile or fewer warps do"
               : "its layout, which other accesses share, has neighbouring elements in different threads";
  const analysis::AxisInfo::Dim pointer = info.dims[dim];
  if (access.mask && costs.axisInfo().of(access.mask).dims[dim].constancy <= elems)
    return llvm::formatv("the mask may change after every {0}; it is constant over more where its bound is known to be "
                         "a multiple of {1}, as by tl.multiple_of or an argument divisible by 16",
                         elems == 1 ? "element" : llvm::formatv("{0} elements", elems).str(),
                         analysis::kWidestAccessBytes / bytes);
  if (pointer.contiguity <= elems)
    return llvm::formatv("only {0} addresses are known to follow one another along dimension {1}", pointer.contiguity,
                         dim);
  return llvm::formatv(
      "the addresses are not known to be multiples of more than {0} bytes; tl.multiple_of, or arguments "
      "divisible by 16, say more",
      std::max<int64_t>(pointer.divisibility, bytes));
}

void Explainer::addAccess(const analysis::MemoryAccess &access) {
  RankedTensorType tile = access.tile();
  const unsigned elems = analysis::vectorElems(access, costs.axisInfo());
  const unsigned vectorBytes = elems * access.elementBits / 8;
  auto copy = dyn_cast<ttg::AsyncCopyGlobalToLocalOp>(access.op);
  const bool isAtomic = analysis::atomicAccessOf(access.op).has_value();
  const StringRef kind = copy ? "copy" : isAtomic ? "atomic" : access.isStore() ? "store" : "load";
  std::string text = llvm::formatv("{0} of {1} in vectors of {2} bytes", kind,
                                   shapeText(tile.getShape(), tt::elementOf(tt::pointeeLike(tile))), vectorBytes);
  if (access.mask && !copy) // the pipeline masks copies that are past the end
    text += ", masked";
  if (copy)
    text += analysis::isCpAsyncSize(vectorBytes)
                ? llvm::formatv(", asynchronous (cp.async), to {0} buffers in shared memory", numBuffers(copy.getDst()))
                      .str()
                : std::string(", through registers, as cp.async takes no such vectors");
  Finding finding{lowering::userPosition(access.op->getLoc()), kind.str(), std::move(text),
                  narrowReason(access, elems)};
  const OpCost cost = costs.of(access.op);
  finding.unit = cost.unit;
  finding.cycles = cost.cycles;
  finding.vectorBytes = vectorBytes;
  finding.bytes = uint64_t(tile.getNumElements()) * access.elementBits / 8;
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

//--- dots ----------------------------------------------------------------------------------

/// Why a dot on a GPU with wgmma uses mma.sync.
std::string Explainer::mmaReason(tt::DotOpInterface dot, ttg::NvidiaMmaAttr mma) const {
  if (mma.isWgmma() || !kernel.arch.hasWgmma)
    return "";
  auto result = cast<RankedTensorType>(dot.getD().getType());
  if (ttg::numWarpsOf(dot) % 4 != 0)
    return llvm::formatv("wgmma needs groups of four warps, num_warps is {0}", ttg::numWarpsOf(dot));
  if (result.getRank() != 2)
    return llvm::formatv("wgmma multiplies matrices, this is a batch of rank {0}", result.getRank());
  if (result.getShape()[0] < 64)
    return llvm::formatv("wgmma takes 64 rows at a time, the dot has {0}", result.getShape()[0]);
  return "wgmma has no form for these types or shapes";
}

void Explainer::addDot(tt::DotOpInterface dot) {
  auto result = cast<RankedTensorType>(dot.getD().getType());
  auto mma = dyn_cast<ttg::NvidiaMmaAttr>(result.getEncoding());
  std::string text = llvm::formatv("dot of {0} and {1}, ", tileText(dot.getA()), tileText(dot.getB()));
  if (!mma)
    return add(dot, "dot", text + "by FMA instructions of each thread",
               kernel.arch.hasWarpMma
                   ? "no matrix instruction has these types, this precision or so few rows and columns"
                   : "the GPU has no matrix instructions that are used");
  const ArrayRef shape = mma.getInstrShape();
  if (mma.isWgmma()) {
    text += llvm::formatv("by wgmma m64n{0}k{1}, {2}", shape[1], shape[2],
                          isa<ttg::MemDescType>(dot.getA().getType()) ? "both operands from shared memory"
                                                                      : "operands from registers and shared memory");
    if (dot.isAsynchronous())
      text += ", asynchronous";
  } else {
    text += "by mma.sync, operands from registers";
  }
  add(dot, "dot", std::move(text), mmaReason(dot, mma));
}

//--- control -------------------------------------------------------------------------------

void Explainer::addLoop(scf::ForOp loop) {
  auto note = [&](std::string text, std::string reason = "") {
    explain::add(explanation, {lowering::userPosition(loop.getLoc()), "loop", std::move(text), std::move(reason)});
  };
  auto has = [&](auto isOp) {
    return llvm::any_of(loop.getBody()->getOperations(), [&](Operation &op) { return isOp(&op); });
  };
  if (explanation.roles.size() > 1) {
    if (roleOf(loop) == 0 && has([](Operation *op) { return isa<ttng::WaitBarrierOp>(op); }))
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
                     {lowering::userPosition(function.getLoc()), "warps",
                      llvm::formatv("warps specialised: {0} warps load for the other {1}", count, first), ""});
    }
  });
  if (explanation.roles.empty())
    explanation.roles.push_back({"all warps", 0, explanation.warps, 0});
}

void Explainer::addBarriers(tt::FuncOp function) {
  const analysis::BarrierPlan plan = analysis::planBarriers(function, kernel.shared);
  function.walk([&](Operation *op) {
    if (plan.needsBarrierBefore.contains(op))
      explain::add(explanation,
                   {lowering::userPosition(op->getLoc()), "barrier", "barrier between the threads' accesses", ""});
  });
}

//--- arithmetic ----------------------------------------------------------------------------

void Explainer::addArithmetic(Operation *op) {
  const OpCost cost = costs.of(op);
  const explain::Position at = lowering::userPosition(op->getLoc());
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

/// What the CTAs of a cluster do together.
void Explainer::addExchange(Operation *op) {
  if (isa<ttng::ClusterBarrierOp>(op))
    return add(op, "cluster", "barrier of the cluster, between accesses to memory of its CTAs");
  if (isa<ttng::ClusterBroadcastOp>(op))
    return add(op, "cluster", "the first CTA's result, sent to the cluster's other CTAs");
  auto gather = cast<ttng::ClusterGatherOp>(op);
  std::string text;
  for (Value part : gather.getParts())
    text += (text.empty() ? "" : " and ") + tileText(part);
  add(op, "cluster", "exchange of " + text + " of each CTA with the cluster's other CTAs");
}

void Explainer::visit(Operation *op) {
  if (auto access = analysis::anyAccessOf(op); access && access->tile())
    return addAccess(*access);
  if (auto copy = dyn_cast<ttng::AsyncTmaCopyGlobalToLocalOp>(op))
    return add(op, "copy",
               llvm::formatv("copy of {0} by TMA, asynchronous, to {1} buffers in shared memory",
                             tileText(copy.getResult()), numBuffers(copy.getResult())));
  if (auto copy = dyn_cast<ttng::AsyncTmaCopyLocalToGlobalOp>(op))
    return add(op, "store", llvm::formatv("store of {0} by TMA from shared memory", tileText(copy.getSrc())));
  if (auto convert = dyn_cast<ttg::ConvertLayoutOp>(op))
    return addConversion(convert);
  if (auto access = lowering::sharedTileAccess(op))
    return add(op, access->isLoad ? "shared load" : "shared store",
               llvm::formatv("{0} {1} {2} shared memory{3}{4}", access->isLoad ? "read of" : "write of",
                             shapeText(access->tile.getShape(), access->tile.getElementType()),
                             access->isLoad ? "from" : "to",
                             access->pattern.matrix != layout::MatrixForm::None ? " by ldmatrix" : "",
                             access->pattern.conflicts ? ", with bank conflicts" : ""));
  if (auto dot = dyn_cast<tt::DotOpInterface>(op))
    return addDot(dot);
  if (auto reduce = dyn_cast<tt::ReduceOp>(op))
    return add(op, "reduction",
               llvm::formatv("reduction of {0} along dimension {1}, {2}", tileText(reduce->getOperand(0)),
                             reduce.getAxis(),
                             kernel.shared.bytesOf.lookup(op) ? "across warps through shared memory"
                                                              : "within threads and warps"));
  if (isa<ttng::ClusterGatherOp, ttng::ClusterBroadcastOp, ttng::ClusterBarrierOp>(op))
    return addExchange(op);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return addLoop(loop);
  addArithmetic(op);
}

void Explainer::run() {
  for (auto function : ModuleOp(kernel.module).getOps<tt::FuncOp>())
    if (!function.isExternal()) {
      addRoles(function);
      function.walk<WalkOrder::PreOrder>([&](Operation *op) { visit(op); });
      addBarriers(function);
    }
  addArithmeticFindings();
}

explain::Explanation nvidia::explainKernel(const CudaKernel &kernel) {
  explain::Explanation explanation;
  tt::FuncOp function = kernel.function;
  explanation.kernel = function.getSymName().str();
  explanation.target = kernel.arch.cpu;
  explanation.warps = ttg::totalWarpsOf(kernel.module);
  explanation.sharedBytes = kernel.shared.bytes;
  const OpCosts costs(kernel.module, kernel.arch);
  Explainer(kernel, costs, explanation).run();
  explainLoops(kernel, costs, explanation);
  return explanation;
}
