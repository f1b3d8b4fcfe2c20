// Explains what only NVIDIA's GPUs have: tensor cores, TMA, clusters.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/Explain.h"

#include "compiler/target/nvidia/dialect/Dialect.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using lowering::tileText;

namespace {
class CudaExplainer : public lowering::Explainer {
public:
  CudaExplainer(const CudaKernel &kernel, const OpCosts &costs, explain::Explanation &explanation)
      : Explainer(kernel.module, kernel.shared, costs.axisInfo(), explanation), arch(kernel.arch), costs(costs) {}

protected:
  lowering::OpCost costOf(Operation *op) const override { return costs.of(op); }
  std::pair<std::string, std::string> describeDot(tt::DotOpInterface dot) const override;
  bool addOwn(Operation *op) override;
  bool waitsForOtherWarps(Operation *op) const override { return isa<ttng::WaitBarrierOp>(op); }

private:
  void addExchange(Operation *op);
  std::string mmaReason(tt::DotOpInterface dot, ttg::NvidiaMmaAttr mma) const;

  const Arch &arch;
  const OpCosts &costs;
};
} // namespace

/// Why a dot on a GPU with wgmma uses mma.sync.
std::string CudaExplainer::mmaReason(tt::DotOpInterface dot, ttg::NvidiaMmaAttr mma) const {
  if (mma.isWgmma() || !arch.hasWgmma)
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

std::pair<std::string, std::string> CudaExplainer::describeDot(tt::DotOpInterface dot) const {
  auto result = cast<RankedTensorType>(dot.getD().getType());
  auto mma = dyn_cast<ttg::NvidiaMmaAttr>(result.getEncoding());
  if (!mma)
    return {"by FMA instructions of each thread",
            arch.hasWarpMma ? "no matrix instruction has these types, this precision or so few rows and columns"
                            : "the GPU has no matrix instructions that are used"};
  const ArrayRef shape = mma.getInstrShape();
  std::string text = "by mma.sync, operands from registers";
  if (mma.isWgmma()) {
    text = llvm::formatv("by wgmma m64n{0}k{1}, {2}", shape[1], shape[2],
                         isa<ttg::MemDescType>(dot.getA().getType()) ? "both operands from shared memory"
                                                                     : "operands from registers and shared memory");
    if (dot.isAsynchronous())
      text += ", asynchronous";
  }
  return {std::move(text), mmaReason(dot, mma)};
}

/// What the CTAs of a cluster do together.
void CudaExplainer::addExchange(Operation *op) {
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

bool CudaExplainer::addOwn(Operation *op) {
  if (auto copy = dyn_cast<ttng::AsyncTmaCopyGlobalToLocalOp>(op)) {
    add(op, "copy",
        llvm::formatv("copy of {0} by TMA, asynchronous, to {1} buffers in shared memory", tileText(copy.getResult()),
                      lowering::numBuffers(copy.getResult())));
    return true;
  }
  if (auto copy = dyn_cast<ttng::AsyncTmaCopyLocalToGlobalOp>(op)) {
    add(op, "store", llvm::formatv("store of {0} by TMA from shared memory", tileText(copy.getSrc())));
    return true;
  }
  if (!isa<ttng::ClusterGatherOp, ttng::ClusterBroadcastOp, ttng::ClusterBarrierOp>(op))
    return false;
  addExchange(op);
  return true;
}

explain::Explanation nvidia::explainKernel(const CudaKernel &kernel) {
  explain::Explanation explanation;
  tt::FuncOp function = kernel.function;
  explanation.kernel = function.getSymName().str();
  explanation.target = kernel.arch.cpu;
  explanation.warps = ttg::totalWarpsOf(kernel.module);
  explanation.sharedBytes = kernel.shared.bytes;
  const OpCosts costs(kernel.module, kernel.arch);
  CudaExplainer(kernel, costs, explanation).run();
  explainLoops(kernel, costs, explanation);
  return explanation;
}
