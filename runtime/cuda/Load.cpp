// Loads a kernel's code onto a GPU; reports what does not fit it.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "runtime/cuda/CodeRequirements.h"
#include "runtime/cuda/CudaKernel.h"
#include "runtime/gpu/LaunchErrors.h"

#include <algorithm>

namespace nereid::runtime {

using namespace cuda;

// Only some GPUs support clusters of more CTAs.
static constexpr uint32_t kPortableClusterBlocks = 8;

static std::string targetName(const std::string &arch) { return (arch.starts_with("sm_") ? "" : "sm_") + arch; }

Expected<void> CudaDevice::checkArtifact(const artifact::Artifact &artifact) const {
  if (artifact.target.backend != artifact::kCuda.name)
    return Error{"load-target", quoted(artifact) + " was compiled for `" + artifact.target.backend +
                                    "`; this device is `" + name() + "`"};
  if (!artifact.tensorMaps.empty() && !owner.calls().cuTensorMapEncodeTiled)
    return Error{"load-driver", quoted(artifact) +
                                    " needs tensor maps, which a driver for CUDA 12.0 or newer makes; "
                                    "the installed one is for CUDA " +
                                    cudaVersionText(owner.version()) + ", so update the driver"};
  if (!runsOn(artifact.target.arch, isPtx(artifact.binary), capabilityNumber))
    return Error{"load-target", quoted(artifact) + " was compiled for " + targetName(artifact.target.arch) + "; " +
                                    name() + " (" + known.name + ") is sm_" + std::to_string(capabilityNumber)};
  return checkResources(artifact, known, name());
}

//--- Loading -----------------------------------------------------------------------------------

Error CudaDevice::loadError(const artifact::Artifact &artifact, Result result, const char *log) const {
  const CallResult failed = {owner.calls().loadModule.name, result};
  const bool mayBeTooNew =
      result == UnsupportedPtxVersion || result == InvalidPtx || result == InvalidImage || result == NoBinaryForGpu;
  const int needed = mayBeTooNew ? neededCuda(artifact) : 0;
  if (needed > owner.version())
    return {"load-driver", quoted(artifact) + " needs a driver for CUDA " + cudaVersionText(needed) +
                               "; the installed one is for CUDA " + cudaVersionText(owner.version()) + ": " +
                               owner.describe(failed) + "; update the driver, or use ptxas of an older CUDA"};
  Error error = failure("load-binary", "the code of " + quoted(artifact) + " cannot be loaded on " + name(), failed);
  if (*log)
    error.text += std::string("\n") + log;
  return error;
}

Expected<Module> CudaDevice::loadModule(const artifact::Artifact &artifact) const {
  char log[4096] = "";
  JitOption options[] = {JitOption::ErrorLog, JitOption::ErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log - 1)};
  const unsigned count = isPtx(artifact.binary) ? 2 : 0; // machine code has no compile log
  Module module = nullptr;
  const Result result = owner.calls().loadModule(&module, artifact.binary.c_str(), count, options, values);
  if (result != Success)
    return loadError(artifact, result, log);
  return module;
}

//--- The function ------------------------------------------------------------------------------

/// Enables the shared memory and the clusters that the kernel needs.
Expected<void> CudaDevice::enable(const artifact::Artifact &artifact, Function function) const {
  const DriverCalls &calls = owner.calls();
  int granted = 0;
  CallResult done = {calls.functionAttribute.name,
                     calls.functionAttribute(&granted, FunctionAttribute::MaxDynamicSharedBytes, function)};
  const auto set = [&](FunctionAttribute attribute, uint64_t value) {
    if (done.result == Success)
      done = {"cuFuncSetAttribute", calls.cuFuncSetAttribute(function, attribute, static_cast<int>(value))};
  };
  if (artifact.sharedBytes > static_cast<uint64_t>(std::max(granted, 0)))
    set(FunctionAttribute::MaxDynamicSharedBytes, artifact.sharedBytes);
  if (artifact.clusterDims[0] * artifact.clusterDims[1] * artifact.clusterDims[2] > kPortableClusterBlocks)
    set(FunctionAttribute::NonPortableClusterSize, 1);
  if (done.result == Success)
    return {};
  return failure("load-binary", quoted(artifact) + " cannot be prepared on " + name(), done);
}

/// How many programs of a persistent kernel run on the device at once; allocates the counters that its launches need.
Expected<uint32_t> CudaDevice::residentProgramsOf(const artifact::Artifact &artifact, Function function) {
  const auto &[x, y, z] = artifact.blockDims;
  int blocks = 0;
  CallResult done = {"cuOccupancyMaxActiveBlocksPerMultiprocessor",
                     owner.calls().cuOccupancyMaxActiveBlocksPerMultiprocessor(
                         &blocks, function, static_cast<int>(x * y * z), artifact.sharedBytes)};
  if (done.result == Success)
    done = {owner.calls().allocate.name, counters.prepare()};
  if (done.result != Success)
    return failure("load-binary", quoted(artifact) + " cannot be prepared on " + name(), done);
  const uint32_t cluster = artifact.clusterDims[0] * artifact.clusterDims[1] * artifact.clusterDims[2];
  return std::max(static_cast<uint32_t>(std::max(blocks, 0)) * known.multiprocessorCount / std::max(cluster, 1u), 1u);
}

Expected<std::shared_ptr<Kernel>> CudaDevice::makeKernel(artifact::Artifact artifact, Module module,
                                                         Function function) {
  auto resources = readResources(artifact, function);
  if (!resources)
    return resources.error();
  if (auto done = enable(artifact, function); !done)
    return done.error();
  auto residentPrograms = artifact.persistent ? residentProgramsOf(artifact, function) : Expected<uint32_t>(0u);
  if (!residentPrograms)
    return residentPrograms.error();
  return std::shared_ptr<Kernel>(
      std::make_shared<CudaKernel>(*this, std::move(artifact), module, function, *resources, *residentPrograms));
}

} // namespace nereid::runtime
