// The parts of the CUDA driver's binary interface that are used here.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/TensorMapRecipe.h"
#include "runtime/gpu/DriverAbi.h"

namespace nereid::runtime::cuda {

using namespace gpu;

using Ordinal = int;
using Context = struct ContextTag *;

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
  MaxRegisters = 82,
  CooperativeLaunch = 95,
  MaxSharedMemoryPerBlockOptin = 97,
};

enum class PointerAttribute : int {
  MemoryType = 2,
  DevicePointer = 3,
  DeviceOrdinal = 9,
  RangeStart = 11,
  RangeBytes = 12
};

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
