// The CPU as the driver sees it.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Backend.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/driver/PassDiagnostics.h"
#include "compiler/lowering/Kernel.h"
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/target/cpu/Pipeline.h"

#include "mlir/Pass/PassManager.h"

#include "llvm/Config/llvm-config.h"

using namespace nereid;
using namespace nereid::driver;

static std::optional<support::TargetSpec> resolve(const std::string &arch, std::string &whyNot) {
  support::TargetSpec host = cpu::hostTarget();
  if (arch.empty() || arch == host.arch)
    return host;
  return cpu::namedTarget(arch, whyNot);
}

static const support::DiagnosticKind &kindOf(support::Sanitizer sanitizer) {
  switch (sanitizer) {
  case support::Bounds:
    return diag::SanitizedBounds;
  case support::Uninit:
    return diag::SanitizedUninit;
  case support::Overflow:
    return diag::SanitizedOverflow;
  case support::Nan:
  case support::NanLoads:
    return diag::SanitizedNan;
  }
  llvm_unreachable("all sanitizers are listed");
}

namespace {
struct CpuState : TargetState {
  std::unique_ptr<cpu::CpuKernel> kernel;
};
} // namespace

static cpu::CpuKernel &kernelOf(Compilation &work) { return *static_cast<CpuState &>(*work.state).kernel; }

static mlir::LogicalResult makeTtir(Compilation &work) {
  mlir::PassManager passes(work.module.getContext());
  passes.enableVerifier(false); // the driver verifies after each phase
  cpu::buildTtirPipeline(passes, work.options.enableFpFusion);
  return passes.run(work.module);
}

/// Ours first: it is what the user's kernel is compared with.
static mlir::LogicalResult parseTtir(Compilation &work, const Request::Replacement &text) {
  return mlir::success(mlir::succeeded(makeTtir(work)) && mlir::succeeded(parseModule(work, text)));
}

static mlir::LogicalResult begin(Compilation &work) {
  work.result.artifact.sharedBytes = leastSharedBytes(work.module);
  auto kernel = cpu::beginKernel(work.module, work.options, work.target);
  if (mlir::failed(kernel))
    return mlir::failure();
  (*kernel)->checkText = [&work](mlir::Location where, support::Sanitizer sanitizer) {
    return textAt(where, kindOf(sanitizer), "{found}", work.request.sources);
  };
  auto state = std::make_unique<CpuState>();
  state->kernel = std::move(*kernel);
  work.state = std::move(state);
  return mlir::success();
}

static void finish(Compilation &work) {
  cpu::CpuKernel &kernel = kernelOf(work);
  artifact::Artifact &artifact = work.result.artifact;
  placeParameters(artifact, lowering::paramsOf(work.kernel));
  artifact.arenaBytes = kernel.plan.arenaBytes;
  artifact.arenaAlign = cpu::kArenaAlign;
  artifact.registers = 32; // a CPU program holds its values in a fixed register file
  artifact.tool = "lld";
  artifact.toolVersion = LLVM_VERSION_STRING;
  artifact.binary.assign(kernel.sharedObject.begin(), kernel.sharedObject.end());
}

const Backend driver::cpuBackend = {
    .name = "cpu",
    .resolve = resolve,
    .phases = {{"source", nullptr, printTtir, nullptr},
               {"ttir", makeTtir, printTtir, parseTtir},
               {"plan", [](Compilation &work) { return cpu::makePlan(kernelOf(work)); },
                [](Compilation &work) -> mlir::FailureOr<std::string> { return cpu::printPlan(kernelOf(work)); }, nullptr},
               {"llir", [](Compilation &work) { return cpu::makeLlvm(kernelOf(work)); },
                [](Compilation &work) -> mlir::FailureOr<std::string> { return cpu::printLlvm(kernelOf(work)); }, nullptr},
               {"asm", nullptr, [](Compilation &work) { return cpu::printAssembly(kernelOf(work)); }, nullptr},
               {"so", [](Compilation &work) {
                  cpu::CpuKernel &kernel = kernelOf(work);
                  return mlir::success(mlir::succeeded(cpu::makeObject(kernel)) && mlir::succeeded(cpu::makeShared(kernel)));
                }, nullptr, nullptr}},
    .extras = {"launcher.so"},
    .begin = begin,
    .finish = finish};
