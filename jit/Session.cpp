// Runs the steps of a compilation in order: key, cache, front end, back end, cache.
// SPDX-License-Identifier: MIT
#include "jit/Session.h"

#include "compiler/driver/Cancellation.h"
#include "compiler/driver/Parameters.h"
#include "compiler/support/ForkGate.h"
#include "compiler/support/StackRoom.h"
#include "jit/CompileLock.h"
#include "jit/ContextPool.h"
#include "jit/DiskCache.h"
#include "jit/Packs.h"
#include "jit/StoreQueue.h"

#include <chrono>

using namespace nereid;
using namespace nereid::jit;

const std::string &Session::keyOf(Job &job) {
  driver::Request &request = job.request;
  if (!request.key.empty())
    return request.key;
  std::string inputs = job.toolsKey.empty() ? "" : "\ntools " + job.toolsKey;
  if (const auto &text = request.replacement)
    inputs += "\n" + text->stage + " " + text->text;
  request.key = job.ir ? driver::cacheKey(job.kernel, job.ir->text + inputs, job.ir->kind)
                       : driver::cacheKey(job.kernel, job.sourceKey + inputs, request.signature);
  return request.key;
}

std::string jit::irProblem(const Job &job) {
  const auto &[kind, text, path] = *job.ir;
  const std::string &backend = job.kernel.target.backend;
  if (!llvm::is_contained(driver::stageNames(backend), kind))
    return path + ": target `" + backend + "` compiles from .ttir, not from ." + kind;
  if (job.request.replacement && kind == "ttgir")
    return path + ": a kernel that begins as .ttgir takes no `ir_override`; write its text there";
  return "";
}

//--- The cache ---------------------------------------------------------------------------------

std::optional<Compiled> Session::find(Job &job) const {
  if (!readsCache)
    return std::nullopt;
  std::shared_ptr<const artifact::Artifact> artifact = Packs::process().find(job);
  if (artifact || cacheDir.empty())
    return artifact ? std::optional(Compiled{std::move(artifact), {}, /*isFromCache=*/true}) : std::nullopt;
  const std::string &key = keyOf(job);
  withoutLock([&] {
    if (auto loaded = processCache().load(cacheDir, key))
      artifact = std::make_shared<const artifact::Artifact>(std::move(*loaded));
  });
  return artifact ? std::optional(Compiled{std::move(artifact), {}, /*isFromCache=*/true}) : std::nullopt;
}

static void store(const Session &session, const artifact::Artifact &artifact) {
  if (session.storesLater)
    StoreQueue::instance().add(session.cacheDir, artifact);
  else
    processCache().store(session.cacheDir, artifact.hash, artifact);
}

bool Session::waitForOther(Job &job, std::unique_ptr<CompileLock> &compileLock, std::optional<Compiled> &other) const {
  const std::string &folder = cacheDir.empty() ? lockDir : cacheDir;
  if (folder.empty() || !readsCache)
    return true;
  using Outcome = CompileLock::Outcome;
  Outcome outcome = Outcome::None;
  withoutLock([&] {
    outcome = CompileLock::take(folder, keyOf(job), {.isCancelled = job.request.isCancelRequested}, compileLock);
  });
  // An owner, too: another may have stored the kernel between the caller's search and this lock.
  if (outcome == Outcome::Owned || outcome == Outcome::Released)
    other = find(job);
  if (!other && cacheDir.empty() && findStored && (outcome == Outcome::Owned || outcome == Outcome::Released))
    other = findStored(job);
  return outcome != Outcome::Cancelled;
}

//--- The compiler ------------------------------------------------------------------------------

using Module = mlir::OwningOpRef<mlir::ModuleOp>;

static Module moduleOf(const IrText &ir, mlir::MLIRContext &context, driver::Request &request,
                       support::DiagnosticEngine &diagnostics) {
  Module module = driver::parse(context, ir.text, ir.path, diagnostics);
  request.sources = {std::make_shared<support::SourceFile>(ir.path, ir.text)};
  request.makeSource = [&ir] { return ir.text; };
  if (!module || ir.kind == "ttir")
    return module;
  request.replacement = driver::Request::Replacement{ir.kind, ir.text, ir.path};
  module = driver::declarationOf(*module, diagnostics);
  request.makeSource = [declared = module ? driver::printModule(*module) : std::string()] { return declared; };
  return module;
}

static Module moduleOf(const Job &job, const HostLock *lock, mlir::MLIRContext &context, driver::Request &request,
                       support::DiagnosticEngine &diagnostics) {
  Module module = driver::front(context, job.kernel, *job.host, diagnostics);
  if (!module)
    return module;
  if (request.parameters.empty())
    request.parameters = driver::allParametersOf(job.kernel);
  if (job.readSources)
    request.sources = job.readSources();
  request.makeSource = [&job, &context, lock] {
    std::string text;
    const auto make = [&] {
      support::DiagnosticEngine ignored; // it has succeeded before
      if (const Module again = driver::front(context, job.kernel, *job.host, ignored))
        text = driver::printModule(*again);
    };
    lock ? lock->with(make) : make();
    return text;
  };
  return module;
}

static std::optional<driver::Result> run(const Job &job, const HostLock *lock, support::DiagnosticEngine &diagnostics) {
  const auto began = std::chrono::steady_clock::now();
  ContextPool::Lease context(ContextPool::instance());
  driver::Request request = job.request;
  Module module =
      job.ir ? moduleOf(*job.ir, *context, request, diagnostics) : moduleOf(job, lock, *context, request, diagnostics);
  const std::chrono::duration<double, std::micro> front = std::chrono::steady_clock::now() - began;
  std::optional<driver::Result> result;
  const auto finish = [&] {
    result = driver::back(*module, job.kernel.options, job.kernel.target, request, diagnostics);
  };
  const bool isStopped = request.isCancelRequested && request.isCancelRequested();
  if (module && !isStopped)
    lock ? lock->without(finish) : finish();
  if (driver::isCancelled(diagnostics)) { // the state inside LLVM is unknown
    (void)module.release();
    context.discard();
  }
  if (result && !job.ir)
    result->times.insert(result->times.begin(), {"sema", front.count()});
  if (result && job.ir && job.ir->kind != "ttir") // the kernel has no such stage
    llvm::erase_if(result->artifact.stages, [](const artifact::Stage &stage) { return stage.name == "ttir"; });
  return result;
}

void Session::withoutLock(llvm::function_ref<void()> work) const { lock ? lock->without(work) : work(); }

std::optional<Compiled> Session::build(Job &job, support::DiagnosticEngine &diagnostics) const {
  keyOf(job);
  std::unique_ptr<CompileLock> compileLock; // until the result is stored
  std::optional<Compiled> other;
  if (!waitForOther(job, compileLock, other) || other)
    return other;
  std::optional<driver::Result> result;
  if (lock) {
    result = run(job, lock, diagnostics); // the caller has room on its stack
  } else {
    support::runWithStackRoom([&] {
      const support::ForkGate gate; // this host takes no lock that another thread could hold at a fork
      result = run(job, lock, diagnostics);
    });
  }
  if (!result)
    return std::nullopt;
  auto artifact = std::make_shared<const artifact::Artifact>(std::move(result->artifact));
  if (!cacheDir.empty())
    withoutLock([&] { store(*this, *artifact); });
  Compiled built{std::move(artifact), std::move(result->times), /*isFromCache=*/false, std::move(result->estimate)};
  if (cacheDir.empty())
    built.lock = std::move(compileLock);
  return built;
}

std::optional<Compiled> Session::compile(Job &job, support::DiagnosticEngine &diagnostics) const {
  if (auto cached = find(job))
    return cached;
  return build(job, diagnostics);
}

//--- The device --------------------------------------------------------------------------------

artifact::Expected<LoadedKernel> jit::load(const artifact::Artifact &artifact, int ordinal) {
  auto device = runtime::deviceFor(artifact.target, ordinal);
  if (!device)
    return device.error();
  auto kernel = (*device)->load(artifact);
  if (!kernel)
    return kernel.error();
  return LoadedKernel{*device, std::move(*kernel), packedParamsOf(artifact)};
}
