// The parts of loading and launching a kernel that are the same for the GPUs of all drivers.
// SPDX-License-Identifier: MIT
#include "runtime/gpu/CaptureScope.h"
#include "runtime/gpu/DriverKernel.h"
#include "runtime/gpu/LaunchErrors.h"

namespace nereid::runtime {

using namespace gpu;

//--- Loading -----------------------------------------------------------------------------------

Expected<KernelResources> GpuDevice::readResources(const artifact::Artifact &artifact, Function function) const {
  CallResult failed;
  const auto get = [&](FunctionAttribute attribute) {
    int value = 0;
    const Result result = calls().functionAttribute(&value, attribute, function);
    if (result != Success && failed.result == Success)
      failed = {calls().functionAttribute.name, result};
    return static_cast<uint32_t>(std::max(value, 0));
  };
  KernelResources resources;
  resources.registers = std::max(get(FunctionAttribute::Registers), 1u);
  resources.spills = get(FunctionAttribute::LocalBytes) / 4;
  resources.maxThreads = get(FunctionAttribute::MaxThreadsPerBlock);
  const uint64_t shared = artifact.sharedBytes + get(FunctionAttribute::SharedBytes);
  if (failed.result != Success)
    return failure("load-binary", quoted(artifact) + " cannot be prepared on " + name(), failed);
  if (shared > known.maxSharedMem)
    return outOf(artifact, "shared memory", shared, known.maxSharedMem, name());
  const uint64_t threads = uint64_t{artifact.blockDims[0]} * artifact.blockDims[1] * artifact.blockDims[2];
  if (threads > resources.maxThreads)
    return outOf(artifact, "threads", threads, resources.maxThreads, name());
  return resources;
}

/// Free stream-ordered memory stays with the process up to this size, in bytes: otherwise every synchronisation
/// releases it, and the next launch that needs scratch allocates it again.
static constexpr uint64_t kScratchKept = uint64_t{64} << 20;

void GpuDevice::keepScratch() {
  MemoryPool pool = nullptr;
  uint64_t threshold = 0;
  if (keepsScratch.exchange(true) || calls().defaultPool(&pool, handle) != Success ||
      calls().poolAttribute(pool, MemoryPoolAttribute::BytesKept, &threshold) != Success || threshold >= kScratchKept)
    return;
  threshold = kScratchKept;
  calls().setPoolAttribute(pool, MemoryPoolAttribute::BytesKept, &threshold); // a failure only makes launches slower
}

Expected<Function> GpuDevice::findFunction(const artifact::Artifact &artifact, Module module) const {
  Function function = nullptr;
  const Result result = calls().findFunction(&function, module, artifact.entry.c_str());
  if (result == NotFound)
    return Error{"load-entry", "the code of " + quoted(artifact) + " has no kernel `" + artifact.entry + "`"};
  if (result != Success)
    return failure("load-entry", quoted(artifact) + " cannot be found in its code",
                   {calls().findFunction.name, result});
  return function;
}

Expected<std::shared_ptr<Kernel>> GpuDevice::load(artifact::Artifact artifact) {
  if (auto ok = checkArtifact(artifact); !ok)
    return ok.error();
  auto wanted = wantedCurrent();
  if (!wanted)
    return wanted.error();
  const CurrentScope scope(*this, *wanted);
  if (scope.outcome.result != Success)
    return failure("load-binary", quoted(artifact) + " cannot be loaded on " + name(), scope.outcome);
  const CaptureScope relaxed(calls().exchangeCaptureMode);
  auto module = loadModule(artifact);
  if (!module)
    return module.error();
  const bool usesScratch = artifact.globalScratchBytes || artifact.profileScratchBytes;
  auto function = findFunction(artifact, *module);
  auto kernel = function ? makeKernel(std::move(artifact), *module, *function)
                         : Expected<std::shared_ptr<Kernel>>(function.error());
  if (!kernel)
    calls().unloadModule(*module);
  else if (usesScratch)
    keepScratch();
  return kernel;
}

//--- Launching ---------------------------------------------------------------------------------

Expected<void> GpuDevice::launch(Kernel &base, Grid grid, void *stream, std::span<const char> packed) {
  if (&base.device() != this)
    return otherDeviceError(base.artifact(), name());
  const auto &kernel = static_cast<const DriverKernel &>(base);
  if (packed.size() != kernel.argumentBytes)
    return argumentBytesError(kernel.artifact(), kernel.argumentBytes, packed.size());
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return {};
  return launchOn(kernel, grid, static_cast<Stream>(stream), packed);
}

Error GpuDevice::launchError(const DriverKernel &kernel, Grid ctas, CallResult failed) const {
  const artifact::Artifact &artifact = kernel.artifact();
  const Result result = failed.result;
  Error error = failure("launch-failed", quoted(artifact) + " cannot be launched on " + name(), failed);
  if (result == CooperativeLaunchTooLarge)
    error.text += "; a cooperative launch needs all of its " + std::to_string(ctas.x) + " x " + std::to_string(ctas.y) +
                  " x " + std::to_string(ctas.z) + " blocks on the GPU at once, so make the grid smaller";
  if (result == LaunchOutOfResources)
    error.text += "; its blocks have " +
                  std::to_string(artifact.blockDims[0] * artifact.blockDims[1] * artifact.blockDims[2]) +
                  " threads of " + std::to_string(kernel.resources().registers) + " registers and " +
                  std::to_string(artifact.sharedBytes) + " bytes of shared memory";
  if (result == InvalidHandle || result == InvalidContext)
    error.text += "; the stream given is not one of " + name() + ", or it was destroyed";
  return error;
}

} // namespace nereid::runtime
