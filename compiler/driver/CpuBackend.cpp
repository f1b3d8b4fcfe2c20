// The CPU target of the driver.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Backend.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/driver/PassDiagnostics.h"
#include "compiler/lowering/Kernel.h"
#include "compiler/passes/gluon/Passes.h"
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/target/cpu/Explain.h"
#include "compiler/target/cpu/Pipeline.h"
#include "compiler/target/cpu/TimeEstimate.h"

#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Config/llvm-config.h"

using namespace nereid;
using namespace nereid::driver;

static std::optional<support::TargetSpec> resolve(const std::string &arch, std::string &reason) {
  support::TargetSpec host = cpu::hostTarget();
  if (arch.empty() || arch == host.arch)
    return host;
  return cpu::namedTarget(arch, reason);
}

static const support::DiagnosticKind &kindOf(artifact::Sanitizer sanitizer) {
  switch (sanitizer) {
  case artifact::Bounds:
    return diag::SanitizedBounds;
  case artifact::Uninit:
    return diag::SanitizedUninit;
  case artifact::Overflow:
    return diag::SanitizedOverflow;
  case artifact::Nan:
  case artifact::NanLoads:
    return diag::SanitizedNan;
  case artifact::Race:
  case artifact::Sync:
    break;
  }
  llvm_unreachable("the CPU's sanitizers are listed");
}

static cpu::CpuKernel &kernelOf(Compilation &work) {
  return *static_cast<KernelState<cpu::CpuKernel> &>(*work.state).kernel;
}

static void addTtirPasses(mlir::OpPassManager &passes, const Compilation &work) {
  passes.addPass(gluon::createDropLayouts());
  cpu::buildTtirPipeline(passes, work.options.enableFpFusion);
}

static mlir::LogicalResult begin(Compilation &work) {
  work.result.artifact.sharedBytes = leastSharedBytes(work.module);
  auto kernel = cpu::beginKernel(work.module, work.options, work.target);
  if (mlir::failed(kernel))
    return mlir::failure();
  (*kernel)->checkText = [&work](mlir::Location where, artifact::Sanitizer sanitizer) {
    return textAt(where, kindOf(sanitizer), "{found}", work.request.sources);
  };
  (*kernel)->afterPlanStep = [&work, kernel = kernel->get()](llvm::StringRef step, const cpu::LoopPlan &plan) {
    const std::string stage = stageAfterStep(work.phase, step);
    if (work.keeps(stage))
      work.result.artifact.stages.push_back({stage, cpu::print(plan, kernel->affineInfo)});
  };
  work.state = std::make_unique<KernelState<cpu::CpuKernel>>(std::move(*kernel));
  return mlir::success();
}

static mlir::LogicalResult readShared(Compilation &work, const Request::Replacement &file) {
  if (!checkBinary(work, file, llvm::ELF::EM_X86_64))
    return mlir::failure();
  kernelOf(work).sharedObject.assign(file.text.begin(), file.text.end());
  return mlir::success();
}

static void finish(Compilation &work) {
  cpu::CpuKernel &kernel = kernelOf(work);
  artifact::Artifact &artifact = work.result.artifact;
  setParameterOffsets(artifact, lowering::paramsOf(work.kernel));
  artifact.arenaBytes = kernel.plan.arenaBytes;
  artifact.arenaAlign = artifact::kArenaAlign;
  artifact.registers = 32; // a nominal value: the CPU's registers do not limit programs
  artifact.tool = "lld";
  artifact.toolVersion = LLVM_VERSION_STRING;
  artifact.binary.assign(kernel.sharedObject.begin(), kernel.sharedObject.end());
}

const Backend driver::cpuBackend = {
    .info = artifact::kCpu,
    .resolve = resolve,
    .phases = {{"source", nullptr, printTtir, nullptr},
               {"ttir", makeTtir, printTtir, parseTtir},
               {"plan", [](Compilation &work) { return cpu::makePlan(kernelOf(work)); },
                [](Compilation &work) -> mlir::FailureOr<std::string> { return cpu::printPlan(kernelOf(work)); },
                nullptr, cpu::planStepNames(), explanationViews()},
               {"llir", [](Compilation &work) { return cpu::makeLlvm(kernelOf(work)); },
                [](Compilation &work) -> mlir::FailureOr<std::string> { return cpu::printLlvm(kernelOf(work)); },
                nullptr},
               {"asm", nullptr, [](Compilation &work) { return cpu::printAssembly(kernelOf(work)); }, nullptr},
               {"so",
                [](Compilation &work) {
                  cpu::CpuKernel &kernel = kernelOf(work);
                  return mlir::success(mlir::succeeded(cpu::makeObject(kernel)) &&
                                       mlir::succeeded(cpu::makeShared(kernel)));
                },
                nullptr, readShared}},
    .extras = {"launcher.so"},
    .toolTimeout = nullptr,
    .explainKernel = [](Compilation &work) { return cpu::explainKernel(kernelOf(work)); },
    .estimateLaunch =
        [](Compilation &work, const explain::LaunchShape &launch) {
          return cpu::estimateLaunch(kernelOf(work), work.result.artifact.parameters, launch);
        },
    .allowsOwnLauncher = nullptr,
    .addTtirPasses = addTtirPasses,
    .begin = begin,
    .finish = finish};
