// What code generation for GPUs of all vendors has in common: the code generator's options, and the passes before it.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/GpuCodegen.h"

#include "compiler/lowering/llvm/LlvmPasses.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace nereid;

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
lowering::createGpuMachine(const llvm::Target &target, const llvm::Triple &triple, llvm::StringRef cpu,
                           llvm::StringRef features, llvm::CodeGenOptLevel level) {
  llvm::TargetOptions options;
  // Multiplications and additions that may become fma carry the flag `contract`.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(
      target.createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_, std::nullopt, level));
  if (!machine)
    return llvm::createStringError("no code generator for `" + cpu + "`");
  return machine;
}

llvm::FunctionPassManager lowering::gpuFunctionPasses() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false)));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass());
  return passes;
}

llvm::Expected<std::string> lowering::emitGpuAssembly(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> bytes;
  if (llvm::Error error = emitFile(module, machine, llvm::CodeGenFileType::AssemblyFile, bytes))
    return error;
  return std::string(bytes.begin(), bytes.end());
}
