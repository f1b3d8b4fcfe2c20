// Loads a kernel's code onto a GPU; reports what does not fit it.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "runtime/cuda/CodeRequirements.h"
#include "runtime/cuda/CudaKernel.h"
#include "runtime/gpu/CaptureScope.h"
#include "runtime/gpu/LaunchErrors.h"

#include <algorithm>

namespace nereid::runtime {

using namespace cuda;

// Only some GPUs support clusters of more CTAs.
static constexpr uint32_t kPortableClusterBlocks = 8;

static std::string targetName(const std::string &arch) { return (arch.starts_with("sm_") ? "" : "sm_") + arch; }

/// The checks that need no driver.
static Expected<void> checkArtifact(const CudaDevice &device, const artifact::Artifact &artifact) {
  if (artifact.target.backend != artifact::kCuda.name)
    return Error{"load-target", quoted(artifact) + " was compiled for `" + artifact.target.backend +
                                    "`; this device is `" + device.name() + "`"};
  if (!artifact.tensorMaps.empty() && !device.driver().calls().cuTensorMapEncodeTiled)
    return Error{"load-driver", quoted(artifact) +
                                    " needs tensor maps, which a driver for CUDA 12.0 or newer makes; "
                                    "the installed one is for CUDA " +
                                    cudaVersionText(device.driver().version()) + ", so update the driver"};
  if (!runsOn(artifact.target.arch, isPtx(artifact.binary), device.capability()))
    return Error{"load-target", quoted(artifact) + " was compiled for " + targetName(artifact.target.arch) + "; " +
                                    device.name() + " (" + device.properties().name + ") is sm_" +
                                    std::to_string(device.capability())};
  return checkResources(artifact, device.properties(), device.name());
}

//--- Loading -----------------------------------------------------------------------------------

static Error loadError(const CudaDevice &device, const artifact::Artifact &artifact, Result result, const char *log) {
  const bool mayBeTooNew =
      result == UnsupportedPtxVersion || result == InvalidPtx || result == InvalidImage || result == NoBinaryForGpu;
  const int needed = mayBeTooNew ? neededCuda(artifact) : 0;
  if (needed > device.driver().version())
    return {"load-driver", quoted(artifact) + " needs a driver for CUDA " + cudaVersionText(needed) +
                               "; the installed one is for CUDA " + cudaVersionText(device.driver().version()) + ": " +
                               device.driver().describe("cuModuleLoadDataEx", result) +
                               "; update the driver, or use ptxas of an older CUDA"};
  Error error =
      device.failure("load-binary", "the code of " + quoted(artifact) + " cannot be loaded on " + device.name(),
                     "cuModuleLoadDataEx", result);
  if (*log)
    error.text += std::string("\n") + log;
  return error;
}

static Expected<Module> loadModule(const CudaDevice &device, const artifact::Artifact &artifact) {
  char log[4096] = "";
  JitOption options[] = {JitOption::ErrorLog, JitOption::ErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log - 1)};
  const unsigned count = isPtx(artifact.binary) ? 2 : 0; // machine code has no compile log
  Module module = nullptr;
  const Result result =
      device.driver().calls().cuModuleLoadDataEx(&module, artifact.binary.c_str(), count, options, values);
  if (result != Success)
    return loadError(device, artifact, result, log);
  return module;
}

//--- The function ------------------------------------------------------------------------------

namespace {
/// Calls on one function; keeps the first failure.
class FunctionCalls {
public:
  FunctionCalls(const DriverCalls &calls, Function function) : calls(calls), function(function) {}

  int get(FunctionAttribute attribute) {
    int value = 0;
    keep("cuFuncGetAttribute", calls.cuFuncGetAttribute(&value, attribute, function));
    return std::max(value, 0);
  }
  void set(FunctionAttribute attribute, uint64_t value) {
    keep("cuFuncSetAttribute", calls.cuFuncSetAttribute(function, attribute, static_cast<int>(value)));
  }

  Result result = Success;
  const char *call = "";

private:
  void keep(const char *name, Result now) {
    if (result == Success && now != Success) {
      result = now;
      call = name;
    }
  }
  const DriverCalls &calls;
  Function function;
};
} // namespace

/// Reads the kernel's resources, and enables the shared memory and the clusters that it needs. The queries also make
/// the driver load the code onto the device, which would otherwise happen at the first launch.
static Expected<KernelResources> prepare(const CudaDevice &device, const artifact::Artifact &artifact,
                                         Function function) {
  FunctionCalls calls(device.driver().calls(), function);
  const auto fixedShared = static_cast<uint64_t>(calls.get(FunctionAttribute::SharedBytes));
  const auto granted = static_cast<uint64_t>(calls.get(FunctionAttribute::MaxDynamicSharedBytes));
  KernelResources resources;
  resources.registers = static_cast<uint32_t>(std::max(calls.get(FunctionAttribute::Registers), 1));
  resources.spills = static_cast<uint32_t>(calls.get(FunctionAttribute::LocalBytes) / 4);
  resources.maxThreads = static_cast<uint32_t>(calls.get(FunctionAttribute::MaxThreadsPerBlock));
  const uint64_t sharedLimit = device.properties().maxSharedMem;
  if (artifact.sharedBytes + fixedShared > sharedLimit)
    return outOf(artifact, "shared memory", artifact.sharedBytes + fixedShared, sharedLimit, device.name());
  const uint64_t threads = uint64_t{artifact.blockDims[0]} * artifact.blockDims[1] * artifact.blockDims[2];
  if (calls.result == Success && threads > resources.maxThreads)
    return outOf(artifact, "threads", threads, resources.maxThreads, device.name());
  if (artifact.sharedBytes > granted)
    calls.set(FunctionAttribute::MaxDynamicSharedBytes, artifact.sharedBytes);
  if (artifact.clusterDims[0] * artifact.clusterDims[1] * artifact.clusterDims[2] > kPortableClusterBlocks)
    calls.set(FunctionAttribute::NonPortableClusterSize, 1);
  if (calls.result != Success)
    return device.failure("load-binary", quoted(artifact) + " cannot be prepared on " + device.name(), calls.call,
                          calls.result);
  return resources;
}

/// Free stream-ordered memory stays with the process up to this size, in bytes: otherwise every synchronisation
/// releases it, and the next launch that needs scratch allocates it again.
static constexpr uint64_t kScratchKept = uint64_t{64} << 20;

void CudaDevice::keepScratch() {
  const DriverCalls &calls = owner.calls();
  MemoryPool pool = nullptr;
  uint64_t kept = 0;
  if (keepsScratch.exchange(true) || calls.cuDeviceGetDefaultMemPool(&pool, device) != Success ||
      calls.cuMemPoolGetAttribute(pool, MemoryPoolAttribute::BytesKept, &kept) != Success || kept >= kScratchKept)
    return;
  kept = kScratchKept;
  calls.cuMemPoolSetAttribute(pool, MemoryPoolAttribute::BytesKept, &kept); // a failure only makes launches slower
}

/// How many programs of a persistent kernel run on the device at once; allocates the counters that its launches need.
Expected<uint32_t> CudaDevice::residentProgramsOf(const artifact::Artifact &artifact, Function function) {
  const auto &[x, y, z] = artifact.blockDims;
  int blocks = 0;
  const char *call = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
  Result result = owner.calls().cuOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, function, static_cast<int>(x * y * z), artifact.sharedBytes);
  if (result == Success) {
    call = "cuMemAlloc";
    result = counters.prepare();
  }
  if (result != Success)
    return failure("load-binary", quoted(artifact) + " cannot be prepared on " + name(), call, result);
  const uint32_t cluster = artifact.clusterDims[0] * artifact.clusterDims[1] * artifact.clusterDims[2];
  return std::max(static_cast<uint32_t>(std::max(blocks, 0)) * known.multiprocessorCount / std::max(cluster, 1u), 1u);
}

Expected<std::shared_ptr<Kernel>> CudaDevice::load(artifact::Artifact artifact) {
  if (auto ok = checkArtifact(*this, artifact); !ok)
    return ok.error();
  auto wanted = context();
  if (!wanted)
    return wanted.error();
  const DriverCalls &calls = owner.calls();
  const ContextScope scope(calls, *wanted);
  if (scope.result != Success)
    return failure("load-binary", quoted(artifact) + " cannot be loaded on " + name(), scope.call, scope.result);
  const CaptureScope relaxed(calls.cuThreadExchangeStreamCaptureMode);
  auto module = loadModule(*this, artifact);
  if (!module)
    return module.error();
  const auto unloaded = [&](Error error) {
    calls.cuModuleUnload(*module);
    return error;
  };
  Function function = nullptr;
  const Result found = calls.cuModuleGetFunction(&function, *module, artifact.entry.c_str());
  if (found == NotFound)
    return unloaded({"load-entry", "the code of " + quoted(artifact) + " has no kernel `" + artifact.entry + "`"});
  if (found != Success)
    return unloaded(
        failure("load-entry", quoted(artifact) + " cannot be found in its code", "cuModuleGetFunction", found));
  auto resources = prepare(*this, artifact, function);
  if (!resources)
    return unloaded(resources.error());
  auto residentPrograms = artifact.persistent ? residentProgramsOf(artifact, function) : Expected<uint32_t>(0u);
  if (!residentPrograms)
    return unloaded(residentPrograms.error());
  if (artifact.globalScratchBytes || artifact.profileScratchBytes)
    keepScratch();
  return std::shared_ptr<Kernel>(
      std::make_shared<CudaKernel>(*this, std::move(artifact), *module, function, *resources, *residentPrograms));
}

} // namespace nereid::runtime
