// Runs the phases of the AMD target: ttg, LLVM IR, assembly, code object.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/HipTarget.h"

#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/lowering/Diagnostics.h"
#include "compiler/lowering/TtgToLlvm/TtgModuleEmitter.h"
#include "compiler/lowering/asm/AssemblyLines.h"
#include "compiler/lowering/gpu/GpuCodegen.h"
#include "compiler/lowering/gpu/GpuPlan.h"
#include "compiler/lowering/llvm/Link.h"
#include "compiler/lowering/llvm/LlvmModule.h"
#include "compiler/target/amd/Diagnostics.h"
#include "compiler/target/amd/Pipeline.h"
#include "compiler/target/amd/lowering/AmdEmitter.h"
#include "compiler/target/amd/passes/MatrixLayouts.h"
#include "compiler/target/amd/passes/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::amd;

//--- checks --------------------------------------------------------------------------------

/// HIP: the most threads of a workgroup.
static constexpr unsigned kMaxThreads = 1024;

static LogicalResult checkOptions(tt::FuncOp kernel, const support::Options &options, const Arch &arch) {
  const unsigned mostWarps = kMaxThreads / arch.waveSize;
  if (options.numCtas != 1)
    return tt::report(kernel.getLoc(), diag::NumCtas, options.numCtas, arch.name);
  if (!llvm::isPowerOf2_32(options.numWarps) || options.numWarps > mostWarps)
    return tt::report(kernel.getLoc(), diag::NumWarps, options.numWarps, mostWarps, arch.name, arch.waveSize);
  if (!llvm::is_contained({0u, 16u, 32u}, options.matrixInstrNonKDim))
    return tt::report(kernel.getLoc(), diag::NonKDim, options.matrixInstrNonKDim);
  if (options.kpack > 2)
    return tt::report(kernel.getLoc(), diag::Kpack, options.kpack);
  return success();
}

FailureOr<std::unique_ptr<HipKernel>> amd::beginKernel(ModuleOp module, const support::Options &options,
                                                       const support::TargetSpec &target) {
  std::string reason;
  const std::optional<Arch> arch = findArch(target.arch, reason);
  if (!arch)
    return module.emitError() << reason;
  auto kernel = std::make_unique<HipKernel>(options, *arch);
  if (failed(useModule(*kernel, module)) || failed(checkOptions(kernel->function, options, *arch)))
    return failure();
  return kernel;
}

/// TTGIR of another compiler has ops that only it knows.
static LogicalResult rewriteImportedOps(ModuleOp module) {
  if (!module->hasAttr(ttg::kNumWarps))
    return success();
  PassManager passes(module.getContext());
  passes.addPass(createRewriteImportedOps());
  return passes.run(module);
}

LogicalResult amd::useModule(HipKernel &kernel, ModuleOp module) {
  return failed(rewriteImportedOps(module)) ? failure() : lowering::useModule(kernel, module);
}

uint32_t HipKernel::threadsPerBlock() const { return ttg::totalWarpsOf(module) * arch.waveSize; }

//--- phases --------------------------------------------------------------------------------

LogicalResult amd::lowerToTtg(HipKernel &kernel) {
  if (kernel.module->hasAttr(ttg::kNumWarps))
    return success();
  if (const uint32_t asked = kernel.options.matrixInstrNonKDim)
    kernel.module->setAttr(kNonKDim, Builder(kernel.module.getContext()).getI32IntegerAttr(asked));
  if (const uint32_t asked = kernel.options.kpack)
    kernel.module->setAttr(kKpack, Builder(kernel.module.getContext()).getI32IntegerAttr(asked));
  PassManager passes(kernel.module.getContext());
  passes.enableVerifier(false); // the driver verifies after each phase
  buildTtgirPipeline(passes, kernel.arch, kernel.options);
  return passes.run(kernel.module);
}

void amd::planMemory(HipKernel &kernel) {
  kernel.shared = lowering::planSharedMemory(
      kernel.module, kernel.function,
      {.gpu = kernel.arch.name, .bytes = kernel.arch.maxSharedBytes, .exceeded = diag::SharedMemoryExceeded});
}

/// Gets the code generator and a context for LLVM IR.
static LogicalResult findMachine(HipKernel &kernel) { return lowering::useMachine(kernel, targetMachine(kernel.arch)); }

/// "User Guide for AMDGPU Backend": the version of the implicit arguments that `numPrograms` reads.
static constexpr unsigned kCodeObjectVersion = 500;

LogicalResult amd::makeLlvm(HipKernel &kernel) {
  tt::FuncOp function = kernel.function;
  if (failed(findMachine(kernel)))
    return failure();
  kernel.llvmModule = lowering::newLlvmModule(kernel);
  llvm::Module &module = *kernel.llvmModule;
  module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", kCodeObjectVersion);
  AmdEmitter emitter(kernel.arch, kernel.options.externLibraries, kernel.options.wavesPerEu);
  const lowering::EmissionOptions emission = {kernel.options.enableFpFusion, /*maxRegisters=*/0};
  if (failed(lowering::emitModule(kernel.module, module, emitter, kernel.shared, emission)) ||
      failed(lowering::checkLinked(kernel, emitter.linkLibraries(module), diag::ExternLibrary)))
    return failure();
  emitter.settleWaits();
  for (llvm::Function &llvmFunction : module) {
    if (llvmFunction.isDeclaration())
      continue;
    markInputs(llvmFunction);
    if (kernel.options.flushDenormals)
      llvmFunction.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
  }
  if (failed(lowering::verifyLlvm(function, module)))
    return failure();
  separateLdsLoads(module);
  if (const unsigned demand = optimise(module, **kernel.machine); demand > kExcessRegisters)
    tt::report(function.getLoc(), lowering::diag::ExcessRegisters, function.getSymName(), demand,
               kernel.arch.numRegisters, kernel.options.numWarps);
  return success();
}

LogicalResult amd::readLlvm(HipKernel &kernel, const lowering::StageOverride &stageOverride) {
  return failure(failed(findMachine(kernel)) || failed(lowering::readLlvm(kernel, stageOverride)));
}

LogicalResult amd::makeAssembly(HipKernel &kernel) {
  tt::FuncOp function = kernel.function;
  if (llvm::Error error = lowerPrintf(*kernel.llvmModule, **kernel.machine))
    return function.emitError() << llvm::toString(std::move(error));
  auto text = lowering::orDiagnose(function, lowering::emitGpuAssembly(*kernel.llvmModule, **kernel.machine));
  if (failed(text))
    return failure();
  if (!kernel.asmError.text.empty())
    return tt::report(lowering::locationOf(kernel.asmError, kernel.module, function.getLoc()), diag::AssemblyRejected,
                      kernel.asmError.text);
  kernel.assembly = std::move(*text);
  kernel.llvmModule.reset();
  kernel.context.reset();
  return success();
}

LogicalResult amd::readAssembly(HipKernel &kernel, const lowering::StageOverride &stageOverride) {
  kernel.assembly = stageOverride.text;
  kernel.replacedBy = stageOverride.path;
  if (!StringRef(kernel.assembly).contains((kernel.function.getSymName() + ":").str()))
    return lowering::missingEntry(stageOverride, "kernel", kernel.function);
  kernel.llvmModule.reset(); // the generated one, whose context is replaced
  return findMachine(kernel);
}

LogicalResult amd::makeHsaco(HipKernel &kernel) {
  tt::FuncOp function = kernel.function;
  AssemblyError error;
  const std::vector<char> object = assemble(kernel.assembly, **kernel.machine, error);
  if (object.empty() && !kernel.replacedBy.empty())
    return tt::report(function.getLoc(), diag::OverrideRefused, kernel.replacedBy, lowering::atLine(error.line),
                      error.text);
  if (object.empty())
    return tt::report(lowering::locationOfLine(kernel.assembly, error.line, function.getLoc()), diag::AssemblyRejected,
                      error.text);
  auto linked = lowering::orDiagnose(function, lowering::linkShared(object, function.getSymName()));
  if (mlir::failed(linked))
    return failure();
  kernel.hsaco = std::move(*linked);
  kernel.machine.reset();
  return success();
}
