// The bindings of the driver for AMD's GPUs.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "python/bindings/GpuDriver.h"
#include "python/bindings/Properties.h"
#include "runtime/gpu/RecordedProperties.h"
#include "runtime/hip/HipDevice.h"

#include <nanobind/stl/string.h>

using namespace nereid;
using namespace nereid::python;

static runtime::HipDevice &hipDeviceAt(int ordinal) { return *valueOf(runtime::HipDriver::process().device(ordinal)); }

static constexpr GpuApi kHipApi = apiOf<runtime::HipDriver>(artifact::kHip, DeviceKind::Rocm);

/// The properties with the entries that only Triton's driver for AMD has.
static nb::dict hipProperties(const runtime::DeviceProperties &known, const std::string &arch, bool isCooperative) {
  nb::dict dict = propertiesDict(known);
  dict["arch"] = arch;
  dict["cooperativeLaunch"] = static_cast<int>(isCooperative);
  return dict;
}

static nb::dict knownProperties(const std::string &arch) {
  if (const artifact::AmdGpu *known = artifact::findAmdGpu(arch))
    return hipProperties(runtime::propertiesOf(*known), arch, /*isCooperative=*/true);
  std::string text = "no properties of an AMD GPU `" + arch + "` are recorded; there are those of ", separator;
  for (const artifact::AmdGpu &gpu : artifact::amdGpus())
    text += std::exchange(separator, ", ") + std::string(gpu.arch);
  raise(PyExc_ValueError, text);
}

void nereid::python::bindHipDriver(nb::module_ &module) {
  nb::module_ driver = module.def_submodule("driver_hip", "AMD's GPUs as devices.");
  bindGpuDriver(driver, kHipApi);
  driver.def(
      "properties",
      [](int ordinal) {
        const runtime::HipDevice &device = hipDeviceAt(ordinal);
        return hipProperties(device.properties(), device.arch(), device.launchesCooperatively());
      },
      nb::arg("device"), "The figures that people size their grids by.");
  driver.def("arch", [](int ordinal) { return hipDeviceAt(ordinal).arch(); }, nb::arg("device"), "\"gfx942\"");
  driver.def("known_properties", &knownProperties, nb::arg("arch"),
             "The recorded properties of one GPU of an architecture.");
}
