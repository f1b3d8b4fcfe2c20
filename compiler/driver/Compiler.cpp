// Runs the phases of a compilation in order and collects their results in an artifact.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Compiler.h"

#include "artifact/Sanitizers.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/driver/AssemblyBlame.h"
#include "compiler/driver/Backend.h"
#include "compiler/driver/Cancellation.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/driver/EntryName.h"
#include "compiler/driver/Parameters.h"
#include "compiler/driver/PassDiagnostics.h"
#include "compiler/driver/Replacement.h"
#include "compiler/driver/Reproducer.h"
#include "compiler/driver/StoredOptions.h"
#include "compiler/lowering/Diagnostics.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/support/FatalGuard.h"
#include "compiler/support/ForkGate.h"
#include "compiler/support/MemoryReserve.h"
#include "compiler/support/StackRoom.h"

#include <chrono>

using namespace nereid;
using namespace nereid::driver;

// --- the artifact's description of the kernel ---------------------------------------------------

static void describe(Compilation &work) {
  artifact::Artifact &artifact = work.result.artifact;
  work.kernel.setSymName(entryName(work.kernel.getSymName())); // a replacement may have its own
  artifact.name = artifact.entry = work.kernel.getSymName().str();
  artifact.hash = work.request.key;
  artifact.signature = work.request.signature;
  artifact.target = {work.target.backend, work.target.arch, work.target.features,
                     artifact::warpSizeOf(work.target.backend, work.target.arch)};
  storeOptions(artifact, work.options);
  artifact.cooperative = work.options.cooperativeGrid;
  artifact.programmaticLaunch = work.options.programmaticLaunch;
  artifact.clusterDims = {work.options.numCtas, 1, 1};
  artifact.parameters = work.request.parameters;
  describeWrites(work);
}

//--- the phases --------------------------------------------------------------------------------

/// Chooses the stages to keep: "ttir" or that of Gluon, from which the others are derived, and those that cannot be
/// derived.
static void chooseStages(Compilation &work, const Backend &backend) {
  const bool dependsOnFiles =
      !work.options.externLibraries.empty(); // they may change, and the artifact does not name them
  const bool dependsOnText = work.request.replacement && !work.replacementOf("ttir");
  const std::string first = isTtg(work.module) ? "ttgir" : "ttir"; // the others are derived from it
  for (const std::string &stage : backend.stages())
    if (stage != "source" && (stage == first || dependsOnFiles || dependsOnText) && !work.keeps(stage))
      work.request.keep.push_back(stage);
  if (first != "ttir")
    llvm::erase(work.request.keep, "ttir");
}

/// Reports the errors of a failed phase.
static void reportFailure(Compilation &work, support::DiagnosticEngine &diagnostics) {
  if (work.diagnostics.hasErrors())
    diagnostics.take(work.diagnostics);
  else
    work.messages.reportErrors(diagnostics, work.request.sources, work.phase,
                               [&](llvm::StringRef reason) { return writeReproducer(work, reason); });
}

/// From sema's module to the stage "ttir"; true where a later phase is needed. This half runs on the caller's thread.
static mlir::FailureOr<bool> begin(Compilation &work, const Backend &backend) {
  const support::ForkGate gate;
  const support::MemoryReserve reserve;
  chooseStages(work, backend);
  const mlir::FailureOr<bool> more = runPhases(work, backend.untilTtir());
  if (support::isMemoryShort())
    reportOutOfMemory(work.result.artifact.name, work.diagnostics);
  if (mlir::failed(more) || work.diagnostics.hasErrors())
    return mlir::failure();
  if (takesHostMaps(work.kernel))
    work.request.parameters = parametersOf(work.kernel);
  describe(work);
  return more;
}

static bool finish(Compilation &work, const Backend &backend) {
  work.phase = backend.afterTtir().front().name;
  const bool isDone = mlir::succeeded(backend.begin(work)) && mlir::succeeded(runPhases(work, backend.afterTtir()));
  if (isDone)
    backend.finish(work);
  if (isDone && artifact::needsOwnLauncher(work.result.artifact))
    work.result.artifact.abi = artifact::Abi::Own;
  work.state.reset(); // LLVM's objects are destroyed on this thread, while forks wait
  return isDone;
}

/// Reports a fatal error of LLVM at the inline assembly that causes it; false where none does.
static bool reportAssembly(Compilation &work, const Backend &backend, llvm::StringRef reason) {
  const std::optional<mlir::Location> where = findGuiltyAssembly(work, backend);
  if (where)
    (void)tt::report(*where, lowering::diag::AsmFailed, reason);
  return where.has_value();
}

/// Whether LLVM's code generator gets what the user has written, not what a pass makes from it.
static bool isLlvmOrLater(const Request::Replacement &text) { return text.stage != "ttir" && text.stage != "ttgir"; }

/// Shows the remarks of finished phases once the next one has taken long.
static void showEarly(EarlyRemarks &early, const std::function<void(const support::DiagnosticEngine &)> &show) {
  std::unique_ptr<support::DiagnosticEngine> ready;
  {
    const std::lock_guard lock(early.guard);
    if (!early.ready || std::chrono::steady_clock::now() - early.since < std::chrono::seconds(1))
      return;
    ready = std::move(early.ready);
  }
  show(*ready);
}

/// Reports the failure inside LLVM that ended the phases after "ttir".
static void reportFatalEnd(Compilation &work, const Backend &backend, const support::GuardedEnd &end,
                           support::DiagnosticEngine &diagnostics) {
  if (end.isOutOfMemory)
    return reportOutOfMemory(work.result.artifact.name, diagnostics);
  if (reportAssembly(work, backend, *end.failure))
    return reportFailure(work, diagnostics);
  if (const auto &text = work.request.replacement; text && isLlvmOrLater(*text))
    diagnostics.report(diag::ReplacementFails, {}, text->path, work.phase, *end.failure);
  else
    diagnostics.report(support::diag::InternalError, {}, work.phase, *end.failure).reproducer =
        writeReproducer(work, *end.failure);
}

/// Runs the phases after "ttir", which may end by LLVM's fatal errors or a cancellation by the caller.
static bool finishGuarded(const std::shared_ptr<Compilation> &work, const Backend &backend, const Request &caller,
                          support::DiagnosticEngine &diagnostics) {
  const std::string name = work->result.artifact.name;
  const uint32_t seconds = work->request.tools.secondsLimit;
  const auto isFinished = std::make_shared<bool>(false);
  const auto poll = [&] {
    if (caller.showRemarks)
      showEarly(work->early, caller.showRemarks);
    return caller.isCancelRequested && caller.isCancelRequested();
  };
  const support::GuardedEnd end =
      support::runGuarded([work, &backend, isFinished] { *isFinished = finish(*work, backend); }, poll);
  if (end.isCancelled) {
    if (end.isTimedOut && backend.toolTimeout)
      diagnostics.report(*backend.toolTimeout, {}, name, seconds);
    else
      diagnostics.report(diag::Interrupted, {}, name);
    return false;
  }
  if (end.isOutOfMemory || end.failure) {
    reportFatalEnd(*work, backend, end, diagnostics);
    new std::shared_ptr(work); // leaked, since its state is half-finished
    return false;
  }
  if (!*isFinished)
    reportFailure(*work, diagnostics);
  return *isFinished;
}

static bool isSimulated(const support::TargetSpec &target) {
  return target.features.find(artifact::kSimulated) != std::string::npos;
}

static uint32_t sanitizersOf(const support::TargetSpec &target) {
  return artifact::targetInfo(target.backend).hasSanitizers ? artifact::kCpuSanitizers
         : isSimulated(target)                              ? artifact::kSimulatorSanitizers
                                                            : 0;
}

static std::string nameOf(const support::TargetSpec &target) {
  return isSimulated(target) ? target.backend + ":" + target.arch + std::string(artifact::kSimulated) : target.backend;
}

/// Whether this process and the target support the request.
static bool checkRequest(const support::Options &options, const support::TargetSpec &target,
                         support::DiagnosticEngine &diagnostics) {
  if (support::ForkGate::compilerIsLost()) {
    diagnostics.report(diag::CompilerLost, {});
    return false;
  }
  if (!checkCompiler(diagnostics))
    return false;
  const uint32_t known = sanitizersOf(target), unknown = options.sanitize & ~known;
  if (unknown && known)
    diagnostics.report(diag::SanitizeWord, {}, artifact::sanitizerNames(unknown), nameOf(target),
                       artifact::sanitizerNames(known));
  else if (unknown)
    diagnostics.report(diag::SanitizeTarget, {}, artifact::sanitizerNames(unknown), nameOf(target));
  return !unknown;
}

//--- the whole compilation ---------------------------------------------------------------------

mlir::OwningOpRef<mlir::ModuleOp> driver::front(mlir::MLIRContext &context, const sema::KernelRequest &kernel,
                                                sema::HostEnv &host, support::DiagnosticEngine &diagnostics) {
  const support::MemoryReserve reserve;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (checkCompiler(diagnostics) && !support::isMemoryShort())
    module = sema::emitKernel(context, kernel, host, diagnostics);
  if (support::isMemoryShort())
    reportOutOfMemory(kernel.name, diagnostics);
  return diagnostics.hasErrors() ? nullptr : std::move(module);
}

std::optional<Result> driver::back(mlir::ModuleOp module, const support::Options &options,
                                   const support::TargetSpec &target, const Request &request,
                                   support::DiagnosticEngine &diagnostics) {
  if (!checkRequest(options, target, diagnostics))
    return std::nullopt;
  const Backend &backend = *findBackend(target.backend);
  const auto work = std::make_shared<Compilation>(module, options, target, request);
  work->kernel = kernelOf(module, diagnostics);
  if (!work->kernel)
    return std::nullopt;
  work->result.artifact.name = work->kernel.getSymName().str();
  if (work->request.parameters.empty())
    work->request.parameters = parametersOf(work->kernel);
  if (request.replacement && !checkReplaceable(*request.replacement, backend, diagnostics))
    return std::nullopt;
  mlir::FailureOr<bool> wantsMore = mlir::failure();
  support::runWithStackRoom([&] { wantsMore = begin(*work, backend); });
  if (mlir::failed(wantsMore)) {
    reportFailure(*work, diagnostics); // outside of the gate: `makeSource` may wait for locks of the caller
    return std::nullopt;
  }
  work->request.makeSource = nullptr; // the caller's, which may end before this does
  if (*wantsMore && !finishGuarded(work, backend, request, diagnostics))
    return std::nullopt;
  work->messages.reportRemarks(diagnostics, request.sources);
  return std::move(work->result);
}
