// Finds a module's kernel and lays out its parameters.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/Kernel.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/dialect/ttg/TargetInterface.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;

FailureOr<tt::FuncOp> lowering::findKernel(ModuleOp module) {
  tt::FuncOp kernel;
  for (auto function : module.getOps<tt::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    if (kernel)
      return function.emitError() << "a module has one kernel; `" << kernel.getSymName() << "` is another";
    kernel = function;
  }
  if (!kernel)
    return module.emitError() << "the module has no kernel";
  if (!kernel.getBody().hasOneBlock())
    return tt::report(kernel.getLoc(), tt::diag::UnstructuredControlFlow, kernel.getSymName());
  return kernel;
}

LogicalResult lowering::checkStructure(ModuleOp module) {
  for (auto function : module.getOps<tt::FuncOp>())
    if (!function.isExternal() && !function.getBody().hasOneBlock())
      return tt::report(function.getLoc(), tt::diag::UnstructuredControlFlow, function.getSymName());
  return success();
}

std::vector<lowering::Param> lowering::paramsOf(tt::FuncOp kernel) {
  std::vector<Param> params;
  uint32_t offset = 0;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    const auto byValue = ttg::parameterByValue(kernel, index);
    const uint32_t size = byValue ? byValue->bytes : tt::storageBytes(type);
    offset = llvm::alignTo(offset, byValue ? byValue->alignment : size);
    params.push_back({offset, size});
    offset += size;
  }
  return params;
}
