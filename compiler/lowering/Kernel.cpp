// Finds a module's kernel and lays out its parameters.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/Kernel.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/ttng/HostTensorMaps.h"

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
    return kernel.emitError() << "the control flow of `" << kernel.getSymName() << "` is not structured";
  return kernel;
}

std::vector<lowering::Param> lowering::paramsOf(tt::FuncOp kernel) {
  std::vector<Param> params;
  uint32_t offset = 0;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    const bool isMap = bool(kernel.getArgAttr(index, ttng::kTensorMap));
    const uint32_t size = isMap ? ttng::kTensorMapBytes : analysis::memoryBits(type) / 8;
    offset = llvm::alignTo(offset, isMap ? ttng::kTensorMapAlign : size);
    params.push_back({offset, size});
    offset += size;
  }
  return params;
}
