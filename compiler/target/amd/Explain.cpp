// Explains what only AMD's GPUs have: matrix instructions.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/Explain.h"

#include "compiler/lowering/gpu/Explainer.h"
#include "compiler/target/amd/dialect/MatrixInstruction.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::amd;

namespace {
class HipExplainer : public lowering::Explainer {
public:
  HipExplainer(const HipKernel &kernel, const index::AxisInfoAnalysis &axes, explain::Explanation &explanation)
      : Explainer(kernel.module, kernel.shared, axes, explanation), arch(kernel.arch) {}

protected:
  std::pair<std::string, std::string> describeDot(tt::DotOpInterface dot) const override;
  StringRef asyncCopyName() const override { return "load to LDS"; }

private:
  const Arch &arch;
};
} // namespace

std::pair<std::string, std::string> HipExplainer::describeDot(tt::DotOpInterface dot) const {
  const Attribute encoding = cast<RankedTensorType>(dot.getD().getType()).getEncoding();
  const std::optional<MatrixKind> kind = matrixKindOf(dot, arch);
  if (!ttg::isMatrixInstruction(encoding) || !kind)
    return {"by FMA instructions of each lane", "no matrix instruction has these types or this precision"};
  auto mfma = dyn_cast<ttg::AmdMfmaAttr>(encoding);
  const unsigned extent = mfma ? mfma.getTile().extent : cast<ttg::AmdWmmaAttr>(encoding).getTile().extent;
  const std::optional<MatrixInstruction> instruction =
      matrixInstruction(arch, *kind, extent, depthOf(dot), mfma ? mfma.getInstrDepth() : 0);
  return {llvm::formatv("by {0} {1}x{1}x{2}, operands from registers", mfma ? "mfma" : "wmma", extent,
                        instruction ? instruction->depth : 0),
          ""};
}

explain::Explanation amd::explainKernel(const HipKernel &kernel) {
  explain::Explanation explanation;
  tt::FuncOp function = kernel.function;
  explanation.kernel = function.getSymName().str();
  explanation.target = kernel.arch.name;
  explanation.warps = ttg::totalWarpsOf(kernel.module);
  explanation.sharedBytes = kernel.shared.bytes;
  const index::AxisInfoAnalysis axes(kernel.module);
  HipExplainer(kernel, axes, explanation).run();
  return explanation;
}
