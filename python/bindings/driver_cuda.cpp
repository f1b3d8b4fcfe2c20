// The bindings of the driver for NVIDIA's GPUs.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "python/bindings/GpuDriver.h"
#include "python/bindings/Properties.h"
#include "runtime/cuda/CudaDevice.h"

#include <nanobind/stl/string.h>

using namespace nereid;
using namespace nereid::python;

static runtime::CudaDevice &cudaDeviceAt(int ordinal) {
  return *valueOf(runtime::CudaDriver::process().device(ordinal));
}

static constexpr GpuApi kApi = apiOf<runtime::CudaDriver>(artifact::kCuda, DeviceKind::Cuda);

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
  const runtime::CurrentScope scope(device, context);
  int clusters = 0;
  const Result result = calls.cuOccupancyMaxActiveClusters(&clusters, reinterpret_cast<Function>(function), &config);
  if (result != Success)
    raiseRuntimeError(device.driver().failure({"cuOccupancyMaxActiveClusters", result}));
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
