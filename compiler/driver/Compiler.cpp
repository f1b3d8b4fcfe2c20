// Runs the phases of a compilation in order and gathers their results into an artifact.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Compiler.h"

#include "compiler/analysis/WrittenArguments.h"
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/driver/Abandoned.h"
#include "compiler/driver/Backend.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/driver/Parameters.h"
#include "compiler/driver/PassDiagnostics.h"
#include "compiler/driver/Replacement.h"
#include "compiler/passes/tt/Pipeline.h"
#include "compiler/support/FatalGuard.h"
#include "compiler/target/nvidia/Diagnostics.h"
#include "compiler/support/ForkGate.h"
#include "compiler/support/Sanitizers.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"

#include <chrono>

using namespace nereid;
using namespace nereid::driver;

namespace {
/// Measures the phases; each call of `end` closes the one that began last.
class PhaseClock {
public:
  explicit PhaseClock(std::vector<PhaseTime> &times) : times(times), began(now()) {}
  void end(const char *phase) {
    const auto ended = now();
    times.push_back({phase, std::chrono::duration<double, std::micro>(ended - began).count()});
    began = ended;
  }

private:
  static std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }
  std::vector<PhaseTime> &times;
  std::chrono::steady_clock::time_point began;
};
} // namespace

//--- Phases ------------------------------------------------------------------------------------

static void describeWrites(artifact::Artifact &artifact, tt::FuncOp kernel) {
  const llvm::SmallBitVector written = analysis::writtenArguments(kernel);
  for (auto [index, parameter] : llvm::enumerate(artifact.parameters))
    parameter.isWritten = index >= written.size() || written[index];
}

mlir::OwningOpRef<mlir::ModuleOp> driver::front(mlir::MLIRContext &context, const sema::KernelRequest &kernel,
                                                sema::HostEnv &host, support::DiagnosticEngine &diagnostics) {
  return sema::emitKernel(context, kernel, host, diagnostics);
}

static void describeOptions(artifact::Artifact &artifact, const support::Options &options) {
  auto number = [](uint64_t value) { return std::to_string(value); };
  auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  artifact.options = {{"num_warps", number(options.numWarps)},
                      {"num_stages", number(options.numStages)},
                      {"num_ctas", number(options.numCtas)},
                      {"maxnreg", options.maxRegisters ? number(options.maxRegisters) : "null"},
                      {"enable_fp_fusion", flag(options.enableFpFusion)},
                      {"debug", flag(options.debug)},
                      {"sanitize_overflow", flag(options.sanitizeOverflow)},
                      {"launch_cooperative_grid", flag(options.cooperativeGrid)},
                      {"launch_pdl", flag(options.programmaticLaunch)}};
  if (options.ptxVersion)
    artifact.options["ptx_version"] = number(options.ptxVersion);
  if (options.sanitize)
    artifact.options["sanitize"] = '"' + support::sanitizerNames(options.sanitize) + '"';
  artifact.cooperative = options.cooperativeGrid;
  artifact.programmaticLaunch = options.programmaticLaunch;
  artifact.clusterDims = {options.numCtas, 1, 1};
}

/// The kernel's TTIR as a file that shows the problem again; where it was written.
static std::string writeReproducer(const artifact::Artifact &artifact) {
  const std::string *ttir = artifact.findStage("ttir");
  if (!ttir)
    return "(no file: it failed before there was TTIR)";
  llvm::SmallString<128> path;
  int descriptor;
  if (llvm::sys::fs::createTemporaryFile("nereid-" + artifact.name, "ttir", descriptor, path))
    return "(no file: the temporary folder cannot be written)";
  llvm::raw_fd_ostream file(descriptor, /*shouldClose=*/true);
  file << *ttir;
  return path.str().str();
}

namespace {
/// What the guarded half of a compilation works on. It owns all but the module, since it may outlast its caller.
struct BackWork {
  BackWork(mlir::ModuleOp module, const support::Options &options, const support::TargetSpec &target, Request request)
      : module(module), options(options), target(target), request(std::move(request)), said(module.getContext()) {
    this->request.shouldStop = nullptr;
  }
  bool optimise();
  bool replace(support::DiagnosticEngine &diagnostics);
  void describe();
  void finish();

  mlir::ModuleOp module;
  tt::FuncOp kernel;
  mlir::OwningOpRef<mlir::ModuleOp> written; ///< by the user, in place of ours
  const Backend *backend = nullptr;
  const support::Options options;
  const support::TargetSpec target;
  Request request;
  PassDiagnostics said;
  Result result;
  PhaseClock clock{result.times};
  std::string made; ///< the TTIR that was replaced
  bool isFinished = false;
};
} // namespace

bool BackWork::optimise() {
  mlir::PassManager passes(module.getContext());
#ifdef NDEBUG
  passes.enableVerifier(false);
#endif
  tt::buildOptimisePipeline(passes, options.enableFpFusion,
                            [&](mlir::OpPassManager &more) { backend->placeDescriptors(more, target, options); });
  return mlir::succeeded(passes.run(module));
}

/// Keeps what cannot be made again later. From `ttgir` on the text is what follows from the module that stands in its place.
bool BackWork::replace(support::DiagnosticEngine &diagnostics) {
  if (!options.externLibraries.empty()) // files may change, and the artifact does not name them
    request.keep = backend->stages;
  if (!request.replacement)
    return true;
  const Request::Replacement &replacement = *request.replacement;
  if (replacement.stage != "ttir")
    made = printModule(module);
  if (!checkReplaceable(replacement, *backend, diagnostics))
    return false;
  if (replacement.stage == "ttir" || replacement.stage == "ttgir") {
    written = readReplacement(replacement, kernel, diagnostics);
    kernel = written ? kernelOf(*written, diagnostics) : tt::FuncOp();
    if (!kernel)
      return false;
    module = *written;
  }
  if (replacement.stage != "ttir")
    request.keep = backend->stages;
  return true;
}

void BackWork::describe() {
  artifact::Artifact &artifact = result.artifact;
  artifact.name = artifact.entry = kernel.getSymName().str();
  artifact.hash = request.key;
  artifact.signature = request.signature;
  artifact.target = {target.backend, target.arch, target.features, 32};
  describeOptions(artifact, options);
  artifact.parameters = request.parameters;
  describeWrites(artifact, kernel);
  artifact.stages.push_back({"ttir", made.empty() ? printModule(module) : made});
}

void BackWork::finish() {
  isFinished = mlir::succeeded(backend->finish({module, options, target, request}, result.artifact));
  clock.end(target.backend == "cpu" ? "so" : "cubin");
}

/// The guarded half, to its end or until the request wants no more of it.
static bool finishGuarded(const std::shared_ptr<BackWork> &work, const std::function<bool()> &shouldStop,
                          support::DiagnosticEngine &diagnostics) {
  const artifact::Artifact &artifact = work->result.artifact;
  const std::string name = artifact.name;
  const auto question = [&] { return shouldStop && shouldStop(); };
  const uint32_t seconds = work->request.tools.secondsLimit;
  const support::GuardedEnd end = support::runGuarded([work] { work->finish(); }, question);
  if (end.isAbandoned) {
    if (end.isLate)
      diagnostics.report(nvidia::diag::AssemblerTimeout, {}, name, seconds);
    else
      diagnostics.report(diag::Interrupted, {}, name);
    return false;
  }
  if (end.failure) {
    diagnostics.report(diag::CompilerBug, {}, *end.failure, writeReproducer(artifact));
    new std::shared_ptr(work); // half-finished: not to be destroyed
    return false;
  }
  return true;
}

std::optional<Result> driver::back(mlir::ModuleOp module, const support::Options &options,
                                   const support::TargetSpec &target, const Request &request,
                                   support::DiagnosticEngine &diagnostics) {
  if (support::ForkGate::compilerIsLost()) {
    diagnostics.report(diag::CompilerLost, {});
    return std::nullopt;
  }
  if (options.sanitize && target.backend != "cpu") {
    diagnostics.report(diag::SanitizeNeedsCpu, {}, support::sanitizerNames(options.sanitize), target.backend);
    return std::nullopt;
  }
  const auto work = std::make_shared<BackWork>(module, options, target, request);
  work->backend = findBackend(target.backend);
  work->kernel = kernelOf(module, diagnostics);
  if (!work->kernel)
    return std::nullopt;
  if (work->request.parameters.empty())
    work->request.parameters = parametersOf(work->kernel);
  {
    const support::ForkGate gate;
    work->backend->prepare(module);
    if (!work->optimise()) {
      work->said.report(diagnostics, diag::PassFailed, request.sources);
      return std::nullopt;
    }
    if (takesHostMaps(work->kernel))
      work->request.parameters = parametersOf(work->kernel);
    if (!work->replace(diagnostics))
      return std::nullopt;
    work->clock.end("ttir");
    work->describe();
  }
  if (request.stopAfter == "ttir")
    return std::move(work->result);
  if (!finishGuarded(work, request.shouldStop, diagnostics))
    return std::nullopt;
  if (!work->isFinished) {
    work->said.report(diagnostics, diag::TargetFailed, request.sources);
    return std::nullopt;
  }
  work->said.reportRemarks(diagnostics, diag::TargetRemark, request.sources);
  return std::move(work->result);
}

std::optional<Result> driver::compile(mlir::MLIRContext &context, const sema::KernelRequest &kernel,
                                      sema::HostEnv &host, const Request &request,
                                      support::DiagnosticEngine &diagnostics) {
  std::vector<PhaseTime> times;
  PhaseClock clock(times);
  const support::ForkGate gate; // this host takes no lock that a thread at a fork could hold
  mlir::OwningOpRef<mlir::ModuleOp> module = front(context, kernel, host, diagnostics);
  if (!module)
    return std::nullopt;
  clock.end("sema");
  Request withParameters = request;
  if (withParameters.parameters.empty())
    withParameters.parameters = allParametersOf(kernel);
  std::optional<Result> result = back(*module, kernel.options, kernel.target, withParameters, diagnostics);
  releaseIfAbandoned(module, diagnostics);
  if (result)
    result->times.insert(result->times.begin(), times.begin(), times.end());
  return result;
}
