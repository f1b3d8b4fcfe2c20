// The simulated GPU's bindings for Python.
// SPDX-License-Identifier: MIT
#include "python/bindings/Python.h"
#include "runtime/sim/SimDevice.h"

using namespace nereid;
using namespace nereid::python;

static nb::dict simProperties(int capability) {
  const artifact::Target target{std::string(artifact::kCuda.name), std::to_string(capability),
                                std::string(artifact::kSimulated), artifact::kCuda.warpSize};
  const runtime::DeviceProperties &known = sim::simDevice(target).properties();
  nb::dict dict;
  dict["name"] = textOf(known.name);
  dict["multiprocessor_count"] = known.multiprocessorCount;
  dict["max_num_regs"] = known.maxNumRegs;
  dict["max_shared_mem"] = known.maxSharedMem;
  dict["warpSize"] = known.warpSize;
  dict["max_threads_per_sm"] = known.maxThreadsPerSm;
  dict["max_threads_per_block"] = known.maxThreadsPerBlock;
  dict["sm_clock_rate"] = known.smClockRateKhz;
  dict["mem_clock_rate"] = known.memClockRateKhz;
  dict["mem_bus_width"] = known.memBusWidthBits;
  dict["last_level_cache_bytes"] = known.lastLevelCacheBytes;
  return dict;
}

void nereid::python::bindSimDriver(nb::module_ &module) {
  nb::module_ driver = module.def_submodule("driver_sim", "The simulated GPU as a device.");
  driver.attr("FEATURE") = textOf(std::string(artifact::kSimulated));
  driver.def("properties", &simProperties, nb::arg("capability"), "The figures that people size their grids by.");
  driver.def(
      "set_settings",
      [](uint64_t seed, uint64_t limit) { sim::setSimSettings({.seed = seed, .maxInstructions = limit}); },
      nb::arg("seed"), nb::arg("max_instructions"), "Settings of all launches from now on.");
}
