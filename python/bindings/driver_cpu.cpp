// The CPU driver's bindings for Python.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"
#include "compiler/driver/Compiler.h"
#include "python/bindings/Properties.h"
#include "runtime/cpu/CpuDevice.h"
#include "runtime/process/StoredPatterns.h"

#include <cstdlib>

using namespace nereid;
using namespace nereid::python;

static support::TargetSpec hostTarget() {
  std::string reason;
  const auto target = driver::resolveTarget(std::string(artifact::kCpu.name), "", reason);
  if (!target)
    raise(PyExc_RuntimeError, reason);
  return *target;
}

static nb::dict properties() {
  const runtime::DeviceProperties &known = runtime::cpuDevice().properties();
  nb::dict dict = propertiesDict(known);
  dict["max_threads_per_block"] = known.maxThreadsPerSm;
  dict["last_level_cache_bytes"] = hostTarget().lastLevelCacheBytes;
  return dict;
}

// OpenMP libraries read the variable themselves; where none is loaded it holds as well.
static uint32_t requestedThreads() {
  const char *text = std::getenv("OMP_NUM_THREADS");
  return text ? runtime::cpuThreadsOfVariable(text) : 0;
}

void nereid::python::bindCpuDriver(nb::module_ &module) {
  runtime::setCpuThreadRequest(&requestedThreads);
  nb::module_ driver = module.def_submodule("driver_cpu", "The CPU as a device.");
  driver.def(
      "host_target",
      [] { return nb::make_tuple(textOf(artifact::kCpu.name), textOf(hostTarget().arch), artifact::kCpu.warpSize); },
      "(backend, arch, warp size) of this machine.");
  driver.def("properties", &properties, "The figures that people size their grids by.");
  driver.def("set_num_threads", &runtime::setCpuThreads, nb::arg("threads"),
             "Number of threads that a launch may use; 0: the default.");
  driver.def("set_wait_limit", &runtime::setCpuWaitLimit, nb::arg("seconds"),
             "How long all programs of a launch may wait for each other; 0: for ever.");
  driver.def(
      "forget_stored", [](uint64_t begin, uint64_t end) { runtime::StoredPatterns::all().eraseAll(begin, end); },
      nb::arg("begin"), nb::arg("end"), "For the sanitizer: the memory is new.");
  driver.def("num_threads", &runtime::cpuThreads, "Number of threads that a launch may use.");
}
