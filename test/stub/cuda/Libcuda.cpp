// The functions of a libcuda that executes nothing and records every call.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/CudaAbi.h"
#include "test/stub/LoadedModule.h"
#include "test/stub/Stub.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

using namespace nereid::runtime::cuda;
using stub::enter;
using stub::enterContext;
using stub::enterUnsafe;
using stub::EventTime;
using stub::field;
using stub::LoadedFunction;
using stub::LoadedModule;
using stub::triple;

const char *const stub::kVariable = "STUB_LIBCUDA";
const int32_t stub::kDlpackDevice = 2;
static constexpr int kDefaultVersion = 13000;
static int version() { return stub::settings().version ? stub::settings().version : kDefaultVersion; }

namespace {
constexpr int kMaxDevices = 16;
std::array<char, kMaxDevices> contextEntries; // a context is the address of its device's entry
thread_local Context current = nullptr;
} // namespace

static uint64_t number(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }
static int deviceOf(Context context) {
  return context ? static_cast<int>(reinterpret_cast<char *>(context) - contextEntries.data()) : -1;
}

//--- Driver and devices ------------------------------------------------------------------------

STUB_API Result cuInit(unsigned) {
  const Result result = enter("cuInit");
  return result ? result : stub::settings().devices ? Success : NoDevice;
}

STUB_API Result cuDriverGetVersion(int *version) {
  *version = ::version();
  return enter("cuDriverGetVersion");
}

STUB_API Result cuDeviceGetCount(int *count) {
  *count = stub::settings().devices;
  return enter("cuDeviceGetCount");
}

STUB_API Result cuDeviceGet(Ordinal *device, int ordinal) {
  *device = ordinal;
  return enter("cuDeviceGet", field("ordinal", static_cast<uint64_t>(ordinal)));
}

STUB_API Result cuDeviceCanAccessPeer(int *canAccess, Ordinal, Ordinal) {
  *canAccess = stub::settings().peers != 0;
  return enter("cuDeviceCanAccessPeer");
}

STUB_API Result cuDeviceGetName(char *name, int bytes, Ordinal) {
  std::strncpy(name, "NVIDIA H200", static_cast<size_t>(bytes));
  return enter("cuDeviceGetName");
}

STUB_API Result cuDeviceGetAttribute(int *value, DeviceAttribute attribute, Ordinal) {
  static const std::map<DeviceAttribute, int> answers = {
      {DeviceAttribute::MaxThreadsPerBlock, 1024},
      {DeviceAttribute::MaxSharedMemoryPerBlock, 49152},
      {DeviceAttribute::WarpSize, 32},
      {DeviceAttribute::ClockRateKhz, 1980000},
      {DeviceAttribute::MultiprocessorCount, 132},
      {DeviceAttribute::MemoryClockRateKhz, 3201000},
      {DeviceAttribute::MemoryBusWidthBits, 6144},
      {DeviceAttribute::L2CacheBytes, 62914560},
      {DeviceAttribute::MaxThreadsPerMultiprocessor, 2048},
      {DeviceAttribute::MaxRegisters, 65536},
      {DeviceAttribute::CooperativeLaunch, 1},
      {DeviceAttribute::MaxSharedMemoryPerBlockOptin, 232448},
  };
  if (attribute == DeviceAttribute::CapabilityMajor)
    *value = stub::settings().major;
  else if (attribute == DeviceAttribute::CapabilityMinor)
    *value = stub::settings().minor;
  else
    *value = answers.at(attribute);
  return enter("cuDeviceGetAttribute");
}

STUB_API Result cuGetErrorName(Result result, const char **name) {
  static const std::map<Result, const char *> names = {{2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                       {3, "CUDA_ERROR_NOT_INITIALIZED"},
                                                       {100, "CUDA_ERROR_NO_DEVICE"},
                                                       {200, "CUDA_ERROR_INVALID_IMAGE"},
                                                       {201, "CUDA_ERROR_INVALID_CONTEXT"},
                                                       {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                                                       {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                                                       {400, "CUDA_ERROR_INVALID_HANDLE"},
                                                       {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                       {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
                                                       {710, "CUDA_ERROR_ASSERT"},
                                                       {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
                                                       {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"}};
  const auto found = names.find(result);
  if (found == names.end())
    return 1;
  *name = found->second;
  return Success;
}

STUB_API Result cuGetErrorString(Result result, const char **text) {
  *text = result == 700 ? "an illegal memory access was encountered" : "the stub was told to fail";
  return Success;
}

//--- Contexts ----------------------------------------------------------------------------------

STUB_API Result cuDevicePrimaryCtxRetain(Context *context, Ordinal device) {
  *context = reinterpret_cast<Context>(&contextEntries[static_cast<size_t>(device)]);
  return enterContext("cuDevicePrimaryCtxRetain", field("device", static_cast<uint64_t>(device)));
}

STUB_API Result cuCtxGetCurrent(Context *context) {
  *context = current;
  return Success;
}

STUB_API Result cuCtxSetCurrent(Context context) {
  current = context;
  return enter("cuCtxSetCurrent", "\"device\": " + std::to_string(deviceOf(context)));
}

STUB_API Result cuDevicePrimaryCtxGetState(Ordinal, unsigned *flags, int *isActive) {
  *flags = 0;
  *isActive = stub::settings().peers != 0;
  return Success;
}

STUB_API Result cuCtxGetDevice(Ordinal *device) {
  *device = deviceOf(current);
  return current ? Success : InvalidContext;
}

STUB_API Result cuCtxSynchronize() { return enterUnsafe("cuCtxSynchronize"); }

//--- Modules -----------------------------------------------------------------------------------

STUB_API Result cuModuleLoadDataEx(Module *module, const void *image, unsigned count, JitOption *, void **values) {
  const Result result = enterUnsafe("cuModuleLoadDataEx", "\"device\": " + std::to_string(deviceOf(current)));
  if (result != Success && count)
    std::strcpy(static_cast<char *>(values[0]), "ptxas fatal : the stub's log");
  if (result != Success)
    return result;
  if (!current)
    return InvalidContext;
  *module = reinterpret_cast<Module>(new LoadedModule(image));
  return Success;
}

STUB_API Result cuModuleUnload(Module module) {
  const Result result = enterUnsafe("cuModuleUnload");
  if (result == Success)
    delete reinterpret_cast<LoadedModule *>(module);
  return result;
}

STUB_API Result cuModuleGetFunction(Function *function, Module module, const char *name) {
  if (const Result result = enterContext("cuModuleGetFunction", "\"name\": " + stub::quoted(name)))
    return result;
  LoadedFunction *found = reinterpret_cast<LoadedModule *>(module)->find(name);
  if (!found)
    return NotFound;
  *function = reinterpret_cast<Function>(found);
  return Success;
}

STUB_API Result cuFuncGetAttribute(int *value, FunctionAttribute attribute, Function function) {
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
  case FunctionAttribute::MaxDynamicSharedBytes:
    *value = reinterpret_cast<LoadedFunction *>(function)->dynamicShared;
    break;
  case FunctionAttribute::SharedBytes:
  case FunctionAttribute::NonPortableClusterSize:
    *value = 0;
    break;
  }
  return enterContext("cuFuncGetAttribute");
}

STUB_API Result cuFuncSetAttribute(Function function, FunctionAttribute attribute, int value) {
  if (attribute == FunctionAttribute::MaxDynamicSharedBytes)
    reinterpret_cast<LoadedFunction *>(function)->dynamicShared = value;
  return enterContext("cuFuncSetAttribute", field("attribute", static_cast<uint64_t>(attribute)) + ", " +
                                                field("value", static_cast<uint64_t>(value)));
}

STUB_API Result cuOccupancyMaxActiveClusters(int *clusters, Function, const LaunchConfig *config) {
  *clusters = 132 / static_cast<int>(config->attributes[0].cluster.x);
  return enterContext("cuOccupancyMaxActiveClusters");
}

// As of kernels with two warp groups and half of the shared memory.
STUB_API Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Function, int threads, size_t shared) {
  *blocks = 2;
  return enterContext("cuOccupancyMaxActiveBlocksPerMultiprocessor",
                      field("threads", static_cast<uint64_t>(threads)) + ", " + field("shared", shared));
}

//--- Tensor maps -------------------------------------------------------------------------------

/// What the 128 bytes of a tensor map hold here: the arguments of its making, for tests.
struct StubTensorMap {
  uint64_t base, extents[5], strides[4];
  uint16_t box[5];
  uint8_t elementType, rank, swizzle, promotion, fill;
};
static_assert(sizeof(StubTensorMap) <= sizeof(TensorMap));

STUB_API Result cuTensorMapEncodeTiled(TensorMap *map, unsigned elementType, uint32_t rank, Address base,
                                       const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                                       const uint32_t *, TensorMapInterleave, TensorMapSwizzle swizzle,
                                       TensorMapL2Promotion promotion, TensorMapFill fill) {
  StubTensorMap made = {};
  made.base = base;
  std::copy_n(extents, rank, made.extents);
  std::copy_n(strides, rank - 1, made.strides);
  std::copy_n(box, rank, made.box);
  made.elementType = static_cast<uint8_t>(elementType);
  made.rank = static_cast<uint8_t>(rank);
  made.swizzle = static_cast<uint8_t>(swizzle);
  made.promotion = static_cast<uint8_t>(promotion);
  made.fill = static_cast<uint8_t>(fill);
  *map = {};
  std::memcpy(map->bytes, &made, sizeof made);
  return enter("cuTensorMapEncodeTiled", field("base", base));
}

//--- Launches ----------------------------------------------------------------------------------

static std::string describe(const LaunchConfig &config, const LoadedFunction &function, void **parameters) {
  std::string text = "\"name\": " + stub::quoted(function.image.name) + ", " +
                     triple("grid", config.gridX, config.gridY, config.gridZ) + ", " +
                     triple("block", config.blockX, config.blockY, config.blockZ) + ", " +
                     field("shared", config.dynamicSharedBytes) + ", " + field("stream", number(config.stream)) +
                     ", \"device\": " + std::to_string(deviceOf(current)) + ", \"attributes\": {";
  for (unsigned i = 0; i < config.attributeCount; ++i) {
    const LaunchAttribute &attribute = config.attributes[i];
    text += i ? ", " : "";
    text += attribute.id == LaunchAttributeId::ClusterDimension
                ? triple("cluster", attribute.cluster.x, attribute.cluster.y, attribute.cluster.z)
                : field(attribute.id == LaunchAttributeId::Cooperative ? "cooperative" : "pdl",
                        static_cast<uint64_t>(attribute.flag));
  }
  text += "}, \"arguments\": [";
  for (size_t i = 0; i < function.image.parameters.size(); ++i)
    text += (i ? ", \"" : "\"") + stub::hex(parameters[i], function.image.parameters[i].size) + "\"";
  text += "], \"offsets\": [";
  for (size_t i = 0; i < function.image.parameters.size(); ++i)
    text += (i ? ", " : "") + std::to_string(static_cast<char *>(parameters[i]) - static_cast<char *>(parameters[0]));
  text += "], \"wanted_offsets\": [";
  for (size_t i = 0; i < function.image.parameters.size(); ++i)
    text += (i ? ", " : "") + std::to_string(function.image.parameters[i].offset);
  return text + "]";
}

STUB_API Result cuLaunchKernelEx(const LaunchConfig *config, Function handle, void **parameters, void **) {
  const auto &function = *reinterpret_cast<LoadedFunction *>(handle);
  stub::countLaunch();
  const Result result =
      enterContext("cuLaunchKernelEx", stub::isLogging() ? describe(*config, function, parameters) : std::string());
  if (result != Success)
    return result;
  if (!current)
    return InvalidContext;
  stub::noteLaunch(function.image.name);
  stub::delay();
  return Success;
}

//--- Streams and events ------------------------------------------------------------------------

STUB_API Result cuStreamCreate(Stream *stream, unsigned flags) {
  *stream = reinterpret_cast<Stream>(0x5000);
  return enter("cuStreamCreate", field("flags", flags));
}
STUB_API Result cuStreamDestroy_v2(Stream) { return enter("cuStreamDestroy"); }
STUB_API Result cuStreamSynchronize(Stream stream) {
  return enterUnsafe("cuStreamSynchronize", field("stream", number(stream)));
}
STUB_API Result cuThreadExchangeStreamCaptureMode(CaptureMode *mode) {
  const bool relaxed = *mode == CaptureMode::Relaxed;
  *mode = stub::setCaptureRelaxed(relaxed) ? CaptureMode::Relaxed : CaptureMode::Global;
  return enter("cuThreadExchangeStreamCaptureMode", field("mode", relaxed ? 2 : 0));
}
STUB_API Result cuStreamIsCapturing(Stream stream, CaptureStatus *status) {
  *status = stub::isCapturing() ? CaptureStatus::Active : CaptureStatus::None;
  return enterContext("cuStreamIsCapturing", field("stream", number(stream)));
}

STUB_API Result cuStreamWaitEvent(Stream stream, Event event, unsigned) {
  return enter("cuStreamWaitEvent", field("stream", number(stream)) + ", " + field("event", number(event)));
}

STUB_API Result cuEventCreate(Event *event, unsigned) {
  *event = reinterpret_cast<Event>(new EventTime);
  return enter("cuEventCreate");
}
STUB_API Result cuEventRecord(Event event, Stream stream) {
  reinterpret_cast<EventTime *>(event)->record();
  return enter("cuEventRecord", field("stream", number(stream)) + ", " + field("event", number(event)));
}
STUB_API Result cuEventElapsedTime(float *milliseconds, Event from, Event to) {
  *milliseconds = reinterpret_cast<EventTime *>(from)->millisecondsUntil(*reinterpret_cast<EventTime *>(to));
  return enter("cuEventElapsedTime");
}
STUB_API Result cuEventDestroy(Event event) {
  delete reinterpret_cast<EventTime *>(event);
  return enter("cuEventDestroy");
}

//--- Memory ------------------------------------------------------------------------------------

/// Of the current context: fails where its device cannot access the memory.
STUB_API Result cuPointerGetAttribute(void *value, PointerAttribute attribute, Address address) {
  constexpr int kOnHost = 1;
  const Result result = enter("cuPointerGetAttribute", field("address", address));
  if (result != Success)
    return result;
  const stub::Memory found = stub::memoryAt(address);
  const bool isReachable =
      found.type == kOnHost || (found.type && (found.ordinal == deviceOf(current) || stub::settings().peers == 1));
  if (attribute != PointerAttribute::DevicePointer || !isReachable)
    return InvalidValue;
  *static_cast<uint64_t *>(value) = address;
  return Success;
}
STUB_API Result cuPointerGetAttributes(unsigned count, PointerAttribute *attributes, void **values, Address address) {
  const stub::Memory found = stub::memoryAt(address);
  for (unsigned i = 0; i < count; ++i)
    switch (attributes[i]) {
    case PointerAttribute::MemoryType:
      *static_cast<unsigned *>(values[i]) = static_cast<unsigned>(found.type);
      break;
    case PointerAttribute::DeviceOrdinal:
      *static_cast<int *>(values[i]) = found.ordinal;
      break;
    case PointerAttribute::DevicePointer:
      *static_cast<uint64_t *>(values[i]) = found.type ? address : 0;
      break;
    case PointerAttribute::RangeStart:
      *static_cast<uint64_t *>(values[i]) = found.start;
      break;
    case PointerAttribute::RangeBytes:
      *static_cast<uint64_t *>(values[i]) = found.bytes;
      break;
    }
  return enter("cuPointerGetAttributes", field("address", address));
}

static std::string request(size_t bytes, Stream stream) {
  return field("bytes", bytes) + ", " + field("stream", number(stream)) + ", " + field("address", stub::nextAddress());
}

static Result allocate(Result result, Address *address, size_t bytes) {
  if (result != Success)
    return result;
  if (!current)
    return InvalidContext;
  *address = stub::allocate(bytes, std::max(deviceOf(current), 0));
  return Success;
}

STUB_API Result cuMemAlloc_v2(Address *address, size_t bytes) {
  return allocate(enterUnsafe("cuMemAlloc", request(bytes, nullptr)), address, bytes);
}
// Inside a capture it becomes a node of the graph.
STUB_API Result cuMemAllocAsync(Address *address, size_t bytes, Stream stream) {
  return allocate(enterContext("cuMemAllocAsync", request(bytes, stream)), address, bytes);
}
STUB_API Result cuMemFree_v2(Address address) {
  const Result result = enterUnsafe("cuMemFree", field("address", address));
  if (result != Success)
    return result;
  if (!current)
    return InvalidContext;
  stub::release(address);
  return Success;
}
STUB_API Result cuMemFreeAsync(Address address, Stream stream) {
  return enter("cuMemFreeAsync", field("address", address) + ", " + field("stream", number(stream)));
}
// A pool is the address of its device's entry.
STUB_API Result cuDeviceGetDefaultMemPool(MemoryPool *pool, Ordinal device) {
  *pool = reinterpret_cast<MemoryPool>(&contextEntries[device]);
  return enter("cuDeviceGetDefaultMemPool");
}
STUB_API Result cuMemPoolGetAttribute(MemoryPool, MemoryPoolAttribute, void *value) {
  *static_cast<uint64_t *>(value) = 0;
  return enter("cuMemPoolGetAttribute");
}
STUB_API Result cuMemPoolSetAttribute(MemoryPool pool, MemoryPoolAttribute attribute, void *value) {
  return enter("cuMemPoolSetAttribute", field("pool", reinterpret_cast<char *>(pool) - contextEntries.data()) + ", " +
                                            field("attribute", static_cast<int>(attribute)) + ", " +
                                            field("value", *static_cast<uint64_t *>(value)));
}
STUB_API Result cuMemsetD8Async(Address address, unsigned char value, size_t bytes, Stream stream) {
  return enter("cuMemsetD8Async", field("address", address) + ", " + field("value", value) + ", " +
                                      field("bytes", bytes) + ", " + field("stream", number(stream)));
}

STUB_API Result cuMemcpyDtoH_v2(void *, Address from, size_t bytes) {
  return enter("cuMemcpyDtoH", field("from", from) + ", " + field("bytes", bytes));
}
STUB_API Result cuMemcpyHtoD_v2(Address to, const void *, size_t bytes) {
  return enter("cuMemcpyHtoD", field("to", to) + ", " + field("bytes", bytes));
}

//--- Finding functions -------------------------------------------------------------------------

STUB_API Result cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t, int *status) {
  Dl_info info;
  static void *const self =
      dladdr(contextEntries.data(), &info) ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  *function = nullptr;
  *status = 1;
  if (version > ::version())
    return NotFound;
  // Of functions that have changed, the later form; the first ones took 32-bit addresses.
  for (const char *suffix : {"_v2", ""})
    if (void *found = dlsym(self, (std::string(name) + suffix).c_str())) {
      *function = found;
      *status = 0;
      return Success;
    }
  return NotFound;
}
