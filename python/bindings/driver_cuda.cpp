// The bindings of the driver for NVIDIA's GPUs. Nothing is initialised before the first call that needs it.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "python/bindings/Arrays.h"
#include "python/bindings/Kernel.h"
#include "python/bindings/Properties.h"
#include "runtime/cuda/CudaDevice.h"

#include <nanobind/stl/string.h>

#include <map>

using namespace nereid;
using namespace nereid::python;

template <typename T> static T &valueOf(runtime::Expected<T *> found) {
  if (!found)
    raiseRuntimeError(found.error());
  return **found;
}

static void ensure(const runtime::Expected<void> &done) {
  if (!done)
    raiseRuntimeError(done.error());
}

static runtime::CudaDevice &deviceAt(int ordinal) { return valueOf(runtime::cudaDevice(ordinal)); }

//--- Properties --------------------------------------------------------------------------------

static nb::dict propertiesOf(int ordinal) {
  runtime::CudaDevice &device = deviceAt(ordinal);
  nb::dict dict = propertiesDict(device.properties());
  dict["compute_capability"] = device.capability();
  return dict;
}

static nb::object pointerInfo(uint64_t address) {
  auto info = deviceAt(0).pointerInfo(address);
  if (!info)
    raiseRuntimeError(info.error());
  if (!info->isKnown)
    return nb::none();
  nb::dict dict;
  dict["on_host"] = info->isOnHost;
  dict["device"] = info->ordinal;
  dict["address"] = info->onDevice;
  dict["start"] = info->start;
  dict["bytes"] = info->bytes;
  return dict;
}

/// Whether a GPU can read this host array, such as a pinned one.
static bool canAccess(nb::handle object) {
  Array array;
  if (readArray(object.ptr(), array) != ArrayResult::Read) {
    PyErr_Clear();
    return false;
  }
  auto device = runtime::cudaDevice(0);
  if (!device)
    return false;
  auto info = (*device)->pointerInfo(array.address);
  return info && info->isKnown;
}

/// The current stream of the library of the first GPU array, else torch's.
static uint64_t streamFor(nb::tuple arguments, int32_t ordinal) {
  for (nb::handle argument : arguments) {
    if (argument.is_none() || PyLong_Check(argument.ptr()) || PyFloat_Check(argument.ptr()))
      continue;
    Array array;
    void *stream = nullptr;
    const bool knows = readArray(argument.ptr(), array) == ArrayResult::Read && array.device == DeviceKind::Cuda &&
                       array.streamQuery && array.streamQuery(dlpack::Cuda, ordinal, &stream) == 0;
    PyErr_Clear();
    if (knows)
      return reinterpret_cast<uint64_t>(stream);
  }
  return reinterpret_cast<uint64_t>(currentStream(ordinal));
}

//--- Modules by hand ---------------------------------------------------------------------------

/// Kernels that `load_binary` has loaded, by the handle that it returned.
static std::map<uint64_t, std::shared_ptr<LoadedKernel>> &loadedBinaries() {
  static auto *const binaries = new std::map<uint64_t, std::shared_ptr<LoadedKernel>>;
  return *binaries;
}

static nb::tuple loadBinary(const std::string &name, nb::bytes binary, uint64_t sharedBytes, int ordinal) {
  artifact::Artifact artifact;
  artifact.name = artifact.entry = name;
  artifact.target = {std::string(artifact::kCuda.name), std::to_string(deviceAt(ordinal).capability()), "",
                     artifact::kCuda.warpSize};
  artifact.sharedBytes = sharedBytes;
  artifact.binary.assign(binary.c_str(), binary.size());
  auto kernel = LoadedKernel::load(artifact, ordinal);
  static uint64_t count = 0;
  loadedBinaries().emplace(++count, kernel);
  const runtime::KernelResources resources = kernel->resources();
  return nb::make_tuple(count, reinterpret_cast<uint64_t>(kernel->handle()), resources.registers, resources.spills,
                        resources.maxThreads);
}

static int maxActiveClusters(uint64_t function, uint64_t sharedBytes, unsigned x, unsigned y, unsigned z, int ordinal) {
  using namespace runtime::cuda;
  runtime::CudaDevice &device = deviceAt(ordinal);
  auto context = device.context();
  if (!context)
    raiseRuntimeError(context.error());
  LaunchAttribute attribute{LaunchAttributeId::ClusterDimension, {}, {}};
  attribute.cluster = {x, y, z};
  LaunchConfig config{x, y, z, 128, 1, 1, static_cast<unsigned>(sharedBytes), nullptr, &attribute, 1};
  const DriverCalls &calls = device.driver().calls();
  const runtime::ContextScope scope(calls, *context);
  int clusters = 0;
  const Result result = calls.cuOccupancyMaxActiveClusters(&clusters, reinterpret_cast<Function>(function), &config);
  if (result != Success)
    raiseRuntimeError(device.driver().failure("cuOccupancyMaxActiveClusters", result));
  return clusters;
}

//--- Timing ------------------------------------------------------------------------------------

namespace {
/// Driver calls within a device's context; a failure throws a Python exception.
class DeviceCalls {
public:
  explicit DeviceCalls(int ordinal) : device(deviceAt(ordinal)) {
    auto found = device.context();
    if (!found)
      raiseRuntimeError(found.error());
    context = *found;
  }

  template <typename Function, typename... Args> void operator()(const char *name, Function function, Args... args) {
    const runtime::ContextScope scope(device.driver().calls(), context);
    if (const runtime::cuda::Result result = function(args...); result != runtime::cuda::Success)
      raiseRuntimeError(device.failure("cuda-call", std::string(name) + " failed on " + device.name(), name, result));
  }
  /// For destructors, which ignore the result.
  template <typename Function, typename... Args> void quietly(Function function, Args... args) {
    const runtime::ContextScope scope(device.driver().calls(), context);
    function(args...);
  }
  const runtime::cuda::DriverCalls &table() const { return device.driver().calls(); }

private:
  runtime::CudaDevice &device;
  runtime::cuda::Context context = nullptr;
};

/// A point in a stream's work.
class Event {
public:
  explicit Event(int ordinal) : calls(ordinal) { calls("cuEventCreate", calls.table().cuEventCreate, &event, 0u); }
  ~Event() { calls.quietly(calls.table().cuEventDestroy, event); }
  Event(const Event &) = delete;

  void record(uint64_t stream) {
    calls("cuEventRecord", calls.table().cuEventRecord, event, reinterpret_cast<runtime::cuda::Stream>(stream));
  }
  double millisecondsSince(Event &earlier) {
    float milliseconds = 0;
    calls("cuEventElapsedTime", calls.table().cuEventElapsedTime, &milliseconds, earlier.event, event);
    return milliseconds;
  }

private:
  DeviceCalls calls;
  runtime::cuda::Event event = nullptr;
};

/// Memory on a GPU.
class Buffer {
public:
  Buffer(uint64_t bytes, int ordinal) : calls(ordinal), bytes(bytes) {
    calls("cuMemAlloc", calls.table().cuMemAlloc, &address, bytes);
  }
  ~Buffer() { calls.quietly(calls.table().cuMemFree, address); }
  Buffer(const Buffer &) = delete;

  void zero(uint64_t stream) {
    calls("cuMemsetD8Async", calls.table().cuMemsetD8Async, address, static_cast<unsigned char>(0), bytes,
          reinterpret_cast<runtime::cuda::Stream>(stream));
  }

private:
  DeviceCalls calls;
  runtime::cuda::Address address = 0;
  const uint64_t bytes;
};
} // namespace

//--- The module --------------------------------------------------------------------------------

static void bindTiming(nb::module_ &driver) {
  nb::class_<Event>(driver, "Event", "A point in a stream's work; the times between two can be measured.")
      .def(nb::init<int>(), nb::arg("device"))
      .def("record", &Event::record, nb::arg("stream"))
      .def("milliseconds_since", &Event::millisecondsSince, nb::arg("earlier"));
  nb::class_<Buffer>(driver, "Buffer", "Memory on a GPU.")
      .def(nb::init<uint64_t, int>(), nb::arg("bytes"), nb::arg("device"))
      .def("zero", &Buffer::zero, nb::arg("stream"));
}

static void bindModules(nb::module_ &driver) {
  driver.def("load_binary", &loadBinary, nb::arg("name"), nb::arg("binary"), nb::arg("shared"), nb::arg("device"),
             "(module, function, registers, spills, maximum threads per block) of code in memory.");
  driver.def(
      "unload_module", [](uint64_t module) { loadedBinaries().erase(module); }, nb::arg("module"),
      "Unloads what `load_binary` has loaded.");
  driver.def("max_active_clusters", &maxActiveClusters, nb::arg("function"), nb::arg("shared"), nb::arg("x"),
             nb::arg("y"), nb::arg("z"), nb::arg("device"), "How many clusters of that size run at once.");
}

void nereid::python::bindCudaDriver(nb::module_ &module) {
  nb::module_ driver = module.def_submodule("driver_cuda", "NVIDIA's GPUs as devices.");
  driver.def("set_library", &runtime::setCudaLibrary, nb::arg("path"),
             "Where libcuda is looked for; the empty path is the system's own.");
  driver.def("has_library", &runtime::hasCudaLibrary, "Whether there is a libcuda; initialises nothing.");
  driver.def("is_initialized", &runtime::isCudaInitialized, "Whether the driver is in use in this process.");
  driver.def(
      "device_count",
      [] {
        auto found = runtime::cudaDriver();
        return found ? (*found)->deviceCount() : 0;
      },
      "Number of GPUs; 0 where the driver is missing or cannot be used. Initialises the driver.");
  driver.def(
      "require", [] { valueOf(runtime::cudaDriver()); }, "Raises what is wrong with the driver, if anything is.");
  driver.def(
      "driver_version", [] { return valueOf(runtime::cudaDriver()).version(); },
      "The CUDA version of the driver: 12080 is 12.8.");
  driver.def("properties", &propertiesOf, nb::arg("device"), "The figures that people size their grids by.");
  driver.def(
      "capability", [](int ordinal) { return deviceAt(ordinal).capability(); }, nb::arg("device"),
      "90 for compute capability 9.0.");
  driver.def("current_device", &currentDevice, "The GPU that work goes to now: torch's, or the thread's context's.");
  driver.def(
      "make_current",
      [](int ordinal) {
        auto context = deviceAt(ordinal).context();
        if (!context)
          raiseRuntimeError(context.error());
        deviceAt(ordinal).driver().calls().cuCtxSetCurrent(*context);
      },
      nb::arg("device"), "Makes the GPU's context the thread's.");
  driver.def(
      "current_stream", [](int32_t ordinal) { return reinterpret_cast<uint64_t>(currentStream(ordinal)); },
      nb::arg("device"), "The stream that work on a GPU goes to now: torch's, or the default one.");
  driver.def("stream_for", &streamFor, nb::arg("args"), nb::arg("device"),
             "The stream that a launch with these arguments goes to.");
  driver.def(
      "synchronize",
      [](int ordinal) {
        runtime::CudaDevice &device = deviceAt(ordinal);
        const auto done = [&] {
          nb::gil_scoped_release release;
          return device.synchronize();
        }();
        ensure(done);
      },
      nb::arg("device"), "Waits for all work of a GPU.");
  driver.def("pointer_info", &pointerInfo, nb::arg("address"), "The driver's information about an address, or None.");
  driver.def("can_access", &canAccess, nb::arg("array"), "Whether GPUs can read this array of the host's.");
  driver.def(
      "set_check_pointers", [](bool flag) { checkPointers.store(flag); }, nb::arg("flag"),
      "Looks every pointer up before a launch that goes through Python.");
  bindModules(driver);
  bindTiming(driver);
}
