// Implements the C++ API: compiles, caches, loads and launches in one class.
// SPDX-License-Identifier: MIT
#include <nereid/Kernel.h>

#include "compiler/driver/Cancellation.h"
#include "compiler/driver/Compiler.h"
#include "compiler/support/Sanitizers.h"
#include "jit/DiskCache.h"
#include "jit/Packing.h"
#include "jit/SourceKernel.h"
#include "runtime/Device.h"
#include "runtime/MemoryExtent.h"

#include "llvm/Support/FormatVariadic.h"

using namespace nereid;
using namespace nereid::jit;

struct Kernel::Impl {
  runtime::Device *device;
  std::shared_ptr<runtime::Kernel> loaded;
  std::vector<PackedParam> params; ///< one per run-time parameter
};

Kernel Kernel::compile(const std::string &path, const std::string &kernel, const std::string &signature,
                       const Options &options, std::string &problem) {
  auto [backend, arch] = llvm::StringRef(options.target).split(':');
  auto target = driver::resolveTarget(backend.str(), arch.str(), problem);
  if (!target)
    return Kernel(nullptr);
  support::Options compilation;
  compilation.enableFpFusion = options.enableFpFusion;
  const auto sanitizers = support::parseSanitizers(options.sanitize, problem);
  if (!sanitizers)
    return Kernel(nullptr);
  compilation.sanitize = *sanitizers;
  support::DiagnosticEngine diagnostics;
  auto source = jit::readSourceKernel(path, kernel, signature, compilation, *target, diagnostics);
  if (!source) {
    problem = diagnostics.render();
    return Kernel(nullptr);
  }
  driver::Request request;
  request.signature = source->signature;
  request.sources = source->sources;
  request.key = driver::cacheKey(source->request, source->sourceKey, source->signature);
  jit::DiskCache cache;
  std::optional<artifact::Artifact> compiled;
  if (!options.cacheDir.empty())
    compiled = cache.load(options.cacheDir, request.key);
  if (!compiled) {
    std::unique_ptr<mlir::MLIRContext> context = driver::createContext();
    auto result = driver::compile(*context, source->request, *source->host, request, diagnostics);
    if (!result) {
      driver::releaseIfCancelled(context, diagnostics);
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
  return Kernel(std::make_shared<const Impl>(Impl{*device, *loaded, packedParamsOf((*loaded)->artifact())}));
}

const std::string &Kernel::name() const { return impl->loaded->artifact().name; }

std::string Kernel::findStage(const std::string &name, std::string &problem) const {
  support::DiagnosticEngine diagnostics;
  if (auto text = driver::stage(impl->loaded->artifact(), name, diagnostics))
    return *text;
  problem =
      diagnostics.hasErrors() ? diagnostics.render() : "kernel `" + this->name() + "` has no stage `" + name + "`";
  return "";
}

/// The form of an argument that packing takes. A template: the C++ API's type of an argument is private to it.
template <typename Value> static ArgumentLeaf leafOf(const Value &value) {
  using Kind = decltype(value.kind);
  ArgumentLeaf leaf;
  if (value.kind == Kind::Float)
    leaf.number = value.number;
  else
    leaf.bits = value.bits;
  switch (value.kind) {
  case Kind::None:
    break;
  case Kind::Pointer:
  case Kind::ConstPointer:
    leaf.kind = ArgumentLeaf::Kind::Address;
    leaf.isReadOnly = value.kind == Kind::ConstPointer;
    break;
  case Kind::Bool:
    leaf.kind = ArgumentLeaf::Kind::Bool;
    break;
  case Kind::Signed:
    leaf.kind = ArgumentLeaf::Kind::Int;
    break;
  case Kind::Unsigned:
    leaf.kind = ArgumentLeaf::Kind::UInt;
    break;
  case Kind::Float:
    leaf.kind = ArgumentLeaf::Kind::Float;
    break;
  }
  return leaf;
}

/// Properties of the memory that an argument points to. A template as above.
template <typename Value> static runtime::MemoryExtent extentOf(const Value &value) {
  runtime::MemoryExtent extent;
  extent.base = value.bits;
  extent.high = static_cast<int64_t>(value.bytes);
  extent.isKnown = value.isSpan;
  return extent;
}

static void append(std::vector<char> &block, const runtime::MemoryExtent &extent) {
  const auto *bytes = reinterpret_cast<const char *>(&extent);
  block.insert(block.end(), bytes, bytes + sizeof extent);
}

/// The argument in a message.
static std::string textOf(const ArgumentLeaf &leaf) {
  switch (leaf.kind) {
  case ArgumentLeaf::Kind::None:
    return "nothing";
  case ArgumentLeaf::Kind::Address:
    return leaf.isReadOnly ? "pointer to const" : "a pointer";
  case ArgumentLeaf::Kind::Bool:
    return leaf.bits ? "true" : "false";
  case ArgumentLeaf::Kind::Int:
    return std::to_string(leaf.integer);
  case ArgumentLeaf::Kind::UInt:
    return std::to_string(leaf.bits);
  case ArgumentLeaf::Kind::Float:
    return llvm::formatv("{0}", leaf.number);
  }
  return "";
}

std::string Kernel::launchValues(nereid::Grid grid, void *stream, const Value *values, size_t count) const {
  const artifact::Artifact &artifact = impl->loaded->artifact();
  if (count != artifact.parameters.size())
    return "kernel `" + name() + "` takes " + std::to_string(artifact.parameters.size()) + " run-time arguments, but " +
           std::to_string(count) + " are given";
  std::vector<char> block(artifact::packedBytes(artifact));
  for (size_t i = 0; i < count; ++i) {
    const ArgumentLeaf leaf = leafOf(values[i]);
    const PackResult result = pack(impl->params[i], leaf, block.data());
    if (result != PackResult::Packed)
      return packProblem(result, artifact, i, textOf(leaf)) + " in a launch of `" + name() + "`";
  }
  if (runtime::checksMemory(artifact))
    for (size_t i = 0; i < count; ++i)
      append(block, extentOf(values[i]));
  auto done = impl->device->launch(*impl->loaded, {grid.x, grid.y, grid.z}, stream, block);
  return done ? "" : done.error().text;
}
