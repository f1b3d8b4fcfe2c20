// The functions of a libamdhip64 that executes nothing and records every call.
// SPDX-License-Identifier: MIT
#include "runtime/hip/HipAbi.h"
#include "test/stub/LoadedModule.h"
#include "test/stub/Stub.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

using namespace nereid::runtime::hip;
using stub::enter;
using stub::enterContext;
using stub::enterUnsafe;
using stub::EventTime;
using stub::field;
using stub::LoadedFunction;
using stub::LoadedModule;
using stub::triple;

const char *const stub::kVariable = "STUB_LIBAMDHIP64";
const int32_t stub::kDlpackDevice = 10;

namespace {
thread_local int current = 0;
} // namespace

static uint64_t number(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }
static std::string device() { return field("device", static_cast<uint64_t>(current)); }

//--- Driver and devices ------------------------------------------------------------------------

STUB_API Result hipInit(unsigned) {
  const Result result = enter("hipInit");
  return result ? result : stub::settings().devices ? Success : NoDevice;
}

STUB_API Result hipDriverGetVersion(int *version) {
  *version = stub::settings().version ? stub::settings().version : 60342134;
  return enter("hipDriverGetVersion");
}

STUB_API Result hipGetDeviceCount(int *count) {
  *count = stub::settings().devices;
  return enter("hipGetDeviceCount");
}

STUB_API Result hipGetDevicePropertiesR0600(DevicePropertiesR0600 *properties, int ordinal) {
  *properties = {};
  std::strcpy(properties->name, "AMD Instinct MI300X");
  std::strncpy(properties->archName, stub::settings().arch.c_str(), sizeof properties->archName - 1);
  return enter("hipGetDevicePropertiesR0600", field("ordinal", static_cast<uint64_t>(ordinal)));
}

STUB_API Result hipDeviceGetAttribute(int *value, DeviceAttribute attribute, int) {
  static const std::map<DeviceAttribute, int> answers = {
      {DeviceAttribute::ClockRateKhz, 2100000},
      {DeviceAttribute::CooperativeLaunch, 1},
      {DeviceAttribute::L2CacheBytes, 4194304},
      {DeviceAttribute::MaxGridX, 2147483647},
      {DeviceAttribute::MaxGridY, 65535},
      {DeviceAttribute::MaxGridZ, 65535},
      {DeviceAttribute::MaxThreadsPerBlock, 1024},
      {DeviceAttribute::MaxThreadsPerMultiprocessor, 2048},
      {DeviceAttribute::MemoryBusWidthBits, 8192},
      {DeviceAttribute::MemoryClockRateKhz, 1300000},
      {DeviceAttribute::MultiprocessorCount, 304},
      {DeviceAttribute::MaxRegisters, 65536},
      {DeviceAttribute::MaxSharedMemoryPerBlock, 65536},
      {DeviceAttribute::WarpSize, 64},
  };
  *value = answers.at(attribute);
  return enter("hipDeviceGetAttribute");
}

STUB_API Result hipDrvGetErrorName(Result result, const char **name) {
  static const std::map<Result, const char *> names = {{2, "hipErrorOutOfMemory"},
                                                       {100, "hipErrorNoDevice"},
                                                       {200, "hipErrorInvalidImage"},
                                                       {209, "hipErrorNoBinaryForGpu"},
                                                       {400, "hipErrorInvalidHandle"},
                                                       {700, "hipErrorIllegalAddress"},
                                                       {701, "hipErrorLaunchOutOfResources"},
                                                       {720, "hipErrorCooperativeLaunchTooLarge"},
                                                       {900, "hipErrorStreamCaptureUnsupported"}};
  const auto found = names.find(result);
  if (found == names.end())
    return InvalidValue;
  *name = found->second;
  return Success;
}

STUB_API Result hipDrvGetErrorString(Result result, const char **text) {
  *text = result == IllegalAddress ? "an illegal memory access was encountered" : "the stub was told to fail";
  return Success;
}

STUB_API Result hipGetDevice(int *ordinal) {
  *ordinal = current;
  return Success;
}

STUB_API Result hipSetDevice(int ordinal) {
  current = ordinal;
  return enter("hipSetDevice", device());
}

STUB_API Result hipDeviceSynchronize() { return enterUnsafe("hipDeviceSynchronize", device()); }

//--- Modules -----------------------------------------------------------------------------------

STUB_API Result hipModuleLoadDataEx(Module *module, const void *image, unsigned, JitOption *, void **) {
  if (const Result result = enterUnsafe("hipModuleLoadDataEx", device()))
    return result;
  auto loaded = std::make_unique<LoadedModule>(image);
  if (loaded->functions.empty())
    return InvalidImage;
  *module = reinterpret_cast<Module>(loaded.release());
  return Success;
}

STUB_API Result hipModuleUnload(Module module) {
  const Result result = enterUnsafe("hipModuleUnload");
  if (result == Success)
    delete reinterpret_cast<LoadedModule *>(module);
  return result;
}

STUB_API Result hipModuleGetFunction(Function *function, Module module, const char *name) {
  if (const Result result = enterContext("hipModuleGetFunction", "\"name\": " + stub::quoted(name)))
    return result;
  LoadedFunction *found = reinterpret_cast<LoadedModule *>(module)->find(name);
  if (!found)
    return NotFound;
  *function = reinterpret_cast<Function>(found);
  return Success;
}

STUB_API Result hipFuncGetAttribute(int *value, FunctionAttribute attribute, Function) {
  switch (attribute) {
  case FunctionAttribute::MaxThreadsPerBlock:
    *value = stub::settings().maxThreads;
    break;
  case FunctionAttribute::LocalBytes:
    *value = stub::settings().localBytes;
    break;
  case FunctionAttribute::Registers:
    *value = stub::settings().registers;
    break;
  case FunctionAttribute::SharedBytes:
  case FunctionAttribute::MaxDynamicSharedBytes:
  case FunctionAttribute::NonPortableClusterSize:
    *value = 0;
    break;
  }
  return enterContext("hipFuncGetAttribute");
}

//--- Launches ----------------------------------------------------------------------------------

namespace {
struct Launch {
  const char *call;
  const LoadedFunction &function;
  unsigned grid[3], block[3], sharedBytes;
  Stream stream;
  void **parameters, **extra;
};
} // namespace

/// The buffer as it reaches the kernel, its size, and the bytes of each argument where the code says that it is.
static std::string buffered(const Launch &launch) {
  const auto *buffer = static_cast<const uint8_t *>(launch.extra[1]);
  const size_t bytes = *static_cast<const size_t *>(launch.extra[3]);
  std::string text =
      "\"buffer\": \"" + stub::hex(buffer, bytes) + "\", " + field("bytes", bytes) + ", \"arguments\": [";
  const char *separator = "\"";
  for (const stub::KernelParameter &parameter : launch.function.image.parameters) {
    const size_t end = parameter.offset + parameter.size;
    text += separator + (end <= bytes ? stub::hex(buffer + parameter.offset, parameter.size) : "beyond") + "\"";
    separator = ", \"";
  }
  return text + "]";
}

static std::string pointed(const Launch &launch) {
  std::string text = "\"arguments\": [";
  const char *separator = "\"";
  void *const *next = launch.parameters;
  for (const stub::KernelParameter &parameter : launch.function.image.parameters) {
    text += separator + stub::hex(*next++, parameter.size) + "\"";
    separator = ", \"";
  }
  return text + "]";
}

static std::string describe(const Launch &launch) {
  return "\"name\": " + stub::quoted(launch.function.image.name) + ", " +
         triple("grid", launch.grid[0], launch.grid[1], launch.grid[2]) + ", " +
         triple("block", launch.block[0], launch.block[1], launch.block[2]) + ", " +
         field("shared", launch.sharedBytes) + ", " + field("stream", number(launch.stream)) + ", " + device() + ", " +
         (launch.extra ? buffered(launch) : pointed(launch));
}

static Result start(const Launch &launch) {
  stub::countLaunch();
  if (const Result result = enterContext(launch.call, stub::isLogging() ? describe(launch) : std::string()))
    return result;
  stub::noteLaunch(launch.function.image.name);
  stub::delay();
  return Success;
}

STUB_API Result hipModuleLaunchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                                      unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                                      Stream stream, void **parameters, void **extra) {
  if (extra && (extra[0] != kLaunchBuffer || extra[2] != kLaunchBufferBytes || extra[4] != kLaunchEnd || parameters))
    return InvalidValue;
  return start({"hipModuleLaunchKernel",
                *reinterpret_cast<LoadedFunction *>(function),
                {gridX, gridY, gridZ},
                {blockX, blockY, blockZ},
                sharedBytes,
                stream,
                parameters,
                extra});
}

STUB_API Result hipModuleLaunchCooperativeKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                                                 unsigned blockX, unsigned blockY, unsigned blockZ,
                                                 unsigned sharedBytes, Stream stream, void **parameters) {
  return start({"hipModuleLaunchCooperativeKernel",
                *reinterpret_cast<LoadedFunction *>(function),
                {gridX, gridY, gridZ},
                {blockX, blockY, blockZ},
                sharedBytes,
                stream,
                parameters,
                nullptr});
}

//--- Streams and events ------------------------------------------------------------------------

STUB_API Result hipThreadExchangeStreamCaptureMode(CaptureMode *mode) {
  const bool relaxed = *mode == CaptureMode::Relaxed;
  *mode = stub::setCaptureRelaxed(relaxed) ? CaptureMode::Relaxed : CaptureMode::Global;
  return enter("hipThreadExchangeStreamCaptureMode", field("mode", relaxed ? 2 : 0));
}

STUB_API Result hipStreamWaitEvent(Stream stream, Event event, unsigned) {
  return enter("hipStreamWaitEvent", field("stream", number(stream)) + ", " + field("event", number(event)));
}

STUB_API Result hipEventCreateWithFlags(Event *event, unsigned flags) {
  *event = reinterpret_cast<Event>(new EventTime);
  return enter("hipEventCreateWithFlags", field("flags", flags));
}
STUB_API Result hipEventRecord(Event event, Stream stream) {
  reinterpret_cast<EventTime *>(event)->record();
  return enter("hipEventRecord", field("stream", number(stream)) + ", " + field("event", number(event)));
}
STUB_API Result hipEventElapsedTime(float *milliseconds, Event from, Event to) {
  *milliseconds = reinterpret_cast<EventTime *>(from)->millisecondsUntil(*reinterpret_cast<EventTime *>(to));
  return enter("hipEventElapsedTime");
}
STUB_API Result hipEventDestroy(Event event) {
  delete reinterpret_cast<EventTime *>(event);
  return enter("hipEventDestroy");
}

//--- Memory ------------------------------------------------------------------------------------

STUB_API Result hipPointerGetAttributes(PointerAttributes *attributes, Address address) {
  const stub::Memory found = stub::memoryAt(address);
  *attributes = {};
  attributes->type = static_cast<MemoryType>(found.type);
  attributes->device = found.ordinal;
  attributes->onDevice = found.type ? address : 0;
  return enter("hipPointerGetAttributes", field("address", address));
}
STUB_API Result hipMemGetAddressRange(Address *start, size_t *bytes, Address address) {
  const stub::Memory found = stub::memoryAt(address);
  *start = found.start;
  *bytes = found.bytes;
  return enter("hipMemGetAddressRange", field("address", address));
}

static Result allocate(Result result, Address *address, size_t bytes) {
  if (result == Success)
    *address = stub::allocate(bytes, current);
  return result;
}
static std::string request(size_t bytes, Stream stream) {
  return field("bytes", bytes) + ", " + field("stream", number(stream)) + ", " + field("address", stub::nextAddress());
}
STUB_API Result hipMalloc(Address *address, size_t bytes) {
  return allocate(enterUnsafe("hipMalloc", request(bytes, nullptr)), address, bytes);
}
STUB_API Result hipMallocAsync(Address *address, size_t bytes, Stream stream) {
  return allocate(enterContext("hipMallocAsync", request(bytes, stream)), address, bytes);
}
STUB_API Result hipFree(Address address) {
  const Result result = enterUnsafe("hipFree", field("address", address));
  if (result == Success)
    stub::release(address);
  return result;
}
STUB_API Result hipFreeAsync(Address address, Stream stream) {
  return enter("hipFreeAsync", field("address", address) + ", " + field("stream", number(stream)));
}
STUB_API Result hipMemsetD8Async(Address address, unsigned char value, size_t bytes, Stream stream) {
  return enter("hipMemsetD8Async", field("address", address) + ", " + field("value", value) + ", " +
                                       field("bytes", bytes) + ", " + field("stream", number(stream)));
}
STUB_API Result hipDeviceGetDefaultMemPool(MemoryPool *pool, int) {
  *pool = nullptr;
  return enter("hipDeviceGetDefaultMemPool");
}
STUB_API Result hipMemPoolGetAttribute(MemoryPool, MemoryPoolAttribute, void *value) {
  *static_cast<uint64_t *>(value) = 0;
  return enter("hipMemPoolGetAttribute");
}
STUB_API Result hipMemPoolSetAttribute(MemoryPool, MemoryPoolAttribute attribute, void *value) {
  return enter("hipMemPoolSetAttribute", field("attribute", static_cast<uint64_t>(attribute)) + ", " +
                                             field("value", *static_cast<uint64_t *>(value)));
}
