// The phases of the CPU target: plan, LLVM IR, object, shared object.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/CpuTarget.h"

#include "compiler/dialect/check/Dialect.h"
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/Kernel.h"
#include "compiler/lowering/llvm/Link.h"
#include "compiler/lowering/llvm/LlvmModule.h"
#include "compiler/lowering/llvm/PassGate.h"
#include "compiler/support/FatalGuard.h"
#include "compiler/target/cpu/Pipeline.h"
#include "compiler/target/cpu/codegen/Codegen.h"
#include "compiler/target/cpu/codegen/Diagnostics.h"
#include "compiler/target/cpu/emit/CLibrary.h"
#include "compiler/target/cpu/emit/KernelEmitter.h"
#include "compiler/target/cpu/emit/roots/RootTable.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "mlir/Pass/PassManager.h"

#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

static artifact::Sanitizer sanitizerOf(check::ValuesOp op) {
  switch (op.getKind()) {
  case check::Kind::Bounds:
    return artifact::Bounds;
  case check::Kind::Unwritten:
  case check::Kind::Written:
  case check::Kind::Undefined:
    return artifact::Uninit;
  case check::Kind::Overflow:
  case check::Kind::Wrapped:
    return artifact::Overflow;
  case check::Kind::Nan:
    return artifact::Nan;
  }
  llvm_unreachable("all kinds are listed");
}

static CpuFeatures featuresOf(const llvm::TargetMachine &machine) {
  const llvm::MCSubtargetInfo &subtarget = *machine.getMCSubtargetInfo();
  CpuFeatures features;
  features.hasAvx512 = subtarget.checkFeatures("+avx512f,+avx512vl,+avx512dq");
  features.hasAvx512Bw = features.hasAvx512 && subtarget.checkFeatures("+avx512bw");
  features.hasVnni = subtarget.checkFeatures(features.hasAvx512Bw ? "+avx512vnni" : "+avxvnni");
  features.hasAvx512Bf16 = features.hasAvx512Bw && subtarget.checkFeatures("+avx512bf16");
  features.hasAmxBf16 = features.hasAvx512Bw && subtarget.checkFeatures("+amx-tile,+amx-bf16");
  features.hasAmxInt8 = features.hasAvx512Bw && subtarget.checkFeatures("+amx-tile,+amx-int8");
  features.hasFma = subtarget.checkFeatures("+fma");
  features.hasF16c = subtarget.checkFeatures("+f16c");
  features.hasMicrocodedGathers = subtarget.getCPU().starts_with("znver");
  features.registerBits = features.hasAvx512 ? 512 : subtarget.checkFeatures("+avx2") ? 256 : 128;
  return features;
}

FailureOr<std::unique_ptr<CpuKernel>> cpu::beginKernel(ModuleOp module, const support::Options &options,
                                                       const support::TargetSpec &target) {
  auto machine = lowering::orDiagnose(module, createMachine(target));
  if (failed(machine))
    return failure();
  auto kernel = std::make_unique<CpuKernel>(module, options, target);
  kernel->machine = std::move(*machine);
  kernel->vectors = featuresOf(*kernel->machine);
  kernel->vectors.cacheBytes = target.lastLevelCacheBytes;
  return kernel;
}

static LogicalResult prepare(CpuKernel &kernel) {
  PrepareOptions options;
  options.arch = kernel.target.arch;
  options.hasF16c = kernel.vectors.hasF16c;
  options.dots = kernel.vectors;
  options.sanitizers = kernel.options.sanitize;
  PassManager passes(kernel.module.getContext());
  passes.enableVerifier(false); // the driver verifies after each phase
  buildPreparePipeline(passes, options);
  return passes.run(kernel.module);
}

LogicalResult cpu::makePlan(CpuKernel &kernel) {
  FailureOr<tt::FuncOp> function = lowering::findKernel(kernel.module);
  if (failed(function) || failed(prepare(kernel)))
    return failure();
  kernel.function = *function;
  FailureOr<LoopPlan> plan = makePlan(kernel.function, kernel.affineInfo, kernel.vectors, rootTable(),
                                      kernel.options.numStages, [&](const PlanStep &step, const LoopPlan &plan) {
                                        if (kernel.afterPlanStep)
                                          kernel.afterPlanStep(step.name, plan);
                                      });
  if (failed(plan))
    return failure();
  kernel.plan = std::move(*plan);
  return success();
}

std::vector<const char *> cpu::planStepNames() {
  std::vector<const char *> names;
  for (const PlanStep &step : planSteps())
    names.push_back(step.name);
  return names;
}

std::string cpu::printPlan(CpuKernel &kernel) { return print(kernel.plan, kernel.affineInfo); }

LogicalResult cpu::makeLlvm(CpuKernel &kernel) {
  tt::FuncOp function = kernel.function;
  kernel.context = std::make_unique<llvm::LLVMContext>();
  // Addresses are a base and a scaled index already: without this pass (a fifth of the time of code generation) loops
  // have the same instructions or fewer.
  static constexpr llvm::StringLiteral skipped[] = {"Loop Strength Reduction"};
  static lowering::PassGate gate(skipped);
  kernel.context->setOptPassGate(gate);
  lowering::keepAsmErrors(*kernel.context, kernel.asmError);
  kernel.llvmModule = std::make_unique<llvm::Module>(function.getSymName(), *kernel.context);
  llvm::Module &module = *kernel.llvmModule;
  module.setTargetTriple(kernel.machine->getTargetTriple());
  module.setDataLayout(kernel.machine->createDataLayout());
  KernelEmitter emitter(module, function, kernel.plan, kernel.affineInfo, kernel.vectors, kernel.options);
  if (kernel.checkText)
    emitter.setCheckText([&](check::ValuesOp op) { return kernel.checkText(op.getLoc(), sanitizerOf(op)); });
  if (failed(emitter.run()))
    return failure();
  kernel.asmLocations = emitter.takeAsmLocations();
  if (llvm::Error error = linkLibrary(module))
    return function.emitError() << llvm::toString(std::move(error));
  if (failed(lowering::verifyLlvm(function, module)))
    return failure();
  support::exitIfCancelled();
  optimise(module, *kernel.machine);
  return success();
}

std::string cpu::printLlvm(const CpuKernel &kernel) { return lowering::printLlvm(*kernel.llvmModule); }

/// Reports the error of code generation about a kernel's inline assembly.
static LogicalResult checkAssembly(const CpuKernel &kernel) {
  const auto &[error, cookie, line, column] = kernel.asmError;
  if (error.empty())
    return success();
  const bool isKnown = cookie && *cookie >= 1 && *cookie <= kernel.asmLocations.size();
  tt::FuncOp function = kernel.function;
  return tt::report(isKnown ? kernel.asmLocations[*cookie - 1] : function.getLoc(), diag::AssemblyRejected, error);
}

FailureOr<std::string> cpu::printAssembly(const CpuKernel &kernel) {
  auto copy = llvm::CloneModule(*kernel.llvmModule); // code generation changes the module
  auto text = lowering::orDiagnose(kernel.function, emitAssembly(*copy, *kernel.machine));
  if (failed(text) || failed(checkAssembly(kernel)))
    return failure();
  return text;
}

LogicalResult cpu::makeObject(CpuKernel &kernel) {
  auto object = lowering::orDiagnose(kernel.function, emitObject(*kernel.llvmModule, *kernel.machine));
  if (failed(object))
    return failure();
  if (failed(checkAssembly(kernel)))
    return failure();
  kernel.object = std::move(*object);
  return success();
}

LogicalResult cpu::makeShared(CpuKernel &kernel) {
  auto shared =
      lowering::orDiagnose(kernel.function, lowering::linkShared(kernel.object, kernel.function.getSymName()));
  if (failed(shared))
    return failure();
  kernel.sharedObject = std::move(*shared);
  return success();
}
