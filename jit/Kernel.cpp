// Implements the C++ API: compiles, caches, loads and launches in one class.
// SPDX-License-Identifier: MIT
#include <nereid/Kernel.h>

#include "artifact/Sanitizers.h"
#include "compiler/support/InputFile.h"
#include "jit/FileJob.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace nereid;
using namespace nereid::jit;

struct Kernel::Impl : jit::LoadedKernel {
  /// Null, with the problem, where the device cannot load it.
  static std::shared_ptr<const Impl> load(const artifact::Artifact &artifact, int device, std::string &problem) {
    auto loaded = jit::load(artifact, device);
    if (!loaded)
      return problem = loaded.error().text, nullptr;
    return std::make_shared<const Impl>(Impl{std::move(*loaded)});
  }
};

//--- Options -----------------------------------------------------------------------------------

template <typename Value> static void convert(const Value &value, Value &option, std::string &) { option = value; }
static void convert(const std::string &words, support::SanitizerSet &set, std::string &problem) {
  if (const auto sanitizers = artifact::parseSanitizers(words, problem))
    set = *sanitizers;
}

static support::Options compilerOptions(const KernelOptions &wanted, std::string &problem) {
  support::Options options;
  support::forEachOption([&](const support::OptionRow &, const auto &from, auto &to) { convert(from, to, problem); },
                         wanted, options);
  return options;
}

/// Differs where a tool was replaced by another one of its path.
static std::string keyOfTool(const std::string &path) {
  llvm::sys::fs::file_status status;
  if (path.empty() || llvm::sys::fs::status(path, status))
    return path;
  return llvm::formatv("{0} {1} {2}", path, status.getSize(),
                       status.getLastModificationTime().time_since_epoch().count());
}

//--- Compiling and loading ---------------------------------------------------------------------

static std::optional<Compiled> compileFile(const SourceName &source, const KernelOptions &options,
                                           std::string &problem) {
  auto [backend, arch] = llvm::StringRef(options.target).split(':');
  const auto target = driver::resolveTarget(backend.str(), arch.str(), problem);
  const support::Options compilation = compilerOptions(options, problem);
  if (!target || !problem.empty())
    return std::nullopt;
  support::DiagnosticEngine diagnostics;
  auto file = readJob(source, compilation, *target, diagnostics, problem);
  std::optional<Compiled> compiled;
  if (file) {
    file->job.request.tools = {options.ptxas, options.nvJitLink, options.toolSeconds};
    file->job.toolsKey = keyOfTool(options.ptxas) + keyOfTool(options.nvJitLink);
    compiled = Session{.cacheDir = options.cacheDir}.compile(file->job, diagnostics);
  }
  if (!compiled && problem.empty())
    problem = diagnostics.render();
  return compiled;
}

Kernel Kernel::compile(const std::string &path, const std::string &kernel, const std::string &signature,
                       const Options &options, std::string &problem) {
  const auto compiled = compileFile({path, kernel, signature}, options, problem);
  return Kernel(compiled ? Impl::load(*compiled->artifact, options.device, problem) : nullptr);
}

Kernel Kernel::load(const artifact::Artifact &artifact, int device, std::string &problem) {
  return Kernel(Impl::load(artifact, device, problem));
}

Kernel Kernel::load(const std::string &path, int device, std::string &problem) {
  const auto artifact = readArtifact(path);
  if (!artifact)
    problem = artifact.error().text;
  return artifact ? load(*artifact, device, problem) : Kernel(nullptr);
}

const std::string &Kernel::name() const { return impl->kernel->artifact().name; }

std::string Kernel::findStage(const std::string &name, std::string &problem) const {
  support::DiagnosticEngine diagnostics;
  if (auto text = driver::stage(impl->kernel->artifact(), name, diagnostics))
    return *text;
  problem = diagnostics.hasErrors()
                ? diagnostics.render()
                : driver::noStage("kernel `" + this->name() + "`", impl->kernel->artifact().target.backend, name);
  return "";
}

/// The argument in a message.
static std::string textOf(const ArgumentLeaf &leaf) {
  switch (leaf.kind) {
  case ArgumentLeaf::Kind::None:
    return "nothing";
  case ArgumentLeaf::Kind::Address:
    return leaf.isReadOnly ? "pointer to const" : "pointer";
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

/// "kernel `store` takes 2 run-time arguments, `out` and `value`; 1 is given".
static std::string wrongCount(const artifact::Artifact &artifact, size_t count) {
  const size_t wanted = artifact.parameters.size();
  std::string text = "kernel `" + artifact.name + "` takes " + std::to_string(wanted) + " run-time argument" +
                     (wanted == 1 ? "" : "s");
  for (size_t i = 0; i < wanted; ++i)
    text += (i == 0 || i + 1 < wanted ? ", `" : " and `") + artifact.parameters[i].name + "`";
  return text + "; " + std::to_string(count) + (count == 1 ? " is given" : " are given");
}

static runtime::MemoryExtent extentOf(uint64_t address, uint64_t bytes, bool isKnown) {
  return {.base = address, .high = static_cast<int64_t>(bytes), .isKnown = isKnown};
}

//--- Launching ---------------------------------------------------------------------------------

/// Packs the argument of parameter `index`; returns the error text.
static std::string packArgument(const LoadedKernel &kernel, size_t index, const ArgumentLeaf &leaf, char *block) {
  const PackResult result = pack(kernel.params[index], leaf, block);
  if (result == PackResult::Packed)
    return "";
  const artifact::Artifact &artifact = kernel.kernel->artifact();
  return packProblem(result, artifact, index, textOf(leaf)) + " in a launch of `" + artifact.name + "`";
}

template <typename Value> static ArgumentLeaf leafOf(const Value &value) {
  static_assert(static_cast<int>(Value::Kind::Address) == static_cast<int>(ArgumentLeaf::Kind::Address));
  ArgumentLeaf leaf;
  leaf.kind = static_cast<ArgumentLeaf::Kind>(value.kind); // the same list
  leaf.isReadOnly = value.isReadOnly;
  leaf.bits = value.bits; // a float's, too
  return leaf;
}

static std::string startKernel(const LoadedKernel &kernel, nereid::Grid grid, void *stream,
                               std::span<const char> packed) {
  const auto done = kernel.device->launch(*kernel.kernel, {grid.x, grid.y, grid.z}, stream, packed);
  return done ? "" : done.error().text;
}

std::string Kernel::launchValues(nereid::Grid grid, void *stream, const Value *values, size_t count) const {
  const artifact::Artifact &artifact = impl->kernel->artifact();
  if (count != artifact.parameters.size())
    return wrongCount(artifact, count);
  constexpr size_t kUsualBytes = 512;
  const size_t bytes = artifact::packedBytes(artifact);
  alignas(16) char usual[kUsualBytes] = {};
  std::vector<char> large(bytes > sizeof usual ? bytes : 0);
  char *const block = large.empty() ? usual : large.data();
  for (size_t i = 0; i < count; ++i)
    if (std::string problem = packArgument(*impl, i, leafOf(values[i]), block); !problem.empty())
      return problem;
  const std::span<const char> packed(block, bytes);
  if (!runtime::checksMemory(artifact))
    return startKernel(*impl, grid, stream, packed);
  std::vector<runtime::MemoryExtent> extents;
  for (size_t i = 0; i < count; ++i)
    extents.push_back(extentOf(values[i].bits, values[i].bytes, values[i].isSpan));
  return startKernel(*impl, grid, stream, withExtents(packed, extents));
}

//--- Bound kernels -----------------------------------------------------------------------------

struct BoundKernel::Impl {
  Kernel kernel;
  std::vector<char> block;                    ///< the packed arguments
  std::vector<runtime::MemoryExtent> extents; ///< of a kernel that checks its accesses
};

BoundKernel::BoundKernel(const Kernel &kernel, const Kernel::Value *values, size_t count, std::string &problem)
    : impl(new Impl{kernel, {}, {}}) {
  const artifact::Artifact &artifact = kernel.impl->kernel->artifact();
  impl->block.resize(artifact::packedBytes(artifact));
  impl->extents.resize(runtime::checksMemory(artifact) ? count : 0);
  if (count != artifact.parameters.size())
    problem = wrongCount(artifact, count);
  for (size_t i = 0; i < count && problem.empty(); ++i)
    problem = replace(i, values[i]);
}

BoundKernel::BoundKernel(const BoundKernel &other) : impl(new Impl(*other.impl)) {}
BoundKernel::BoundKernel(BoundKernel &&) noexcept = default;
BoundKernel::~BoundKernel() = default;

BoundKernel &BoundKernel::operator=(BoundKernel other) noexcept {
  impl = std::move(other.impl);
  return *this;
}

const Kernel &BoundKernel::kernel() const { return impl->kernel; }

std::string BoundKernel::replace(size_t index, const Kernel::Value &value) {
  const LoadedKernel &kernel = *impl->kernel.impl;
  const artifact::Artifact &artifact = kernel.kernel->artifact();
  if (index >= artifact.parameters.size())
    return "argument " + std::to_string(index) + " was set; " + wrongCount(artifact, index + 1);
  if (!impl->extents.empty())
    impl->extents[index] = extentOf(value.bits, value.bytes, value.isSpan);
  return packArgument(kernel, index, leafOf(value), impl->block.data());
}

std::string BoundKernel::start(nereid::Grid grid, void *stream) const {
  if (impl->extents.empty())
    return startKernel(*impl->kernel.impl, grid, stream, impl->block);
  return startKernel(*impl->kernel.impl, grid, stream, withExtents(impl->block, impl->extents));
}
