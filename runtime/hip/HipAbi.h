// The parts of the HIP API's binary interface that are used here.
// SPDX-License-Identifier: MIT
//
// The structures are those of hip_runtime_api.h of ROCm 6.
#pragma once

#include "runtime/gpu/DriverAbi.h"

namespace nereid::runtime::hip {

using namespace gpu;

enum class DeviceAttribute : int {
  ClockRateKhz = 5,
  CooperativeLaunch = 10,
  L2CacheBytes = 19,
  MaxGridX = 29,
  MaxGridY = 30,
  MaxGridZ = 31,
  MaxThreadsPerBlock = 56,
  MaxThreadsPerMultiprocessor = 57,
  MemoryBusWidthBits = 59,
  MemoryClockRateKhz = 60,
  MultiprocessorCount = 63,
  MaxRegisters = 71,
  MaxSharedMemoryPerBlock = 74,
  WarpSize = 87,
};

/// hipDeviceProp_t of the interface R0600. Only the architecture's name has no attribute.
struct DevicePropertiesR0600 {
  char name[256];
  char before[904];
  char archName[256]; ///< "gfx942:sramecc+:xnack-"
  char after[56];
};
static_assert(sizeof(DevicePropertiesR0600) == 1472 && offsetof(DevicePropertiesR0600, archName) == 1160);

enum class MemoryType : int { Unregistered = 0, Host = 1, Device = 2, Managed = 3, Array = 10, Unified = 11 };

/// hipPointerAttribute_t.
struct PointerAttributes {
  MemoryType type;
  int device;
  Address onDevice;
  void *onHost;
  int isManaged;
  unsigned allocationFlags;
};
static_assert(sizeof(PointerAttributes) == 32);

// What the list `extra` of a launch contains: the packed arguments, as they are in the kernel's argument segment.
inline void *const kLaunchBuffer = reinterpret_cast<void *>(1);
inline void *const kLaunchBufferBytes = reinterpret_cast<void *>(2);
inline void *const kLaunchEnd = reinterpret_cast<void *>(3);

} // namespace nereid::runtime::hip
