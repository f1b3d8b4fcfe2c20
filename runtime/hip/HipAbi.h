// The parts of the HIP API's binary interface that are used here.
// SPDX-License-Identifier: MIT
//
// libamdhip64 is opened at run time and none of its headers is needed to build: the interface is these numbers and two
// structures, those of hip_runtime_api.h of ROCm 6.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::runtime::hip {

using Result = int;
using Address = void *;

using Module = struct ModuleTag *;
using Function = struct FunctionTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using MemoryPool = struct MemoryPoolTag *;

enum ResultCode : Result {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  InvalidConfiguration = 9,
  NoDevice = 100,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  EccNotCorrectable = 214,
  InvalidHandle = 400,
  NotFound = 500,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeOut = 702,
  Assert = 710,
  LaunchFailure = 719,
  CooperativeLaunchTooLarge = 720,
};

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
  MaxRegistersPerBlock = 71,
  MaxSharedMemoryPerBlock = 74,
  WarpSize = 87,
};

enum class FunctionAttribute : int { MaxThreadsPerBlock = 0, SharedBytes = 1, LocalBytes = 3, Registers = 4 };

enum class JitOption : int; // hipModuleLoadDataEx ignores them all

enum class CaptureMode : int { Global = 0, ThreadLocal = 1, Relaxed = 2 };

enum class MemoryPoolAttribute : int { BytesKept = 4 };

/// Flag of an event that orders streams and records no time.
inline constexpr unsigned kEventWithoutTiming = 2;

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
