// The CPU as the driver sees it.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Backend.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/driver/PassDiagnostics.h"
#include "compiler/target/cpu/CpuTarget.h"

#include "llvm/Config/llvm-config.h"

using namespace nereid;
using namespace nereid::driver;

static std::optional<support::TargetSpec> resolve(const std::string &arch, std::string &whyNot) {
  support::TargetSpec host = cpu::hostTarget();
  if (arch.empty() || arch == host.arch)
    return host;
  return cpu::namedTarget(arch, whyNot);
}

/// A call saves no registers on a CPU: every function becomes part of its caller.
static void prepare(mlir::ModuleOp module) {
  for (tt::FuncOp function : module.getOps<tt::FuncOp>())
    function->setAttr("noinline", mlir::BoolAttr::get(module.getContext(), false));
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

static mlir::LogicalResult finish(const BackendJob &job, artifact::Artifact &artifact) {
  artifact.sharedBytes = leastSharedBytes(job.module);
  cpu::Emit emit;
  emit.plan = job.wants("plan");
  emit.llir = job.wants("llir");
  emit.assembly = job.wants("asm");
  emit.checkText = [&](mlir::Location where, support::Sanitizer sanitizer) {
    return textAt(where, kindOf(sanitizer), "{found}", job.request.sources);
  };
  mlir::FailureOr<cpu::CpuCode> code = cpu::compile(job.module, job.options, job.target, emit);
  if (mlir::failed(code))
    return mlir::failure();
  placeParameters(artifact, code->params);
  artifact.arenaBytes = code->arenaBytes;
  artifact.arenaAlign = code->arenaAlign;
  artifact.registers = 32; // a CPU program holds its values in a fixed register file
  artifact.tool = "lld";
  artifact.toolVersion = LLVM_VERSION_STRING;
  artifact.binary.assign(code->sharedObject.begin(), code->sharedObject.end());
  for (auto [name, text] : {std::pair{"plan", &code->plan}, {"llir", &code->llir}, {"asm", &code->assembly}})
    if (job.wants(name))
      artifact.stages.push_back({name, *text});
  return mlir::success();
}

static void expandAllDescriptors(mlir::OpPassManager &, const support::TargetSpec &, const support::Options &) {}

const Backend driver::cpuBackend = {"cpu", {"ttir", "plan", "llir", "asm", "so", "launcher.so"}, {"ttir"}, resolve,
                                  prepare, expandAllDescriptors, finish};
