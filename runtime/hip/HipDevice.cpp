// An AMD GPU's properties, streams, events and memory, and the texts of its failures.
// SPDX-License-Identifier: MIT
#include "runtime/hip/HipDevice.h"

#include <algorithm>

namespace nereid::runtime {

using namespace hip;

//--- Properties --------------------------------------------------------------------------------

int HipDevice::attribute(DeviceAttribute attribute) const {
  int value = 0;
  return owner.calls().hipDeviceGetAttribute(&value, attribute, ordinal()) == Success ? value : 0;
}

Expected<std::unique_ptr<HipDevice>> HipDevice::open(HipDriver &driver, int ordinal) {
  std::unique_ptr<HipDevice> device(new HipDevice(driver, ordinal));
  DevicePropertiesR0600 properties = {};
  if (const Result result = driver.calls().hipGetDevicePropertiesR0600(&properties, ordinal); result != Success)
    return device->failure("hip-call", "the properties of " + device->name() + " are not known",
                           "hipGetDeviceProperties", result);
  properties.name[sizeof properties.name - 1] = properties.archName[sizeof properties.archName - 1] = '\0';
  device->known.name = properties.name;
  const std::string_view arch = properties.archName; // "gfx942:sramecc+:xnack-"
  device->archName = arch.substr(0, arch.find(':'));
  device->readProperties();
  return device;
}

void HipDevice::readProperties() {
  const auto positive = [&](DeviceAttribute which) { return static_cast<uint32_t>(std::max(attribute(which), 1)); };
  known.multiprocessorCount = positive(DeviceAttribute::MultiprocessorCount);
  known.maxNumRegs = positive(DeviceAttribute::MaxRegistersPerBlock);
  known.maxSharedMem = positive(DeviceAttribute::MaxSharedMemoryPerBlock);
  known.warpSize = positive(DeviceAttribute::WarpSize);
  known.maxThreadsPerSm = positive(DeviceAttribute::MaxThreadsPerMultiprocessor);
  known.maxThreadsPerBlock = positive(DeviceAttribute::MaxThreadsPerBlock);
  known.smClockRateKhz = positive(DeviceAttribute::ClockRateKhz);
  known.memClockRateKhz = positive(DeviceAttribute::MemoryClockRateKhz);
  known.memBusWidthBits = positive(DeviceAttribute::MemoryBusWidthBits);
  known.lastLevelCacheBytes = positive(DeviceAttribute::L2CacheBytes);
  isCooperative = attribute(DeviceAttribute::CooperativeLaunch) != 0;
  maxGrid[0] = positive(DeviceAttribute::MaxGridX);
  maxGrid[1] = positive(DeviceAttribute::MaxGridY);
  maxGrid[2] = positive(DeviceAttribute::MaxGridZ);
}

//--- The thread's device -----------------------------------------------------------------------

Expected<void> HipDevice::makeCurrent() {
  if (const Result result = owner.calls().hipSetDevice(ordinal()); result != Success)
    return failure("hip-call", "hipSetDevice failed on " + name(), "hipSetDevice", result);
  return {};
}

//--- Failures ----------------------------------------------------------------------------------

/// Whether the result means that a kernel has failed.
static bool isKernelFailure(Result result) {
  switch (result) {
  case EccNotCorrectable:
  case IllegalAddress:
  case LaunchTimeOut:
  case Assert:
  case LaunchFailure:
    return true;
  default:
    return false;
  }
}

Error HipDevice::failure(const std::string &code, const std::string &what, const char *call, Result result) const {
  const std::string driverText = owner.describe(call, result);
  if (isKernelFailure(result))
    return earlierFailure(what, driverText, "HIP_LAUNCH_BLOCKING");
  return {code, what + ": " + driverText};
}

//--- Streams, events and memory ----------------------------------------------------------------

template <typename Function, typename... Args>
Expected<void> HipDevice::call(const char *callName, Function function, Args... args) {
  const HipDeviceScope scope(owner.calls(), ordinal());
  const Result result = scope.result != Success ? scope.result : function(args...);
  if (result != Success)
    return failure("hip-call", std::string(callName) + " failed on " + name(),
                   scope.result != Success ? scope.call : callName, result);
  return {};
}

Expected<void> HipDevice::synchronize() {
  const uint64_t next = history.next(); // other threads may launch meanwhile
  auto done = call("hipDeviceSynchronize", owner.calls().hipDeviceSynchronize);
  if (done)
    history.forgetBefore(next);
  return done;
}

Expected<void> HipDevice::orderStreams(void *earlier, void *later) {
  const HipCalls &calls = owner.calls();
  Event event = nullptr;
  auto done = call("hipEventCreate", calls.hipEventCreateWithFlags, &event, kEventWithoutTiming);
  if (done)
    done = recordEvent(event, earlier);
  if (done)
    done = call("hipStreamWaitEvent", calls.hipStreamWaitEvent, static_cast<Stream>(later), event, 0u);
  if (event)
    destroyEvent(event);
  return done;
}

Expected<PointerInfo> HipDevice::pointerInfo(uint64_t address) {
  const auto pointer = reinterpret_cast<Address>(address);
  PointerAttributes attributes = {};
  PointerInfo info;
  const Result result = owner.calls().hipPointerGetAttributes(&attributes, pointer);
  if (result == InvalidValue) // before ROCm 6.0: memory that HIP does not know
    return info;
  if (result != Success)
    return failure("hip-call", "cannot query the memory of a pointer", "hipPointerGetAttributes", result);
  info.isKnown = attributes.type != MemoryType::Unregistered;
  info.isOnHost = attributes.type == MemoryType::Host;
  info.ordinal = attributes.device;
  info.onDevice = reinterpret_cast<uint64_t>(attributes.onDevice);
  Address start = nullptr;
  size_t bytes = 0;
  if (info.isKnown && owner.calls().hipMemGetAddressRange(&start, &bytes, pointer) == Success) {
    info.start = reinterpret_cast<uint64_t>(start);
    info.bytes = bytes;
  }
  return info;
}

/// HIP tells whether two devices could access each other's memory, not whether one may, and a kernel that may not ends
/// the process.
bool HipDevice::canAccess(uint64_t address) {
  auto info = pointerInfo(address);
  return info && info->isKnown && (info->isOnHost || info->ordinal == ordinal());
}

int HipDevice::siblingCount() const { return owner.deviceCount(); }

GpuDevice *HipDevice::sibling(int number) const {
  auto found = owner.device(number);
  return found ? *found : nullptr;
}

Expected<void *> HipDevice::createEvent() {
  Event event = nullptr;
  auto made = call("hipEventCreate", owner.calls().hipEventCreateWithFlags, &event, 0u);
  return made ? Expected<void *>(event) : made.error();
}

Expected<void> HipDevice::recordEvent(void *event, void *stream) {
  return call("hipEventRecord", owner.calls().hipEventRecord, static_cast<Event>(event), static_cast<Stream>(stream));
}

Expected<float> HipDevice::millisecondsBetween(void *earlier, void *later) {
  float milliseconds = 0;
  auto done = call("hipEventElapsedTime", owner.calls().hipEventElapsedTime, &milliseconds, static_cast<Event>(earlier),
                   static_cast<Event>(later));
  return done ? Expected<float>(milliseconds) : done.error();
}

void HipDevice::destroyEvent(void *event) {
  (void)call("hipEventDestroy", owner.calls().hipEventDestroy, static_cast<Event>(event));
}

Expected<uint64_t> HipDevice::allocate(uint64_t bytes) {
  Address address = nullptr;
  auto made = call("hipMalloc", owner.calls().hipMalloc, &address, static_cast<size_t>(bytes));
  return made ? Expected<uint64_t>(reinterpret_cast<uint64_t>(address)) : made.error();
}

Expected<void> HipDevice::fillWithZeros(uint64_t address, uint64_t bytes, void *stream) {
  return call("hipMemsetD8Async", owner.calls().hipMemsetD8Async, reinterpret_cast<Address>(address),
              static_cast<unsigned char>(0), static_cast<size_t>(bytes), static_cast<Stream>(stream));
}

void HipDevice::release(uint64_t address) {
  (void)call("hipFree", owner.calls().hipFree, reinterpret_cast<Address>(address));
}

} // namespace nereid::runtime
