// The parts of a driver's binary interface that CUDA and HIP have alike: HIP has taken over CUDA's numbers.
// SPDX-License-Identifier: MIT
//
// The libraries are opened at run time and none of their headers is needed to build: the interface is these numbers, a
// few structures and the functions of SharedCalls.def.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::runtime::gpu {

using Result = int;
using Address = uint64_t; ///< of a GPU's memory; a pointer in HIP's own headers

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

enum class FunctionAttribute : int {
  MaxThreadsPerBlock = 0,
  SharedBytes = 1,
  LocalBytes = 3,
  Registers = 4,
  MaxDynamicSharedBytes = 8,   ///< CUDA's alone
  NonPortableClusterSize = 14, ///< CUDA's alone
};

enum class MemoryPoolAttribute : int { BytesKept = 4 };

enum class JitOption : int { ErrorLog = 5, ErrorLogBytes = 6 }; // HIP ignores them all

enum class CaptureMode : int { Global = 0, ThreadLocal = 1, Relaxed = 2 };

/// Flag of an event that orders streams and records no time.
inline constexpr unsigned kEventWithoutTiming = 2;

/// A function of the driver, with its name for messages.
template <typename Signature> struct Call;
template <typename... Parameters> struct Call<Result(Parameters...)> {
  Result (*function)(Parameters...) = nullptr;
  const char *name = "";
  Result operator()(Parameters... arguments) const { return function(arguments...); }
};

/// The result of a call, with the call's name.
struct CallResult {
  const char *call = "";
  Result result = Success;
};

/// The functions that both drivers have.
struct SharedCalls {
#define NEREID_SHARED_CALL(role, cuda, version, hip, parameters) Call<Result parameters> role;
#include "runtime/gpu/SharedCalls.def"
};

} // namespace nereid::runtime::gpu
