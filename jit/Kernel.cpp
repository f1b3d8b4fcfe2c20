// The C++ API: compile, cache, load and launch behind one class.
// SPDX-License-Identifier: MIT
#include <nereid/Kernel.h>

#include "compiler/driver/Compiler.h"
#include "jit/DiskCache.h"
#include "jit/SourceKernel.h"
#include "runtime/Device.h"

#include <cstring>

using namespace nereid;

struct Kernel::Impl {
  runtime::Device *device;
  std::shared_ptr<runtime::Kernel> loaded;
};

Kernel Kernel::compile(const std::string &path, const std::string &kernel, const std::string &signature,
                       const Options &options, std::string &problem) {
  auto [backend, arch] = llvm::StringRef(options.target).split(':');
  auto target = driver::resolveTarget(backend.str(), arch.str(), problem);
  if (!target)
    return Kernel(nullptr);
  support::Options compilation;
  compilation.enableFpFusion = options.enableFpFusion;
  support::DiagnosticEngine diagnostics;
  auto source = jit::readSourceKernel(path, kernel, signature, compilation, *target, diagnostics);
  if (!source) {
    problem = diagnostics.render();
    return Kernel(nullptr);
  }
  driver::Request request;
  request.signature = source->signature;
  request.key = driver::cacheKey(source->request, source->sourceKey, source->signature);
  jit::DiskCache cache;
  std::optional<artifact::Artifact> compiled;
  if (!options.cacheDir.empty())
    compiled = cache.load(options.cacheDir, request.key);
  if (!compiled) {
    std::unique_ptr<mlir::MLIRContext> context = driver::createContext();
    auto result = driver::compile(*context, source->request, *source->host, request, diagnostics);
    if (!result) {
      problem = diagnostics.render();
      return Kernel(nullptr);
    }
    compiled = std::move(result->artifact);
    if (!options.cacheDir.empty())
      cache.store(options.cacheDir, request.key, *compiled);
  }
  auto device = runtime::deviceFor(compiled->target, options.device);
  if (!device) {
    problem = device.error().text;
    return Kernel(nullptr);
  }
  auto loaded = (*device)->load(std::move(*compiled));
  if (!loaded) {
    problem = loaded.error().text;
    return Kernel(nullptr);
  }
  return Kernel(std::make_shared<const Impl>(Impl{*device, *loaded}));
}

const std::string &Kernel::name() const { return impl->loaded->artifact().name; }

std::string Kernel::findStage(const std::string &name, std::string &problem) const {
  support::DiagnosticEngine diagnostics;
  if (auto text = driver::stage(impl->loaded->artifact(), name, diagnostics))
    return *text;
  problem = diagnostics.hasErrors() ? diagnostics.render()
                                    : "kernel `" + this->name() + "` has no stage `" + name + "`";
  return "";
}

/// Why `value` cannot be passed for `parameter`; empty where it can.
static std::string mismatch(const artifact::Parameter &parameter, bool isPointer, bool isFloat, bool isDouble) {
  const bool wantsFloat = parameter.kind == artifact::ParameterKind::Float;
  const bool wantsPointer = parameter.kind == artifact::ParameterKind::Pointer;
  if (wantsFloat != isFloat || wantsPointer != isPointer || (wantsFloat && (parameter.size == 8) != isDouble))
    return "argument `" + parameter.name + "` must be of type " + parameter.type;
  return "";
}

std::string Kernel::launchValues(nereid::Grid grid, void *stream, const Value *values, size_t count) const {
  const artifact::Artifact &artifact = impl->loaded->artifact();
  if (count != artifact.parameters.size())
    return "kernel `" + name() + "` takes " + std::to_string(artifact.parameters.size()) +
           " run-time arguments, but " + std::to_string(count) + " are given";
  std::vector<char> packed(artifact::packedBytes(artifact));
  for (size_t i = 0; i < count; ++i) {
    const artifact::Parameter &parameter = artifact.parameters[i];
    const Value &value = values[i];
    const bool isDouble = value.kind == Value::Kind::Float64;
    const std::string wrong = mismatch(parameter, value.kind == Value::Kind::Pointer,
                                       isDouble || value.kind == Value::Kind::Float32, isDouble);
    if (!wrong.empty())
      return wrong + " in a launch of `" + name() + "`";
    std::memcpy(packed.data() + parameter.offset, &value.bits, parameter.size);
  }
  auto done = impl->device->launch(*impl->loaded, {grid.x, grid.y, grid.z}, stream, packed);
  return done ? "" : done.error().text;
}
