// The targets by name, their stages, and stages derived again from a kernel's TTIR.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Compiler.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/target/cpu/AotLauncher.h"
#include "compiler/target/cpu/CpuTarget.h"

using namespace nereid;
using namespace nereid::driver;

std::vector<std::string> driver::stageNames(const std::string &backend) {
  if (backend == "cpu")
    return {"ttir", "plan", "llir", "asm", "so", "launcher.so"};
  return {};
}

std::optional<support::TargetSpec> driver::resolveTarget(const std::string &backend, const std::string &arch,
                                                         std::string &whyNot) {
  if (backend != "cpu") {
    whyNot = "target `" + backend + "` is unknown; this build compiles for `cpu`";
    return std::nullopt;
  }
  support::TargetSpec host = cpu::hostTarget();
  if (arch.empty() || arch == host.arch)
    return host;
  return cpu::namedTarget(arch, whyNot);
}

static bool flagOf(const artifact::Artifact &artifact, const char *name) {
  auto found = artifact.options.find(name);
  return found != artifact.options.end() && found->second == "true";
}

std::optional<std::string> driver::stage(const artifact::Artifact &artifact, const std::string &stage,
                                         support::DiagnosticEngine &diagnostics) {
  if (const std::string *kept = artifact.findStage(stage))
    return *kept;
  if (stage == "so")
    return artifact.binary;
  support::TargetSpec target{artifact.target.backend, artifact.target.arch, artifact.target.features, 0};
  if (stage == "launcher.so") {
    auto launcher = cpu::compileAotLauncher(artifact, target);
    if (!launcher)
      diagnostics.report(diag::TargetFailed, {}, "the launcher could not be linked");
    return launcher;
  }
  const std::string *ttir = artifact.findStage("ttir");
  if (!ttir || !llvm::is_contained(stageNames(artifact.target.backend), stage))
    return std::nullopt;

  support::Options options;
  options.enableFpFusion = flagOf(artifact, "enable_fp_fusion");
  options.debug = flagOf(artifact, "debug");
  auto context = createContext();
  auto module = parse(*context, *ttir, artifact.name + ".ttir", diagnostics);
  if (!module)
    return std::nullopt;
  Request request;
  request.keep = {stage};
  auto result = back(*module, options, target, request, diagnostics);
  const std::string *made = result ? result->artifact.findStage(stage) : nullptr;
  return made ? std::optional(*made) : std::nullopt;
}
