// The bindings of the driver for NVIDIA's GPUs.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "python/bindings/GpuDriver.h"
#include "python/bindings/Properties.h"
#include "runtime/cuda/CudaDevice.h"

#include <nanobind/stl/string.h>

using namespace nereid;
using namespace nereid::python;

static runtime::CudaDevice &cudaDeviceAt(int ordinal) { return *valueOf(runtime::cudaDevice(ordinal)); }

static runtime::Expected<int> versionOfDriver() {
  auto driver = runtime::cudaDriver();
  return driver ? runtime::Expected<int>((*driver)->version()) : driver.error();
}

static runtime::Expected<int> countDevices() {
  auto driver = runtime::cudaDriver();
  return driver ? runtime::Expected<int>((*driver)->deviceCount()) : driver.error();
}

static runtime::Expected<runtime::GpuDevice *> openDevice(int ordinal) {
  auto device = runtime::cudaDevice(ordinal);
  return device ? runtime::Expected<runtime::GpuDevice *>(*device) : device.error();
}

static std::string archOf(const runtime::GpuDevice &device) {
  return std::to_string(static_cast<const runtime::CudaDevice &>(device).capability());
}

static constexpr GpuApi kApi = {artifact::kCuda,
                                DeviceKind::Cuda,
                                &runtime::setCudaLibrary,
                                &runtime::hasCudaLibrary,
                                &runtime::isCudaInitialized,
                                &versionOfDriver,
                                &countDevices,
                                &openDevice,
                                &archOf};

static nb::dict propertiesOf(int ordinal) {
  const runtime::CudaDevice &device = cudaDeviceAt(ordinal);
  nb::dict dict = propertiesDict(device.properties());
  dict["compute_capability"] = device.capability();
  return dict;
}

static int maxActiveClusters(uint64_t function, uint64_t sharedBytes, unsigned x, unsigned y, unsigned z, int ordinal) {
  using namespace runtime::cuda;
  runtime::CudaDevice &device = cudaDeviceAt(ordinal);
  const Context context = valueOf(device.context());
  LaunchAttribute attribute{LaunchAttributeId::ClusterDimension, {}, {}};
  attribute.cluster = {x, y, z};
  LaunchConfig config{x, y, z, 128, 1, 1, static_cast<unsigned>(sharedBytes), nullptr, &attribute, 1};
  const DriverCalls &calls = device.driver().calls();
  const runtime::ContextScope scope(calls, context);
  int clusters = 0;
  const Result result = calls.cuOccupancyMaxActiveClusters(&clusters, reinterpret_cast<Function>(function), &config);
  if (result != Success)
    raiseRuntimeError(device.driver().failure("cuOccupancyMaxActiveClusters", result));
  return clusters;
}

void nereid::python::bindCudaDriver(nb::module_ &module) {
  nb::module_ driver = module.def_submodule("driver_cuda", "NVIDIA's GPUs as devices.");
  bindGpuDriver(driver, kApi);
  driver.def("properties", &propertiesOf, nb::arg("device"), "The figures that people size their grids by.");
  driver.def(
      "capability", [](int ordinal) { return cudaDeviceAt(ordinal).capability(); }, nb::arg("device"),
      "90 for compute capability 9.0.");
  driver.def(
      "set_check_pointers", [](bool flag) { checkPointers.store(flag); }, nb::arg("flag"),
      "Looks every pointer up before a launch that goes through Python.");
  driver.def("max_active_clusters", &maxActiveClusters, nb::arg("function"), nb::arg("shared"), nb::arg("x"),
             nb::arg("y"), nb::arg("z"), nb::arg("device"), "How many clusters of that size run at once.");
}
