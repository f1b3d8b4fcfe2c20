// An NVIDIA GPU's properties and context, and what its driver knows of memory.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/CudaDevice.h"

namespace nereid::runtime {

using namespace cuda;

//--- Properties --------------------------------------------------------------------------------

static Ordinal handleOf(const CudaDriver &driver, int ordinal) {
  Ordinal device = 0;
  driver.calls().cuDeviceGet(&device, ordinal);
  return device;
}

CudaDevice::CudaDevice(CudaDriver &driver, int ordinal)
    : GpuDevice(driver, ordinal, handleOf(driver, ordinal)), owner(driver), counters(driver.calls()) {
  char name[256] = "";
  owner.calls().cuDeviceGetName(name, sizeof name - 1, handle);
  known.name = name;
  capabilityNumber = attribute(DeviceAttribute::CapabilityMajor) * 10 + attribute(DeviceAttribute::CapabilityMinor);
  readProperties<DeviceAttribute>();
  known.maxSharedMem = std::max<uint64_t>(known.maxSharedMem, positive(DeviceAttribute::MaxSharedMemoryPerBlockOptin));
}

//--- Context -----------------------------------------------------------------------------------

Expected<Context> CudaDevice::context() {
  if (Context context = primary.load(std::memory_order_acquire))
    return context;
  std::lock_guard<std::mutex> lock(retaining);
  if (Context context = primary.load(std::memory_order_relaxed))
    return context;
  Context context = nullptr;
  if (Result result = owner.calls().cuDevicePrimaryCtxRetain(&context, handle); result != Success)
    return failure("there is no context on " + name(), {"cuDevicePrimaryCtxRetain", result});
  primary.store(context, std::memory_order_release);
  return context;
}

Expected<void *> CudaDevice::wantedCurrent() {
  auto wanted = context();
  return wanted ? Expected<void *>(*wanted) : wanted.error();
}

//--- Memory ------------------------------------------------------------------------------------

Expected<PointerInfo> CudaDevice::pointerInfo(uint64_t address) {
  auto wanted = context();
  if (!wanted)
    return wanted.error();
  const CurrentScope scope(*this, *wanted);
  constexpr unsigned kHostMemory = 1;
  unsigned memoryType = 0;
  PointerInfo info;
  PointerAttribute attributes[] = {PointerAttribute::MemoryType, PointerAttribute::DeviceOrdinal,
                                   PointerAttribute::DevicePointer, PointerAttribute::RangeStart,
                                   PointerAttribute::RangeBytes};
  void *values[] = {&memoryType, &info.ordinal, &info.onDevice, &info.start, &info.bytes};
  CallResult done = scope.outcome;
  if (done.result == Success)
    done = {"cuPointerGetAttributes", owner.calls().cuPointerGetAttributes(5, attributes, values, address)};
  if (done.result != Success)
    return failure("cannot query the memory of a pointer", done);
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
      (owner.calls().cuDevicePrimaryCtxGetState(handle, &flags, &isActive) != Success || !isActive))
    return false;
  auto wanted = context();
  if (!wanted)
    return false;
  const CurrentScope scope(*this, *wanted);
  Address onDevice = 0;
  return scope.outcome.result == Success &&
         owner.calls().cuPointerGetAttribute(&onDevice, PointerAttribute::DevicePointer, address) == Success &&
         onDevice != 0;
}

/// A context in which a kernel has failed may answer every question with that failure.
PeerAccess CudaDevice::peerAccess(uint64_t address, int owningOrdinal) const {
  const GpuDevice *other = sibling(owningOrdinal);
  int isPossible = 0;
  if (other && owner.calls().cuDeviceCanAccessPeer(&isPossible, handle, handleOf(owner, owningOrdinal)) == Success &&
      !isPossible)
    return PeerAccess::Never;
  const CurrentScope scope(*this, primary.load(std::memory_order_acquire));
  Address onDevice = 0;
  const Result result = scope.outcome.result != Success
                            ? scope.outcome.result
                            : owner.calls().cuPointerGetAttribute(&onDevice, PointerAttribute::DevicePointer, address);
  return result == Success ? PeerAccess::On : result == InvalidValue ? PeerAccess::Off : PeerAccess::Unknown;
}

} // namespace nereid::runtime
