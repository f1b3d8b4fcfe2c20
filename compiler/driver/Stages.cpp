// Stages of a finished kernel, kept or derived again from a kernel's TTIR.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/StoredOptions.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/support/FatalGuard.h"
#include "compiler/support/ForkGate.h"
#include "compiler/support/NearestName.h"
#include "compiler/support/StackRoom.h"
#include "compiler/target/cpu/codegen/AotLauncher.h"

#include "llvm/ADT/StringExtras.h"

using namespace nereid;
using namespace nereid::driver;

bool driver::isBinaryStage(const std::string &backend, const std::string &stage) {
  return stage == artifact::targetInfo(backend).binaryStage || stage == "launcher.so";
}

std::string driver::noStage(const std::string &owner, const std::string &backend, const std::string &stage,
                            const std::vector<std::string> &more) {
  std::vector<std::string> known = stageNames(backend);
  llvm::append_range(known, more);
  support::NearestName nearest(stage);
  nearest.addAll(known);
  nearest.addAll(stepStageNames(backend));
  return owner + " has no stage `" + stage + "`" + nearest.hint() + "; it has " + llvm::join(known, ", ");
}

/// The stage of the artifact's binary: "so", "cubin", "ptx"; empty for an unknown target.
static std::string binaryStage(const artifact::Artifact &artifact) {
  const artifact::TargetInfo &info = artifact::targetInfo(artifact.target.backend);
  return std::string(artifact.tool == "driver" ? info.assembledByDriver : info.binaryStage);
}

/// The text that the phases make of the artifact's TTIR.
static std::optional<std::string> derive(const artifact::Artifact &artifact, const std::string &stage,
                                         support::DiagnosticEngine &diagnostics,
                                         const std::vector<std::shared_ptr<const support::SourceFile>> &sources) {
  if (const std::string *text = artifact.findStage(stage))
    return *text;
  if (stage == binaryStage(artifact))
    return artifact.binary;
  support::TargetSpec target{artifact.target.backend, artifact.target.arch, artifact.target.features, 0};
  if (stage == "launcher.so") {
    std::optional<std::string> launcher;
    const auto fatal = support::runGuarded([&] { launcher = cpu::compileAotLauncher(artifact, target); });
    if (fatal || !launcher)
      diagnostics.report(support::diag::InternalError, {}, stage, fatal.value_or("the launcher could not be linked"));
    return launcher;
  }
  const std::string *ttir = artifact.findStage("ttir");
  const bool isOfGluon = !ttir && artifact.findStage("ttgir");
  if (isOfGluon)
    ttir = artifact.findStage("ttgir");
  const std::string &backend = artifact.target.backend;
  const bool isKnown =
      llvm::is_contained(stageNames(backend), stage) || llvm::is_contained(stepStageNames(backend), stage);
  if (!ttir || stage == "source" || !isKnown || (isOfGluon && stage == "ttir"))
    return std::nullopt;

  const support::ForkGate gate;
  auto context = createContext();
  auto module = parse(*context, *ttir, artifact.name + (isOfGluon ? ".ttgir" : ".ttir"), diagnostics);
  if (!module)
    return std::nullopt;
  Request request;
  request.keep = {stage};
  request.keepsBinary = false;
  request.sources = sources;
  request.makeSource = [&] { return *ttir; };
  auto result = back(*module, storedOptions(artifact), target, request, diagnostics);
  const std::string *text = result ? result->artifact.findStage(stage) : nullptr;
  return text ? std::optional(*text) : std::nullopt;
}

std::optional<std::string> driver::stage(const artifact::Artifact &artifact, const std::string &stage,
                                         support::DiagnosticEngine &diagnostics,
                                         const std::vector<std::shared_ptr<const support::SourceFile>> &sources) {
  std::optional<std::string> text;
  support::runWithStackRoom([&] { text = derive(artifact, stage, diagnostics, sources); });
  return text;
}
