// A GPU's properties and context, synchronisation, and the texts of its failures.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/CudaDevice.h"

#include <algorithm>

namespace nereid::runtime {

using namespace cuda;

//--- Properties --------------------------------------------------------------------------------

int CudaDevice::attribute(DeviceAttribute attribute) const {
  int value = 0;
  return owner.calls().cuDeviceGetAttribute(&value, attribute, device) == Success ? value : 0;
}

CudaDevice::CudaDevice(CudaDriver &driver, int ordinal) : owner(driver), index(ordinal), counters(driver.calls()) {
  owner.calls().cuDeviceGet(&device, ordinal);
  char name[256] = "";
  owner.calls().cuDeviceGetName(name, sizeof name - 1, device);
  known.name = name;
  capabilityNumber = attribute(DeviceAttribute::CapabilityMajor) * 10 + attribute(DeviceAttribute::CapabilityMinor);
  // Newer drivers return 0 for obsolete figures (clocks).
  const auto positive = [&](DeviceAttribute which) { return static_cast<uint32_t>(std::max(attribute(which), 1)); };
  known.multiprocessorCount = positive(DeviceAttribute::MultiprocessorCount);
  known.maxNumRegs = positive(DeviceAttribute::MaxRegistersPerMultiprocessor);
  known.maxSharedMem = std::max(positive(DeviceAttribute::MaxSharedMemoryPerBlock),
                                positive(DeviceAttribute::MaxSharedMemoryPerBlockOptin));
  known.warpSize = positive(DeviceAttribute::WarpSize);
  known.maxThreadsPerSm = positive(DeviceAttribute::MaxThreadsPerMultiprocessor);
  known.maxThreadsPerBlock = positive(DeviceAttribute::MaxThreadsPerBlock);
  known.smClockRateKhz = positive(DeviceAttribute::ClockRateKhz);
  known.memClockRateKhz = positive(DeviceAttribute::MemoryClockRateKhz);
  known.memBusWidthBits = positive(DeviceAttribute::MemoryBusWidthBits);
  known.lastLevelCacheBytes = positive(DeviceAttribute::L2CacheBytes);
}

//--- Context -----------------------------------------------------------------------------------

Expected<Context> CudaDevice::context() {
  if (Context context = primary.load(std::memory_order_acquire))
    return context;
  std::lock_guard<std::mutex> lock(retaining);
  if (Context context = primary.load(std::memory_order_relaxed))
    return context;
  Context context = nullptr;
  if (Result result = owner.calls().cuDevicePrimaryCtxRetain(&context, device); result != Success)
    return failure("cuda-call", "there is no context on " + name(), "cuDevicePrimaryCtxRetain", result);
  primary.store(context, std::memory_order_release);
  return context;
}

ContextScope::ContextScope(const DriverCalls &calls, Context wanted) : calls(calls) {
  result = calls.cuCtxGetCurrent(&previous);
  if (result != Success || previous == wanted)
    return;
  call = "cuCtxSetCurrent";
  result = calls.cuCtxSetCurrent(wanted);
  changed = result == Success;
}

ContextScope::~ContextScope() {
  if (changed)
    calls.cuCtxSetCurrent(previous);
}

//--- Failures ----------------------------------------------------------------------------------

/// Whether the result means that a kernel has failed: the context then returns it from every call.
static bool isKernelFailure(Result result) {
  switch (result) {
  case EccUncorrectable:
  case NvlinkUncorrectable:
  case Contained:
  case IllegalAddress:
  case LaunchTimeout:
  case DeviceAssert:
  case HardwareStackError:
  case IllegalInstruction:
  case MisalignedAddress:
  case InvalidAddressSpace:
  case InvalidPc:
  case LaunchFailed:
    return true;
  default:
    return false;
  }
}

Error CudaDevice::failure(const std::string &code, const std::string &what, const char *call, Result result) const {
  const std::string driverText = owner.describe(call, result);
  if (!isKernelFailure(result))
    return {code, what + ": " + driverText};
  const std::string launched = history.text();
  return {
      "launch-earlier",
      what + ", since a kernel has failed on " + name() + ": " + driverText + "; " +
          (launched.empty() ? "none was launched here since the last time that all was well"
                            : "launched here since the last time that all was well, newest last: " + launched) +
          "; with CUDA_LAUNCH_BLOCKING=1 set the kernel whose own launch fails is the one; start a new process, since "
          "this one cannot use the GPU any more"};
}

//--- Streams and memory ------------------------------------------------------------------------

Expected<void> CudaDevice::synchronize() {
  auto wanted = context();
  if (!wanted)
    return wanted.error();
  const ContextScope scope(owner.calls(), *wanted);
  if (scope.result != Success)
    return failure("cuda-call", "cannot wait for " + name(), scope.call, scope.result);
  const uint64_t next = history.next(); // other threads may launch meanwhile
  if (Result result = owner.calls().cuCtxSynchronize(); result != Success)
    return failure("cuda-call", "cannot wait for " + name(), "cuCtxSynchronize", result);
  history.forgetBefore(next);
  return {};
}

Expected<void> CudaDevice::orderStreams(void *earlier, void *later) {
  auto wanted = context();
  if (!wanted)
    return wanted.error();
  const DriverCalls &calls = owner.calls();
  const ContextScope scope(calls, *wanted);
  const char *call = scope.call;
  Result result = scope.result;
  Event event = nullptr;
  const auto attempt = [&](const char *name, auto function, auto... args) {
    if (result == Success) {
      call = name;
      result = function(args...);
    }
  };
  attempt("cuEventCreate", calls.cuEventCreate, &event, kEventWithoutTiming);
  attempt("cuEventRecord", calls.cuEventRecord, event, static_cast<Stream>(earlier));
  attempt("cuStreamWaitEvent", calls.cuStreamWaitEvent, static_cast<Stream>(later), event, 0u);
  if (event)
    calls.cuEventDestroy(event);
  if (result != Success)
    return failure("cuda-call", "cannot make one stream wait for another", call, result);
  return {};
}

Expected<PointerInfo> CudaDevice::pointerInfo(uint64_t address) {
  auto wanted = context();
  if (!wanted)
    return wanted.error();
  const ContextScope scope(owner.calls(), *wanted);
  constexpr unsigned kHostMemory = 1;
  unsigned memoryType = 0;
  PointerInfo info;
  PointerAttribute attributes[] = {PointerAttribute::MemoryType, PointerAttribute::DeviceOrdinal,
                                   PointerAttribute::DevicePointer, PointerAttribute::RangeStart,
                                   PointerAttribute::RangeBytes};
  void *values[] = {&memoryType, &info.ordinal, &info.onDevice, &info.start, &info.bytes};
  const Result result =
      scope.result != Success ? scope.result : owner.calls().cuPointerGetAttributes(5, attributes, values, address);
  if (result != Success)
    return failure("cuda-call", "cannot query the memory of a pointer", "cuPointerGetAttributes", result);
  info.isKnown = memoryType != 0;
  info.isOnHost = memoryType == kHostMemory;
  return info;
}

} // namespace nereid::runtime
