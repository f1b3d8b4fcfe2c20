// Derives findings from the nests, guards and dots of a plan.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/Explain.h"

#include "compiler/lowering/UserPosition.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;
using explain::Finding;

namespace {
class PlanExplainer {
public:
  PlanExplainer(CpuKernel &kernel, explain::Explanation &explanation) : kernel(kernel), explanation(explanation) {}

  void visit(const Sequence &sequence);

private:
  void add(Operation *op, StringRef kind, std::string text, std::string reason = "");
  void addNest(const Nest &nest);
  void addAccess(Operation *op, StringRef kind, Value pointer, bool isMasked, const Nest &nest);
  void addDot(const Step &step);

  CpuKernel &kernel;
  explain::Explanation &explanation;
};
} // namespace

static std::string boxText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, "x");
  return text.empty() ? "one" : text;
}

void PlanExplainer::add(Operation *op, StringRef kind, std::string text, std::string reason) {
  explain::add(explanation, {lowering::userPosition(op->getLoc()), kind.str(), std::move(text), std::move(reason)});
}

static std::string stepText(const Nest &nest) {
  if (nest.vectorDim < 0)
    return "without a loop";
  return llvm::formatv("{0} {1} at a time", nest.lanes, nest.lanes == 1 ? "element" : "elements");
}

void PlanExplainer::addAccess(Operation *op, StringRef kind, Value pointer, bool isMasked, const Nest &nest) {
  const AffineForm *form = kernel.affineInfo.assumed(pointer);
  const int64_t bytes =
      llvm::divideCeil(tt::memoryBits(cast<tt::PointerType>(tt::elementOf(pointer.getType())).getPointee()), 8);
  std::string text =
      llvm::formatv("{0} of {1} elements, {2}", kind, boxText(tt::shapeOf(pointer.getType())), stepText(nest));
  std::string reason;
  const bool isVector = nest.vectorDim >= 0 && nest.lanes > 1;
  if (form && isVector) {
    const bool hasUnitStride =
        llvm::any_of(form->steps, [&](const Polynomial &stride) { return stride.constant() == bytes; });
    text += form->isUniform() ? ", from one address" : hasUnitStride ? ", at neighbouring addresses" : ", strided";
    if (!form->isUniform() && !hasUnitStride)
      reason = "no dimension of the tile has neighbouring addresses";
  } else if (!form) {
    text += ", one address per element";
    reason = "the addresses are no sums of multiples of the indices";
  }
  if (isMasked && !nest.masks.empty())
    text += ", the mask a bound of the loop";
  else if (isMasked)
    text += ", masked by element";
  Finding finding{lowering::userPosition(op->getLoc()), kind.str(), std::move(text), std::move(reason)};
  finding.vectorBytes = isVector && form ? nest.lanes * bytes : 0;
  explain::add(explanation, std::move(finding));
}

void PlanExplainer::addNest(const Nest &nest) {
  for (Operation *op : loadsOf(kernel.plan, kernel.affineInfo, nest))
    addAccess(op, "load", cast<tt::LoadOp>(op).getPtr(), cast<tt::LoadOp>(op).getMask() != nullptr, nest);
  if (nest.keptOperand)
    add(nest.roots.front().op, "kept",
        "an operand is copied once for programs in succession that multiply the same one");
  for (const Root &root : nest.roots) {
    if (root.kind == RootKind::Materialise)
      add(root.op, "buffer", llvm::formatv("a tile of {0} elements is kept in memory", boxText(nest.shape)));
    else if (root.kind == RootKind::Op && root.isWrite())
      addAccess(root.op, "store", root.access().getAccessedPointer(), root.access().getAccessMask() != nullptr, nest);
    else if (root.kind == RootKind::Op)
      add(root.op, root.op->getName().stripDialect(),
          llvm::formatv("{0} over {1} elements, {2}", root.op->getName().stripDialect(), boxText(nest.shape),
                        stepText(nest)));
  }
}

void PlanExplainer::addDot(const Step &step) {
  auto op = cast<tt::DotOp>(step.op);
  std::string text = llvm::formatv("dot of {0} and {1} elements from memory", boxText(tt::shapeOf(op.getA().getType())),
                                   boxText(tt::shapeOf(op.getB().getType())));
  if (step.dot->form.usesTiles)
    text += ", by the matrix tiles of AMX";
  else if (step.dot->form.group > 1)
    text += llvm::formatv(", {0} products along K in one instruction", step.dot->form.group);
  if (step.dot->packed)
    text += ", the second operand copied into the order of the instructions";
  add(op, "dot", std::move(text));
}

void PlanExplainer::visit(const Sequence &sequence) {
  for (const Step &step : sequence.steps) {
    switch (step.kind) {
    case StepKind::Scalar:
    case StepKind::Control:
      break;
    case StepKind::Nest:
      addNest(*step.nest);
      break;
    case StepKind::Guard:
      add(step.guard->load, "copy", "a copy is made first where a store may overwrite what is loaded",
          "the arguments may overlap");
      break;
    case StepKind::Dot:
      addDot(step);
      break;
    }
    for (const Sequence &region : step.regions)
      visit(region);
  }
}

explain::Explanation cpu::explainKernel(CpuKernel &kernel) {
  explain::Explanation explanation;
  explanation.kernel = kernel.function.getSymName().str();
  explanation.target = "cpu:" + kernel.target.arch;
  PlanExplainer(kernel, explanation).visit(kernel.plan.body);
  return explanation;
}
