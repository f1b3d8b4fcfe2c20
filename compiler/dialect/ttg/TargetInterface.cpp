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

std::optional<ByValueParameter> ttg::parameterByValue(tt::FuncOp kernel, unsigned index) {
  for (NamedAttribute attribute : function_interface_impl::getArgAttrs(kernel, index)) {
    Dialect *owner = attribute.getNameDialect();
    auto *interface = owner ? owner->getRegisteredInterface<TargetInterface>() : nullptr;
    if (auto parameter = interface ? interface->parameterByValue(attribute) : std::nullopt)
      return parameter;
  }
  return std::nullopt;
}
