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

CudaDevice::CudaDevice(CudaDriver &driver, int ordinal) : GpuDevice(ordinal), owner(driver), counters(driver.calls()) {
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
  return earlierFailure(what, driverText, "CUDA_LAUNCH_BLOCKING");
}

//--- Streams, events and memory ----------------------------------------------------------------

template <typename Function, typename... Args>
Expected<void> CudaDevice::call(const char *callName, Function function, Args... args) {
  auto wanted = context();
  if (!wanted)
    return wanted.error();
  const ContextScope scope(owner.calls(), *wanted);
  if (const Result result = function(args...); result != Success)
    return failure("cuda-call", std::string(callName) + " failed on " + name(), callName, result);
  return {};
}

Expected<void> CudaDevice::makeCurrent() {
  auto wanted = context();
  if (!wanted)
    return wanted.error();
  if (const Result result = owner.calls().cuCtxSetCurrent(*wanted); result != Success)
    return failure("cuda-call", "cuCtxSetCurrent failed on " + name(), "cuCtxSetCurrent", result);
  return {};
}

Expected<void *> CudaDevice::createEvent() {
  Event event = nullptr;
  auto made = call("cuEventCreate", owner.calls().cuEventCreate, &event, 0u);
  return made ? Expected<void *>(event) : made.error();
}

Expected<void> CudaDevice::recordEvent(void *event, void *stream) {
  return call("cuEventRecord", owner.calls().cuEventRecord, static_cast<Event>(event), static_cast<Stream>(stream));
}

Expected<float> CudaDevice::millisecondsBetween(void *earlier, void *later) {
  float milliseconds = 0;
  auto done = call("cuEventElapsedTime", owner.calls().cuEventElapsedTime, &milliseconds, static_cast<Event>(earlier),
                   static_cast<Event>(later));
  return done ? Expected<float>(milliseconds) : done.error();
}

void CudaDevice::destroyEvent(void *event) {
  (void)call("cuEventDestroy", owner.calls().cuEventDestroy, static_cast<Event>(event));
}

Expected<uint64_t> CudaDevice::allocate(uint64_t bytes) {
  Address address = 0;
  auto made = call("cuMemAlloc", owner.calls().cuMemAlloc, &address, bytes);
  return made ? Expected<uint64_t>(address) : made.error();
}

Expected<void> CudaDevice::fillWithZeros(uint64_t address, uint64_t bytes, void *stream) {
  return call("cuMemsetD8Async", owner.calls().cuMemsetD8Async, address, static_cast<unsigned char>(0), bytes,
              static_cast<Stream>(stream));
}

void CudaDevice::release(uint64_t address) { (void)call("cuMemFree", owner.calls().cuMemFree, address); }

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

/// The driver answers for the current context, with the peer access that the program, or a library, has enabled.
bool CudaDevice::canAccess(uint64_t address) {
  // A device without a context has no access to others; the question makes none.
  unsigned flags = 0;
  int isActive = 0;
  if (!primary.load(std::memory_order_acquire) &&
      (owner.calls().cuDevicePrimaryCtxGetState(device, &flags, &isActive) != Success || !isActive))
    return false;
  auto wanted = context();
  if (!wanted)
    return false;
  const ContextScope scope(owner.calls(), *wanted);
  Address onDevice = 0;
  return scope.result == Success &&
         owner.calls().cuPointerGetAttribute(&onDevice, PointerAttribute::DevicePointer, address) == Success &&
         onDevice != 0;
}

int CudaDevice::siblingCount() const { return owner.deviceCount(); }

GpuDevice *CudaDevice::sibling(int number) const {
  auto found = owner.device(number);
  return found ? *found : nullptr;
}

} // namespace nereid::runtime
