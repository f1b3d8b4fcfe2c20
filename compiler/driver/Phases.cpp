// Runs a target's phases in one loop.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Backend.h"

#include "compiler/analysis/WrittenArguments.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/driver/Replacement.h"
#include "compiler/passes/gluon/Pipeline.h"
#include "compiler/support/FatalGuard.h"

#include "mlir/IR/Verifier.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>

using namespace nereid;
using namespace nereid::driver;

/// A stage that the user replaces is code for the plain ABI.
static support::Options optionsOf(support::Options options, const support::TargetSpec &target, const Request &request) {
  options.ownLauncher &= !request.replacement;
  return effectiveOptions(std::move(options), target);
}

Compilation::Compilation(mlir::ModuleOp module, const support::Options &options, const support::TargetSpec &target,
                         Request request)
    : module(module), options(optionsOf(options, target, request)), target(target), request(std::move(request)),
      messages(module.getContext()), showsRemarks(this->request.showRemarks != nullptr) {
  this->request.isCancelRequested = nullptr; // the caller's, which may end before this does
  this->request.showRemarks = nullptr;       // as well
}

bool Compilation::keeps(llvm::StringRef stage) const { return llvm::is_contained(request.keep, stage); }

const Request::Replacement *Compilation::replacementOf(llvm::StringRef stage) const {
  return request.replacement && request.replacement->stage == stage ? &*request.replacement : nullptr;
}

void Compilation::publishRemarks() {
  if (!showsRemarks)
    return;
  auto remarks = std::make_unique<support::DiagnosticEngine>();
  messages.reportRemarks(*remarks, request.sources);
  if (remarks->size() == 0)
    return;
  const std::lock_guard lock(early.guard);
  early.ready = std::move(remarks);
  early.since = std::chrono::steady_clock::now();
}

std::string driver::stageAfterStep(llvm::StringRef phase, llvm::StringRef step) { return (phase + "." + step).str(); }

/// In builds with assertions, verifies the result of a phase before the next one runs.
static mlir::LogicalResult verify(Compilation &work) {
#ifndef NDEBUG
  return mlir::verify(work.module);
#else
  (void)work;
  return mlir::success();
#endif
}

/// After this phase a target knows what a launch costs.
static constexpr llvm::StringLiteral kPlan = "plan";

/// The last phase that the request needs.
static llvm::StringRef lastWanted(const Compilation &work, const Backend &backend) {
  llvm::StringRef last = backend.phases.back().name;
  if (work.request.keepsBinary)
    return last;
  for (const Phase &phase : backend.phases)
    if (work.keeps(phase.name) || (phase.name == kPlan && work.request.launch) ||
        llvm::any_of(phase.steps, [&](const char *step) { return work.keeps(stageAfterStep(phase.name, step)); }) ||
        llvm::any_of(phase.views, [&](const View &view) { return work.keeps(stageAfterStep(phase.name, view.name)); }))
      last = phase.name;
  return last;
}

/// After the phase "plan", estimates the launch that the request names.
static mlir::LogicalResult estimate(Compilation &work, const Backend &backend) {
  if (work.phase != kPlan || !work.request.launch || !backend.estimateLaunch)
    return mlir::success();
  const explain::Estimate found = backend.estimateLaunch(work, *work.request.launch);
  work.result.estimate = found;
  if (found.canLaunch() || !work.request.keepsBinary)
    return mlir::success();
  work.diagnostics.report(diag::CannotLaunch, {}, work.result.artifact.name, found.sharedBytes, found.sharedLimit,
                          found.registers, work.options.numWarps);
  return mlir::failure();
}

/// False where the phase has nothing to run: its stage is another text of the previous one.
static mlir::FailureOr<bool> runOne(Compilation &work, const Phase &phase) {
  work.phase = phase.name;
  if (const Request::Replacement *text = work.replacementOf(phase.name)) {
    if (mlir::failed(phase.parse(work, *text)))
      return mlir::failure();
  } else if (!phase.run) {
    return false;
  } else if (mlir::failed(phase.run(work))) {
    return mlir::failure();
  }
  if (mlir::failed(verify(work)))
    return mlir::failure();
  return true;
}

static mlir::LogicalResult keepText(Compilation &work, const Phase &phase) {
  auto keep = [&](const std::string &stage, auto print) {
    if (!print || !work.keeps(stage))
      return mlir::success();
    mlir::FailureOr<std::string> text = print(work);
    if (mlir::failed(text))
      return mlir::failure();
    work.result.artifact.stages.push_back({stage, std::move(*text)});
    return mlir::success();
  };
  mlir::LogicalResult result = keep(phase.name, phase.print);
  for (const View &view : phase.views)
    if (mlir::succeeded(result))
      result = keep(stageAfterStep(phase.name, view.name), view.print);
  return result;
}

mlir::FailureOr<bool> driver::runPhases(Compilation &work, llvm::ArrayRef<Phase> phases) {
  using Clock = std::chrono::steady_clock;
  const Backend &backend = *findBackend(work.target.backend);
  const llvm::StringRef last = lastWanted(work, backend);
  for (const Phase &phase : phases) {
    const Clock::time_point began = Clock::now();
    const mlir::FailureOr<bool> isDone = runOne(work, phase);
    if (mlir::failed(isDone))
      return mlir::failure();
    if (*isDone)
      work.result.times.push_back(
          {phase.name, std::chrono::duration<double, std::micro>(Clock::now() - began).count()});
    if (mlir::failed(keepText(work, phase)) || mlir::failed(estimate(work, backend)))
      return mlir::failure();
    if (phase.name == last)
      return false;
    work.publishRemarks();
    support::exitIfCancelled();
  }
  return true;
}

/// The number of phases up to and including "ttir".
static size_t countUntilTtir(llvm::ArrayRef<Phase> phases) {
  return llvm::find_if(phases, [](const Phase &phase) { return llvm::StringRef(phase.name) == "ttir"; }) -
         phases.begin() + 1;
}

llvm::ArrayRef<Phase> Backend::untilTtir() const { return llvm::ArrayRef(phases).take_front(countUntilTtir(phases)); }
llvm::ArrayRef<Phase> Backend::afterTtir() const { return llvm::ArrayRef(phases).drop_front(countUntilTtir(phases)); }

std::vector<std::string> Backend::stages() const {
  std::vector<std::string> names;
  for (const Phase &phase : phases)
    names.push_back(phase.name);
  names.insert(names.end(), extras.begin(), extras.end());
  return names;
}

std::vector<std::string> Backend::stepStages() const {
  std::vector<std::string> names;
  for (const Phase &phase : phases)
    for (const char *step : phase.steps)
      names.push_back(stageAfterStep(phase.name, step));
  for (const Phase &phase : phases)
    for (const View &view : phase.views)
      names.push_back(stageAfterStep(phase.name, view.name));
  return names;
}

std::vector<std::string> Backend::replaceable() const {
  std::vector<std::string> names;
  for (const Phase &phase : phases)
    if (phase.parse)
      names.push_back(phase.name);
  return names;
}

bool driver::isTtg(mlir::ModuleOp module) { return module->hasAttr(ttg::kNumWarps); }

mlir::LogicalResult driver::makeTtir(Compilation &work) {
  mlir::PassManager passes(work.module.getContext());
  passes.enableVerifier(false); // the loop of phases verifies
  if (isTtg(work.module))
    gluon::buildPipeline(passes);
  else
    findBackend(work.target.backend)->addTtirPasses(passes, work);
  return passes.run(work.module);
}

mlir::LogicalResult driver::parseTtir(Compilation &work, const Request::Replacement &text) {
  return mlir::success(mlir::succeeded(makeTtir(work)) && mlir::succeeded(parseModule(work, text)));
}

mlir::FailureOr<std::string> driver::printTtir(Compilation &work) { return printModule(work.module); }

mlir::LogicalResult driver::parseModule(Compilation &work, const Request::Replacement &text) {
  work.written = readReplacement(text, work.kernel, work.diagnostics);
  if (!work.written)
    return mlir::failure();
  work.module = *work.written;
  work.kernel = kernelOf(work.module, work.diagnostics);
  if (const std::string &entry = work.result.artifact.entry; !entry.empty()) // a stage after "ttir" has the chosen name
    work.kernel.setSymName(entry);
  return mlir::success();
}

void driver::describeWrites(Compilation &work) {
  const llvm::SmallBitVector written = analysis::writtenArguments(work.kernel);
  for (auto [index, parameter] : llvm::enumerate(work.result.artifact.parameters))
    parameter.isWritten = index >= written.size() || written[index];
}
