// An AMD GPU's properties, and what HIP knows of memory.
// SPDX-License-Identifier: MIT
#include "runtime/hip/HipDevice.h"

namespace nereid::runtime {

using namespace hip;

//--- Properties --------------------------------------------------------------------------------

Expected<std::unique_ptr<HipDevice>> HipDevice::open(HipDriver &driver, int ordinal) {
  std::unique_ptr<HipDevice> device(new HipDevice(driver, ordinal));
  DevicePropertiesR0600 properties = {};
  if (const Result result = driver.calls().hipGetDevicePropertiesR0600(&properties, ordinal); result != Success)
    return device->failure("the properties of " + device->name() + " are not known",
                           {"hipGetDeviceProperties", result});
  properties.name[sizeof properties.name - 1] = properties.archName[sizeof properties.archName - 1] = '\0';
  device->known.name = properties.name;
  const std::string_view arch = properties.archName; // "gfx942:sramecc+:xnack-"
  device->archName = arch.substr(0, arch.find(':'));
  device->readProperties<DeviceAttribute>();
  device->isCooperative = device->attribute(DeviceAttribute::CooperativeLaunch) != 0;
  device->maxGrid[0] = device->positive(DeviceAttribute::MaxGridX);
  device->maxGrid[1] = device->positive(DeviceAttribute::MaxGridY);
  device->maxGrid[2] = device->positive(DeviceAttribute::MaxGridZ);
  return device;
}

//--- The thread's device -----------------------------------------------------------------------

Expected<void *> HipDevice::wantedCurrent() { return reinterpret_cast<void *>(static_cast<intptr_t>(ordinal())); }

CallResult HipDevice::getCurrent(void *&current) const {
  int device = 0;
  const Result result = owner.calls().hipGetDevice(&device);
  current = reinterpret_cast<void *>(static_cast<intptr_t>(device));
  return {"hipGetDevice", result};
}

CallResult HipDevice::setCurrent(void *current) const {
  return {"hipSetDevice", owner.calls().hipSetDevice(static_cast<int>(reinterpret_cast<intptr_t>(current)))};
}

//--- Memory ------------------------------------------------------------------------------------

Expected<PointerInfo> HipDevice::pointerInfo(uint64_t address) {
  PointerAttributes attributes = {};
  PointerInfo info;
  const Result result = owner.calls().hipPointerGetAttributes(&attributes, address);
  if (result == InvalidValue) // before ROCm 6.0: memory that HIP does not know
    return info;
  if (result != Success)
    return failure("cannot query the memory of a pointer", {"hipPointerGetAttributes", result});
  info.isKnown = attributes.type != MemoryType::Unregistered;
  info.isOnHost = attributes.type == MemoryType::Host;
  info.ordinal = attributes.device;
  info.onDevice = attributes.onDevice;
  Address start = 0;
  size_t bytes = 0;
  if (info.isKnown && owner.calls().hipMemGetAddressRange(&start, &bytes, address) == Success) {
    info.start = start;
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

} // namespace nereid::runtime
