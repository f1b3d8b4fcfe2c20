// `compile`: from a function and its signature to a kernel, through the cache on disk.
// SPDX-License-Identifier: MIT
#include "compiler/support/MemoryReserve.h"
#include "jit/Packs.h"
#include "python/bindings/CompiledData.h"
#include "python/bindings/IrModule.h"
#include "python/bindings/LaunchEstimate.h"
#include "python/bindings/PyDiagnostics.h"
#include "python/bindings/Request.h"
#include "python/bindings/Signals.h"
#include "python/bindings/StackRoom.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

using namespace nereid;
using namespace nereid::python;

static constexpr jit::HostLock gil{
    [](llvm::function_ref<void()> work) {
      const GilRelease release;
      work();
    },
    [](llvm::function_ref<void()> work) {
      const GilAcquire acquire;
      work();
    },
};

/// The user's own cache: `lookup(key)` returns the bytes of an artifact, or None.
static std::optional<jit::Compiled> fromLookup(const nb::object &lookup, const std::string &key) {
  if (lookup.is_none())
    return std::nullopt;
  const nb::object bytes = lookup(textOf(key));
  if (!nb::isinstance<nb::bytes>(bytes))
    return std::nullopt;
  const auto data = nb::cast<nb::bytes>(bytes);
  auto artifact = artifact::deserialize({data.c_str(), data.size()});
  if (!artifact || artifact->hash != key)
    return std::nullopt;
  return jit::Compiled{std::make_shared<const artifact::Artifact>(std::move(*artifact)), {}, /*isFromCache=*/true};
}

/// `host` is null where no Python function is compiled.
static jit::Compiled build(const jit::Session &session, jit::Job &job, PyHost *host) {
  support::DiagnosticEngine diagnostics;
  job.request.isCancelRequested = [host, hasSignal = signalCheck()] {
    return (host && host->isInterrupted()) || (hasSignal && hasSignal());
  };
  if (host)
    job.request.showRemarks = [&](const support::DiagnosticEngine &remarks) {
      const GilAcquire acquire;
      showRemarks(remarks, host);
    };
  auto compiled = session.build(job, diagnostics);
  if (host)
    host->raiseInterrupt();
  if (PyErr_Occurred()) // raised by a signal
    throw nb::python_error();
  if (!compiled)
    raiseDiagnostics(diagnostics, host);
  showWarnings(diagnostics, host);
  return std::move(*compiled);
}

/// Where processes that share a cache of the user's own wait for each other; empty for the cache on disk.
static std::string lockFolderOf(nb::dict options) {
  const nb::object folder = nb::borrow(PyDict_GetItemString(options.ptr(), "lock_dir"));
  return folder.is_valid() && !folder.is_none() ? pathOf(folder) : "";
}

static std::shared_ptr<CompiledData> compileJob(jit::Job &job, PyHost *host, nb::dict options,
                                                const std::optional<Path> &cacheFolder, const nb::object &lookup) {
  job.request.keep = {"ttir"};
  readTools(job, options);
  const jit::Session session{
      .cacheDir = cacheFolder ? cacheFolder->bytes : "",
      .lockDir = lockFolderOf(options),
      .findStored = [&](jit::Job &wanted) { return fromLookup(lookup, jit::Session::keyOf(wanted)); },
      .readsCache = !flagOf(options, "always_compile", false),
      .storesLater = true,
      .lock = &gil};
  std::optional<jit::Compiled> compiled = session.find(job);
  if (!compiled)
    compiled = fromLookup(lookup, session.keyOf(job));
  if (!compiled)
    compiled = build(session, job, host);
  warnOfCache();
  compiled->packKey = jit::packKeyOf(job);
  return std::make_shared<CompiledData>(std::move(*compiled));
}

static std::shared_ptr<CompiledData> compile(nb::handle function, nb::dict signature, nb::dict constants,
                                             nb::dict attributes, nb::handle target, nb::dict options,
                                             const std::optional<Path> &cacheFolder, const std::string &name,
                                             nb::object lookup, nb::object launch) {
  const support::MemoryReserve reserve;
  Compilation compilation({function, signature, constants, attributes, target, options, name});
  compilation.job.request.launch = launchShapeOf(launch);
  return compileJob(compilation.job, &compilation.host, options, cacheFolder, lookup);
}

static std::shared_ptr<CompiledData> compileIr(const std::string &text, const Path &file, const std::string &kind,
                                               nb::handle target, nb::dict options,
                                               const std::optional<Path> &cacheFolder, nb::object lookup) {
  if (kind != "ttir" && kind != "ttgir")
    raise(PyExc_ValueError, "cannot compile from `" + kind + "`; only from `ttir` and `ttgir`");
  const support::MemoryReserve reserve;
  jit::Job job;
  job.kernel.options = optionsOf(options);
  job.kernel.target = targetOf(target);
  job.request.replacement = replacementOf(job.kernel.options);
  job.ir = jit::IrText{kind, text, file.bytes};
  if (const std::string problem = jit::irProblem(job); !problem.empty())
    raise(PyExc_ValueError, problem);
  return compileJob(job, nullptr, options, cacheFolder, lookup);
}

/// Compiles as far as the estimate needs; no cache sees it.
static nb::object estimate(nb::handle function, nb::dict signature, nb::dict constants, nb::dict attributes,
                           nb::handle target, nb::dict options, const std::string &name, nb::object launch) {
  const support::MemoryReserve reserve;
  Compilation compilation({function, signature, constants, attributes, target, options, name});
  compilation.job.request.launch = launchShapeOf(launch);
  compilation.job.request.keepsBinary = false;
  const jit::Session session{.lock = &gil};
  return dictOf(build(session, compilation.job, &compilation.host).estimate);
}

static std::shared_ptr<IrModule> makeIr(nb::handle function, nb::dict signature, nb::dict constants,
                                        nb::dict attributes, nb::handle target, nb::dict options,
                                        std::shared_ptr<IrContext> context) {
  Compilation compilation({function, signature, constants, attributes, target, options, "", /*takesAnyTarget=*/true});
  support::DiagnosticEngine diagnostics;
  auto module = driver::front(context->context(), compilation.job.kernel, compilation.host, diagnostics);
  compilation.host.raiseInterrupt();
  if (!module)
    raiseDiagnostics(diagnostics, &compilation.host);
  return std::make_shared<IrModule>(std::move(context), std::move(module));
}

void nereid::python::bindCompile(nb::module_ &module) {
  bindCompiledData(module);
  module.def(
      "compile", &WithStackRoom<compile>::call, nb::arg("fn"), nb::arg("signature"), nb::arg("constexprs"),
      nb::arg("attrs"), nb::arg("target"), nb::arg("options"), nb::arg("cache_dir").none(), nb::arg("name"),
      nb::arg("lookup") = nb::none(), nb::arg("launch") = nb::none(),
      "Compiles a function for the types and constants of its parameters. `launch`, if given, is what is known of "
      "the launch: ((x, y, z), {position: integer}, bytes of all arrays, multiprocessors, bytes a second of memory).");
  module.def("estimate", &WithStackRoom<estimate>::call, nb::arg("fn"), nb::arg("signature"), nb::arg("constexprs"),
             nb::arg("attrs"), nb::arg("target"), nb::arg("options"), nb::arg("name"), nb::arg("launch"),
             "What a launch would cost, as far as the target has a model of it; else None. Generates no code.");
  module.def("compile_ir", &WithStackRoom<compileIr>::call, nb::arg("text"), nb::arg("path"), nb::arg("kind"),
             nb::arg("target"), nb::arg("options"), nb::arg("cache_dir").none(), nb::arg("lookup") = nb::none(),
             "Compiles a module of IR.");
  module.def("make_ir", &WithStackRoom<makeIr>::call, nb::arg("fn"), nb::arg("signature"), nb::arg("constexprs"),
             nb::arg("attrs"), nb::arg("target"), nb::arg("options"), nb::arg("context"),
             "A function's IR as the front end emits it, before any pass.");
}
