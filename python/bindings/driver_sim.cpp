// The simulated GPU's bindings for Python.
// SPDX-License-Identifier: MIT
#include "python/bindings/Properties.h"
#include "runtime/sim/SimDevice.h"

using namespace nereid;
using namespace nereid::python;

static nb::dict simProperties(int capability) {
  const artifact::Target target{std::string(artifact::kCuda.name), std::to_string(capability),
                                std::string(artifact::kSimulated), artifact::kCuda.warpSize};
  return propertiesDict(sim::simDevice(target).properties());
}

void nereid::python::bindSimDriver(nb::module_ &module) {
  nb::module_ driver = module.def_submodule("driver_sim", "The simulated GPU as a device.");
  driver.attr("FEATURE") = textOf(std::string(artifact::kSimulated));
  driver.def("properties", &simProperties, nb::arg("capability"), "The figures that people size their grids by.");
  driver.def(
      "set_settings",
      [](uint64_t seed, uint64_t limit) { sim::setSimSettings({.seed = seed, .maxInstructions = limit}); },
      nb::arg("seed"), nb::arg("max_instructions"), "Settings of all launches from now on.");
  bindSimPtx(driver);
}
