// Implements what the phases of all GPU targets do in the same way.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/GpuKernel.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/Kernel.h"
#include "compiler/lowering/gpu/GpuPlan.h"
#include "compiler/lowering/llvm/LlvmModule.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

LogicalResult lowering::useModule(GpuKernel &kernel, ModuleOp module) {
  FailureOr<tt::FuncOp> function = findKernel(module);
  if (failed(function) || failed(checkStructure(module)))
    return failure();
  kernel.module = module;
  kernel.function = *function;
  return success();
}

LogicalResult lowering::useMachine(GpuKernel &kernel, llvm::Expected<PooledTargetMachine> machine) {
  auto pooled = orDiagnose(kernel.function, std::move(machine));
  if (failed(pooled))
    return failure();
  kernel.machine.emplace(std::move(*pooled));
  kernel.context = std::make_unique<llvm::LLVMContext>();
  keepAsmErrors(*kernel.context, kernel.asmError);
  return success();
}

static void setMachine(const GpuKernel &kernel, llvm::Module &module) {
  llvm::TargetMachine &machine = **kernel.machine;
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
}

std::unique_ptr<llvm::Module> lowering::newLlvmModule(const GpuKernel &kernel) {
  tt::FuncOp function = kernel.function;
  auto module = std::make_unique<llvm::Module>(function.getSymName(), *kernel.context);
  setMachine(kernel, *module);
  return module;
}

LogicalResult lowering::checkLinked(const GpuKernel &kernel, llvm::Error error, const support::DiagnosticKind &ofFile) {
  tt::FuncOp function = kernel.function;
  LogicalResult result = success();
  llvm::handleAllErrors(
      std::move(error),
      [&](const llvm::FileError &file) {
        result = tt::report(function.getLoc(), ofFile, file.getFileName(), file.messageWithoutFileInfo());
      },
      [&](const llvm::ErrorInfoBase &other) { result = function.emitError() << other.message(); });
  return result;
}

LogicalResult lowering::readLlvm(GpuKernel &kernel, const StageOverride &stageOverride) {
  auto module = parseLlvm(stageOverride, kernel.function, *kernel.context);
  if (failed(module))
    return failure();
  kernel.llvmModule = std::move(*module);
  kernel.replacedBy = stageOverride.path;
  setMachine(kernel, *kernel.llvmModule);
  return success();
}

std::string lowering::printTtg(const GpuKernel &kernel) { return printTtg(kernel.module); }
std::string lowering::printPlan(const GpuKernel &kernel) { return printPlan(kernel.module, kernel.shared); }
std::string lowering::printLlvm(const GpuKernel &kernel) { return printLlvm(*kernel.llvmModule); }
