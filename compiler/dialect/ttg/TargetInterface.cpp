// Finds the interface of a GPU vendor among the loaded dialects.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/TargetInterface.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

const TargetInterface *ttg::targetInterfaceOf(MLIRContext *context, StringRef target) {
  for (Dialect *dialect : context->getLoadedDialects())
    if (auto *interface = dialect->getRegisteredInterface<TargetInterface>(); interface && interface->isTarget(target))
      return interface;
  return nullptr;
}

const TargetInterface *ttg::targetInterfaceOf(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto target = module ? module->getAttrOfType<StringAttr>(kTarget) : StringAttr();
  return target ? targetInterfaceOf(op->getContext(), target) : nullptr;
}

layout::ConversionPlan ttg::planConversion(Operation *op, RankedTensorType from, RankedTensorType to) {
  layout::SwizzleOptions options;
  if (const TargetInterface *target = targetInterfaceOf(op)) {
    auto module = op->getParentOfType<ModuleOp>();
    const MatrixAccesses matrices = target->matrixAccesses(module->getAttrOfType<StringAttr>(kTarget));
    options.hasLdmatrix = matrices.hasLdmatrix, options.hasStmatrix = matrices.hasStmatrix;
  }
  return layout::planConversion(linearLayoutOf(from), linearLayoutOf(to), tt::memoryBits(to.getElementType()), options);
}

MatrixAccesses ttg::matrixAccessesOf(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  auto name = module->getAttrOfType<StringAttr>(kTarget);
  const TargetInterface *target = name ? targetInterfaceOf(op) : nullptr;
  return target ? target->matrixAccesses(name.getValue()) : MatrixAccesses{.hasLdmatrix = true, .hasStmatrix = true};
}

layout::ConversionPlan ttg::planConversion(ConvertLayoutOp op) {
  return planConversion(op, cast<RankedTensorType>(op.getSrc().getType()), cast<RankedTensorType>(op.getType()));
}

std::optional<ByValueParameter> ttg::parameterByValue(tt::FuncOp kernel, unsigned index) {
  for (NamedAttribute attribute : function_interface_impl::getArgAttrs(kernel, index)) {
    Dialect *owner = attribute.getNameDialect();
    auto *interface = owner ? owner->getRegisteredInterface<TargetInterface>() : nullptr;
    if (auto parameter = interface ? interface->parameterByValue(attribute) : std::nullopt)
      return parameter;
  }
  return std::nullopt;
}
