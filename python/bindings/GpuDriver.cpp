// Binds devices, streams, events, memory and code in memory, for the GPUs of any driver.
// SPDX-License-Identifier: MIT
#include "python/bindings/GpuDriver.h"

#include "artifact/TargetInfo.h"
#include "python/bindings/Properties.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <map>

using namespace nereid;
using namespace nereid::python;

static void ensure(const runtime::Expected<void> &done) {
  if (!done)
    raiseRuntimeError(done.error());
}

runtime::GpuDevice &nereid::python::deviceAt(const GpuApi &api, int ordinal) {
  return *valueOf(valueOf(api.open())->find(ordinal));
}

//--- Arrays ------------------------------------------------------------------------------------

static nb::object pointerInfo(const GpuApi &api, uint64_t address) {
  const runtime::PointerInfo info = valueOf(deviceAt(api, 0).pointerInfo(address));
  if (!info.isKnown)
    return nb::none();
  nb::dict dict;
  dict["on_host"] = info.isOnHost;
  dict["device"] = info.ordinal;
  dict["address"] = info.onDevice;
  dict["start"] = info.start;
  dict["bytes"] = info.bytes;
  return dict;
}

/// Whether a GPU can read this array: one of the host's such as a pinned one, or one of another GPU.
static bool canAccess(const GpuApi &api, nb::handle object, int ordinal) {
  Array array;
  if (readArray(object.ptr(), array) != ArrayResult::Read) {
    PyErr_Clear();
    return false;
  }
  auto driver = api.open();
  auto device = driver ? (*driver)->find(ordinal) : runtime::Expected<runtime::GpuDevice *>(driver.error());
  if (!device)
    return false;
  if (array.device == api.kind)
    return array.deviceIndex == ordinal || !array.address || (*device)->canAccess(array.address);
  auto info = (*device)->pointerInfo(array.address);
  return info && info->isKnown;
}

/// The current stream of the library of the first GPU array, else torch's.
static uint64_t streamFor(const GpuApi &api, nb::tuple arguments, int32_t ordinal) {
  for (nb::handle argument : arguments) {
    if (argument.is_none() || PyLong_Check(argument.ptr()) || PyFloat_Check(argument.ptr()))
      continue;
    Array array;
    void *stream = nullptr;
    const bool knows = readArray(argument.ptr(), array) == ArrayResult::Read && array.device == api.kind &&
                       array.streamQuery && array.streamQuery(dlpackCode(api.kind), ordinal, &stream) == 0;
    PyErr_Clear();
    if (knows)
      return reinterpret_cast<uint64_t>(stream);
  }
  return reinterpret_cast<uint64_t>(currentStream(api.kind, ordinal));
}

//--- Code by hand ------------------------------------------------------------------------------

/// Kernels that `load_binary` has loaded, by the handle that it returned.
static std::map<uint64_t, std::shared_ptr<LoadedKernel>> &loadedBinaries() {
  static auto *const binaries = new std::map<uint64_t, std::shared_ptr<LoadedKernel>>;
  return *binaries;
}

static nb::tuple loadBinary(const GpuApi &api, const std::string &name, nb::bytes binary, uint64_t sharedBytes,
                            int ordinal) {
  const runtime::GpuDevice &device = deviceAt(api, ordinal);
  artifact::Artifact artifact;
  artifact.name = artifact.entry = name;
  artifact.target = {std::string(api.target.name), device.arch(), "", device.properties().warpSize};
  artifact.sharedBytes = sharedBytes;
  artifact.binary.assign(binary.c_str(), binary.size());
  auto kernel = LoadedKernel::load(artifact, ordinal);
  static uint64_t count = 0;
  loadedBinaries().emplace(++count, kernel);
  const runtime::KernelResources resources = kernel->resources();
  return nb::make_tuple(count, reinterpret_cast<uint64_t>(kernel->handle()), resources.registers, resources.spills,
                        resources.maxThreads);
}

//--- Timing ------------------------------------------------------------------------------------

namespace {
/// A point in a stream's work.
class Event {
public:
  explicit Event(runtime::GpuDevice &device) : device(device), event(valueOf(device.createEvent())) {}
  ~Event() { device.destroyEvent(event); }
  Event(const Event &) = delete;

  void record(uint64_t stream) { ensure(device.recordEvent(event, reinterpret_cast<void *>(stream))); }
  double millisecondsSince(const Event &earlier) { return valueOf(device.millisecondsBetween(earlier.event, event)); }

private:
  runtime::GpuDevice &device;
  void *const event;
};

/// Memory on a GPU.
class Buffer {
public:
  Buffer(runtime::GpuDevice &device, uint64_t bytes)
      : device(device), bytes(bytes), address(valueOf(device.allocate(bytes))) {}
  ~Buffer() { device.release(address); }
  Buffer(const Buffer &) = delete;

  void zero(uint64_t stream) { ensure(device.fillWithZeros(address, bytes, reinterpret_cast<void *>(stream))); }

private:
  runtime::GpuDevice &device;
  const uint64_t bytes, address;
};
} // namespace

/// The classes belong to all drivers; the first one registers them.
static void bindTiming(nb::module_ &driver, const GpuApi &api) {
  if (!nb::type<Event>().is_valid()) {
    nb::class_<Event>(driver, "GpuEvent", "A point in a stream's work; the times between two can be measured.")
        .def("record", &Event::record, nb::arg("stream"))
        .def("milliseconds_since", &Event::millisecondsSince, nb::arg("earlier"));
    nb::class_<Buffer>(driver, "GpuBuffer", "Memory on a GPU.").def("zero", &Buffer::zero, nb::arg("stream"));
  }
  driver.def(
      "Event", [&api](int ordinal) { return std::make_unique<Event>(deviceAt(api, ordinal)); }, nb::arg("device"),
      "A new event, not yet recorded.");
  driver.def(
      "Buffer", [&api](uint64_t bytes, int ordinal) { return std::make_unique<Buffer>(deviceAt(api, ordinal), bytes); },
      nb::arg("bytes"), nb::arg("device"), "Memory on a GPU, freed with the object.");
}

//--- The module --------------------------------------------------------------------------------

static void bindLibrary(nb::module_ &driver, const GpuApi &api) {
  driver.def("set_library", api.setLibrary, nb::arg("path"),
             "The path of the driver's library; the empty path is the system's own.");
  driver.def("has_library", api.hasLibrary, "Whether there is such a library; initialises nothing.");
  driver.def("is_initialized", api.isInitialized, "Whether the driver is in use in this process.");
  driver.def(
      "device_count",
      [&api] {
        auto driver = api.open();
        return driver ? (*driver)->deviceCount() : 0;
      },
      "Number of GPUs; 0 where the driver is missing or cannot be used. Initialises the driver.");
  driver.def("require", [&api] { (void)valueOf(api.open()); }, "Raises what is wrong with the driver, if anything is.");
  driver.def(
      "driver_version", [&api] { return valueOf(api.open())->version(); }, "The version of the driver's interface.");
}

static void bindDevices(nb::module_ &driver, const GpuApi &api) {
  driver.def(
      "current_device", [&api] { return currentDevice(api.kind); },
      "The GPU that work goes to now: torch's, or the thread's.");
  driver.def(
      "make_current", [&api](int ordinal) { ensure(deviceAt(api, ordinal).makeCurrent()); }, nb::arg("device"),
      "Makes the GPU the thread's own.");
  driver.def(
      "current_stream",
      [&api](int32_t ordinal) { return reinterpret_cast<uint64_t>(currentStream(api.kind, ordinal)); },
      nb::arg("device"), "The stream that work on a GPU goes to now: torch's, or the default one.");
  driver.def(
      "stream_for", [&api](nb::tuple args, int32_t ordinal) { return streamFor(api, std::move(args), ordinal); },
      nb::arg("args"), nb::arg("device"), "The stream that a launch with these arguments goes to.");
  driver.def(
      "synchronize",
      [&api](int ordinal) {
        runtime::GpuDevice &device = deviceAt(api, ordinal);
        const auto done = [&] {
          GilRelease release;
          return device.synchronize();
        }();
        ensure(done);
      },
      nb::arg("device"), "Waits for all work of a GPU.");
  driver.def(
      "pointer_info", [&api](uint64_t address) { return pointerInfo(api, address); }, nb::arg("address"),
      "The driver's information about an address, or None.");
  driver.def(
      "can_access", [&api](nb::handle array, int ordinal) { return canAccess(api, array, ordinal); }, nb::arg("array"),
      nb::arg("device") = 0, "Whether a GPU can read this array of the host's, or of another GPU.");
}

void nereid::python::bindGpuDriver(nb::module_ &driver, const GpuApi &api) {
  bindLibrary(driver, api);
  bindDevices(driver, api);
  driver.def(
      "load_binary",
      [&api](const std::string &name, nb::bytes binary, uint64_t sharedBytes, int ordinal) {
        return loadBinary(api, name, std::move(binary), sharedBytes, ordinal);
      },
      nb::arg("name"), nb::arg("binary"), nb::arg("shared"), nb::arg("device"),
      "(module, function, registers, spills, maximum threads per block) of code in memory.");
  driver.def(
      "unload_module", [](uint64_t module) { loadedBinaries().erase(module); }, nb::arg("module"),
      "Unloads what `load_binary` has loaded.");
  bindTiming(driver, api);
}
