// Loads a kernel's code onto an AMD GPU and unloads it; reports what does not fit it.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "runtime/gpu/CaptureScope.h"
#include "runtime/gpu/LaunchErrors.h"
#include "runtime/hip/HipKernel.h"

#include <algorithm>

namespace nereid::runtime {

using namespace hip;

/// The checks that need no driver.
static Expected<void> checkArtifact(const HipDevice &device, const artifact::Artifact &artifact) {
  if (artifact.target.backend != artifact::kHip.name)
    return Error{"load-target", quoted(artifact) + " was compiled for `" + artifact.target.backend +
                                    "`; this device is `" + device.name() + "`"};
  if (artifact.target.arch != device.arch())
    return Error{"load-target", quoted(artifact) + " was compiled for " + artifact.target.arch + "; " + device.name() +
                                    " (" + device.properties().name + ") is " + device.arch()};
  if (artifact.abi != artifact::Abi::Plain || artifact.clusterDims != artifact::Dim3{1, 1, 1})
    return Error{"load-abi", quoted(artifact) + " has the launch ABI `own` or clusters of CTAs, which AMD GPUs lack"};
  if (artifact.cooperative && !device.launchesCooperatively())
    return Error{"load-feature", quoted(artifact) + " is launched cooperatively, which " + device.name() + " (" +
                                     device.properties().name + ") cannot do"};
  return checkResources(artifact, device.properties(), device.name());
}

/// Reads the kernel's resources. The code's own limit of dynamic LDS needs no call: hipFuncSetAttribute takes a
/// function of the host program, and launches by module may use all that the device has.
static Expected<KernelResources> readResources(const HipDevice &device, const artifact::Artifact &artifact,
                                               Function function) {
  Result failed = Success;
  const auto get = [&](FunctionAttribute attribute) {
    int value = 0;
    if (const Result result = device.driver().calls().hipFuncGetAttribute(&value, attribute, function);
        result != Success && failed == Success)
      failed = result;
    return static_cast<uint32_t>(std::max(value, 0));
  };
  KernelResources resources;
  resources.registers = std::max(get(FunctionAttribute::Registers), 1u);
  resources.spills = get(FunctionAttribute::LocalBytes) / 4;
  resources.maxThreads = get(FunctionAttribute::MaxThreadsPerBlock);
  const uint64_t shared = artifact.sharedBytes + get(FunctionAttribute::SharedBytes);
  if (failed != Success)
    return device.failure("load-binary", quoted(artifact) + " cannot be prepared on " + device.name(),
                          "hipFuncGetAttribute", failed);
  const uint64_t threads = uint64_t{artifact.blockDims[0]} * artifact.blockDims[1] * artifact.blockDims[2];
  if (threads > resources.maxThreads)
    return outOf(artifact, "threads", threads, resources.maxThreads, device.name());
  if (shared > device.properties().maxSharedMem)
    return outOf(artifact, "shared memory", shared, device.properties().maxSharedMem, device.name());
  return resources;
}

/// Free stream-ordered memory stays with the process up to this size, in bytes: otherwise every synchronisation
/// releases it, and the next launch that needs scratch allocates it again.
static constexpr uint64_t kScratchKept = uint64_t{64} << 20;

void HipDevice::keepScratch() {
  const HipCalls &calls = owner.calls();
  MemoryPool pool = nullptr;
  uint64_t kept = 0;
  if (keepsScratch.exchange(true) || calls.hipDeviceGetDefaultMemPool(&pool, ordinal()) != Success ||
      calls.hipMemPoolGetAttribute(pool, MemoryPoolAttribute::BytesKept, &kept) != Success || kept >= kScratchKept)
    return;
  kept = kScratchKept;
  calls.hipMemPoolSetAttribute(pool, MemoryPoolAttribute::BytesKept, &kept); // a failure only makes launches slower
}

Expected<std::shared_ptr<Kernel>> HipDevice::load(artifact::Artifact artifact) {
  if (auto ok = checkArtifact(*this, artifact); !ok)
    return ok.error();
  const HipCalls &calls = owner.calls();
  const std::string what = "the code of " + quoted(artifact) + " cannot be loaded on " + name();
  const HipDeviceScope scope(calls, ordinal());
  if (scope.result != Success)
    return failure("load-binary", what, scope.call, scope.result);
  const CaptureScope relaxed(calls.hipThreadExchangeStreamCaptureMode);
  Module module = nullptr;
  if (const Result result = calls.hipModuleLoadDataEx(&module, artifact.binary.data(), 0, nullptr, nullptr);
      result != Success)
    return failure("load-binary", what, "hipModuleLoadDataEx", result);
  const auto unloaded = [&](Error error) {
    calls.hipModuleUnload(module);
    return error;
  };
  Function function = nullptr;
  const Result found = calls.hipModuleGetFunction(&function, module, artifact.entry.c_str());
  if (found == NotFound)
    return unloaded({"load-entry", "the code of " + quoted(artifact) + " has no kernel `" + artifact.entry + "`"});
  if (found != Success)
    return unloaded(
        failure("load-entry", quoted(artifact) + " cannot be found in its code", "hipModuleGetFunction", found));
  auto resources = readResources(*this, artifact, function);
  if (!resources)
    return unloaded(resources.error());
  if (artifact.globalScratchBytes || artifact.profileScratchBytes)
    keepScratch();
  return std::shared_ptr<Kernel>(std::make_shared<HipKernel>(*this, std::move(artifact), module, function, *resources));
}

//--- The kernel --------------------------------------------------------------------------------

HipKernel::HipKernel(HipDevice &device, artifact::Artifact artifact, Module module, Function function,
                     KernelResources resources)
    : Kernel(device, std::move(artifact)), loader(device), module(module), function(function),
      launchName(internedName(this->artifact().name)), argumentBytes(artifact::packedBytes(this->artifact())),
      known(resources) {
  for (const artifact::Parameter &parameter : this->artifact().parameters)
    offsets.push_back(parameter.offset);
  const auto scratch = static_cast<uint32_t>(artifact::scratchOffset(this->artifact()));
  offsets.insert(offsets.end(), {scratch, scratch + 8});
}

HipKernel::~HipKernel() {
  // Errors are ignored: the process is ending, or the device is gone with the code.
  const HipCalls &calls = loader.driver().calls();
  const HipDeviceScope scope(calls, loader.ordinal());
  if (scope.result != Success)
    return;
  const CaptureScope relaxed(calls.hipThreadExchangeStreamCaptureMode);
  calls.hipModuleUnload(module);
}

} // namespace nereid::runtime
