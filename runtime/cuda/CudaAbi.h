// The parts of the CUDA driver's binary interface that are used here.
// SPDX-License-Identifier: MIT
//
// libcuda is opened at run time and none of its headers is needed to build: the interface is these numbers and a few
// structures.
#pragma once

#include "artifact/TensorMapRecipe.h"

#include <cstddef>
#include <cstdint>

namespace nereid::runtime::cuda {

using Result = int;
using Ordinal = int;
using Address = uint64_t;

using Context = struct ContextTag *;
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
  StubLibrary = 34,
  NoDevice = 100,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  EccUncorrectable = 214,
  InvalidPtx = 218,
  NvlinkUncorrectable = 220,
  UnsupportedPtxVersion = 222,
  Contained = 226,
  InvalidHandle = 400,
  NotFound = 500,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  DeviceAssert = 710,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPc = 718,
  LaunchFailed = 719,
  CooperativeLaunchTooLarge = 720,
};

enum class DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxSharedMemoryPerBlock = 8,
  WarpSize = 10,
  ClockRateKhz = 13,
  MultiprocessorCount = 16,
  MemoryClockRateKhz = 36,
  MemoryBusWidthBits = 37,
  L2CacheBytes = 38,
  MaxThreadsPerMultiprocessor = 39,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  MaxRegistersPerMultiprocessor = 82,
  CooperativeLaunch = 95,
  MaxSharedMemoryPerBlockOptin = 97,
};

enum class FunctionAttribute : int {
  MaxThreadsPerBlock = 0,
  SharedBytes = 1,
  LocalBytes = 3,
  Registers = 4,
  MaxDynamicSharedBytes = 8,
  NonPortableClusterSize = 14,
};

enum class PointerAttribute : int {
  MemoryType = 2,
  DevicePointer = 3,
  DeviceOrdinal = 9,
  RangeStart = 11,
  RangeBytes = 12
};

enum class MemoryPoolAttribute : int { BytesKept = 4 };

enum class JitOption : int { ErrorLog = 5, ErrorLogBytes = 6 };

enum class CaptureMode : int { Global = 0, ThreadLocal = 1, Relaxed = 2 };

/// Flag of an event that orders streams and records no time.
inline constexpr unsigned kEventWithoutTiming = 2;

/// Flag of a stream that is not ordered with the default stream.
inline constexpr unsigned kNonBlockingStream = 1;

enum class CaptureStatus : int { None = 0, Active = 1, Invalidated = 2 };

enum class LaunchAttributeId : int { Cooperative = 2, ClusterDimension = 4, ProgrammaticStreamSerialization = 6 };

struct LaunchAttribute {
  LaunchAttributeId id;
  char padding[4];
  union {
    char bytes[64];
    int flag;
    struct {
      unsigned x, y, z;
    } cluster;
  };
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned dynamicSharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32);

//--- Tensor maps -------------------------------------------------------------------------------

struct alignas(artifact::kTensorMapAlign) TensorMap {
  char bytes[artifact::kTensorMapBytes];
};

enum class TensorMapInterleave : int { None = 0 };
enum class TensorMapSwizzle : int { None = 0, Bytes32 = 1, Bytes64 = 2, Bytes128 = 3 };
enum class TensorMapL2Promotion : int { None = 0, Bytes64 = 1, Bytes128 = 2, Bytes256 = 3 };
enum class TensorMapFill : int { Zero = 0, Nan = 1 };

} // namespace nereid::runtime::cuda
