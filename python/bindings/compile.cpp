// `compile`: from a function and its signature to a kernel, through the cache on disk.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Cancellation.h"
#include "compiler/support/MemoryReserve.h"
#include "python/bindings/CompiledData.h"
#include "python/bindings/ContextPool.h"
#include "python/bindings/IrModule.h"
#include "python/bindings/PyDiagnostics.h"
#include "python/bindings/Request.h"
#include "python/bindings/Signals.h"
#include "python/bindings/StackRoom.h"
#include "python/bindings/StoreQueue.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <chrono>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

using namespace nereid;
using namespace nereid::python;

static std::optional<std::string> bytesOf(const std::optional<Path> &path) {
  return path ? std::optional(path->bytes) : std::nullopt;
}

/// With `always_compile` the cache is only written.
static std::optional<std::string> readable(const std::optional<std::string> &cacheDir, nb::dict options) {
  return flagOf(options, "always_compile", false) ? std::nullopt : cacheDir;
}

static std::shared_ptr<CompiledData> fromCache(const std::optional<std::string> &dir, const std::string &key) {
  if (!dir)
    return nullptr;
  std::shared_ptr<const artifact::Artifact> found = StoreQueue::instance().find(*dir, key);
  if (!found) {
    GilRelease release;
    if (auto loaded = diskCache().load(*dir, key))
      found = std::make_shared<const artifact::Artifact>(std::move(*loaded));
  }
  if (!found)
    return nullptr;
  return std::make_shared<CompiledData>(std::move(found), std::vector<driver::PhaseTime>(), /*cacheHit=*/true);
}

/// The user's own cache: `lookup(key)` returns the bytes of an artifact, or None.
static std::shared_ptr<CompiledData> fromLookup(const nb::object &lookup, const std::string &key) {
  if (lookup.is_none())
    return nullptr;
  const nb::object bytes = lookup(textOf(key));
  if (!nb::isinstance<nb::bytes>(bytes))
    return nullptr;
  const auto data = nb::cast<nb::bytes>(bytes);
  auto artifact = artifact::deserialize({data.c_str(), data.size()});
  if (!artifact || artifact->hash != key)
    return nullptr;
  return std::make_shared<CompiledData>(std::make_shared<const artifact::Artifact>(std::move(*artifact)),
                                        std::vector<driver::PhaseTime>(), /*cacheHit=*/true);
}

static std::shared_ptr<CompiledData> finished(driver::Result result, const std::optional<std::string> &cacheDir) {
  auto artifact = std::make_shared<const artifact::Artifact>(std::move(result.artifact));
  if (cacheDir)
    StoreQueue::instance().add(*cacheDir, artifact);
  return std::make_shared<CompiledData>(std::move(artifact), std::move(result.times), /*cacheHit=*/false);
}

/// Sets the request's tools and the user's replacement stage; returns the text that identifies both in the key.
static std::string addInputs(driver::Request &request, const support::Options &compiled, nb::dict options) {
  const NativeTools tools = toolsOf(options);
  request.tools = {tools.ptxas, tools.nvJitLink, tools.secondsLimit};
  request.replacement = replacementOf(compiled);
  std::string key = tools.key.empty() ? "" : "\ntools " + tools.key;
  if (request.replacement)
    key += "\n" + request.replacement->stage + " " + request.replacement->text;
  return key;
}

/// Runs all phases after sema, without using Python.
static std::optional<driver::Result> finish(mlir::ModuleOp module, const support::Options &options,
                                            const support::TargetSpec &target, const driver::Request &request,
                                            support::DiagnosticEngine &diagnostics) {
  GilRelease release;
  return driver::back(module, options, target, request, diagnostics);
}

/// After a failure inside LLVM, or an interrupt, its context is discarded: the state is unknown.
static void discardAfterInternalError(const support::DiagnosticEngine &diagnostics, ContextPool::Lease &context,
                                      mlir::OwningOpRef<mlir::ModuleOp> &module) {
  if (driver::isCancelled(diagnostics)) {
    (void)module.release();
    context.discard();
  }
  if (PyErr_Occurred()) // raised by the signal
    throw nb::python_error();
}

static double microsecondsSince(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count();
}

static std::shared_ptr<CompiledData> compileKernel(Compilation &compilation, driver::Request request,
                                                   const std::optional<std::string> &cacheDir) {
  const auto began = std::chrono::steady_clock::now();
  support::DiagnosticEngine diagnostics;
  ContextPool::Lease context(ContextPool::instance());
  auto module = driver::front(*context, compilation.request, compilation.host, diagnostics);
  compilation.host.raiseInterrupt();
  if (!module)
    raiseDiagnostics(diagnostics, &compilation.host);
  const driver::PhaseTime sema{"sema", microsecondsSince(began)};
  request.sources = compilation.host.sourceFiles();
  request.makeSource = [&] {
    GilAcquire acquire;
    support::DiagnosticEngine ignored; // it has succeeded before
    const auto again = driver::front(*context, compilation.request, compilation.host, ignored);
    return again ? driver::printModule(*again) : std::string();
  };
  request.showRemarks = [&](const support::DiagnosticEngine &remarks) {
    const GilAcquire acquire;
    showRemarks(remarks, &compilation.host);
  };
  auto result = finish(*module, compilation.request.options, compilation.request.target, request, diagnostics);
  if (!result) {
    discardAfterInternalError(diagnostics, context, module);
    raiseDiagnostics(diagnostics, &compilation.host);
  }
  if (PyErr_Occurred()) // a signal that arrived as the work ended
    throw nb::python_error();
  result->times.insert(result->times.begin(), sema);
  showWarnings(diagnostics, &compilation.host);
  return finished(std::move(*result), cacheDir);
}

static std::shared_ptr<CompiledData> compile(nb::handle function, nb::dict signature, nb::dict constants,
                                             nb::dict attributes, nb::handle target, nb::dict options,
                                             const std::optional<Path> &cacheFolder, const std::string &name,
                                             nb::object lookup) {
  const std::optional<std::string> cacheDir = bytesOf(cacheFolder);
  const support::MemoryReserve reserve;
  Compilation compilation({function, signature, constants, attributes, target, options, name});
  driver::Request request;
  request.keep = {"ttir"};
  request.isCancelRequested = signalCheck();
  const std::string inputs = addInputs(request, compilation.request.options, options);
  request.key = driver::cacheKey(compilation.request, compilation.sourceKey + inputs, compilation.signature);
  request.signature = compilation.signature;
  request.parameters = compilation.parameters;
  std::shared_ptr<CompiledData> data = fromCache(readable(cacheDir, options), request.key);
  if (!data)
    data = fromLookup(lookup, request.key);
  if (!data)
    data = compileKernel(compilation, std::move(request), cacheDir);
  warnOfCache();
  return data;
}

static std::shared_ptr<CompiledData> compileIr(const std::string &text, const Path &file, const std::string &kind,
                                               nb::handle target, nb::dict options,
                                               const std::optional<Path> &cacheFolder, nb::object lookup) {
  const std::string &path = file.bytes;
  const std::optional<std::string> cacheDir = bytesOf(cacheFolder);
  if (kind != "ttir" && kind != "ttgir")
    raise(PyExc_ValueError, "cannot compile from `" + kind + "`; only from `ttir` and `ttgir`");
  const support::MemoryReserve reserve;
  sema::KernelRequest described; // no function: options and target, for the key
  described.options = optionsOf(options);
  described.target = targetOf(target);
  if (!llvm::is_contained(driver::stageNames(described.target.backend), kind))
    raise(PyExc_ValueError,
          path + ": target `" + described.target.backend + "` compiles from .ttir, not from ." + kind);
  driver::Request request;
  request.keep = {"ttir"};
  request.isCancelRequested = signalCheck();
  const std::string inputs = addInputs(request, described.options, options);
  if (request.replacement && kind == "ttgir")
    raise(PyExc_ValueError, path + ": a kernel that begins as .ttgir takes no `ir_override`; write its text there");
  request.key = driver::cacheKey(described, text + inputs, kind);
  if (auto data = fromCache(readable(cacheDir, options), request.key))
    return data;
  if (auto data = fromLookup(lookup, request.key))
    return data;

  support::DiagnosticEngine diagnostics;
  ContextPool::Lease context(ContextPool::instance());
  auto module = driver::parse(*context, text, path, diagnostics);
  request.sources = {std::make_shared<support::SourceFile>(path, text)};
  request.makeSource = [&] { return text; };
  if (module && kind == "ttgir") {
    request.replacement = driver::Request::Replacement{kind, text, path};
    module = driver::declarationOf(*module, diagnostics);
    request.makeSource = [declared = module ? driver::printModule(*module) : std::string()] { return declared; };
  }
  auto result = module ? finish(*module, described.options, described.target, request, diagnostics) : std::nullopt;
  if (!result) {
    discardAfterInternalError(diagnostics, context, module);
    raiseDiagnostics(diagnostics, nullptr);
  }
  if (kind == "ttgir") // the target has no such stage
    llvm::erase_if(result->artifact.stages, [](const artifact::Stage &stage) { return stage.name == "ttir"; });
  if (PyErr_Occurred())
    throw nb::python_error();
  showWarnings(diagnostics, nullptr);
  auto data = finished(std::move(*result), cacheDir);
  warnOfCache();
  return data;
}

static std::shared_ptr<IrModule> makeIr(nb::handle function, nb::dict signature, nb::dict constants,
                                        nb::dict attributes, nb::handle target, nb::dict options,
                                        std::shared_ptr<IrContext> context) {
  Compilation compilation({function, signature, constants, attributes, target, options, "", /*takesAnyTarget=*/true});
  support::DiagnosticEngine diagnostics;
  auto module = driver::front(context->context(), compilation.request, compilation.host, diagnostics);
  compilation.host.raiseInterrupt();
  if (!module)
    raiseDiagnostics(diagnostics, &compilation.host);
  return std::make_shared<IrModule>(std::move(context), std::move(module));
}

void nereid::python::bindCompile(nb::module_ &module) {
  bindCompiledData(module);
  module.def("compile", &WithStackRoom<compile>::call, nb::arg("fn"), nb::arg("signature"), nb::arg("constexprs"),
             nb::arg("attrs"), nb::arg("target"), nb::arg("options"), nb::arg("cache_dir").none(), nb::arg("name"),
             nb::arg("lookup") = nb::none(), "Compiles a function for the types and constants of its parameters.");
  module.def("compile_ir", &WithStackRoom<compileIr>::call, nb::arg("text"), nb::arg("path"), nb::arg("kind"),
             nb::arg("target"), nb::arg("options"), nb::arg("cache_dir").none(), nb::arg("lookup") = nb::none(),
             "Compiles a module of IR.");
  module.def("make_ir", &WithStackRoom<makeIr>::call, nb::arg("fn"), nb::arg("signature"), nb::arg("constexprs"),
             nb::arg("attrs"), nb::arg("target"), nb::arg("options"), nb::arg("context"),
             "A function's IR as the front end emits it, before any pass.");
}
