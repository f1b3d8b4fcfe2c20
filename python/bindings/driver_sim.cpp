// The simulated GPU's bindings for Python.
// SPDX-License-Identifier: MIT
#include "artifact/AmdGpus.h"
#include "python/bindings/Kernel.h"
#include "python/bindings/Properties.h"
#include "runtime/sim/SimDevice.h"
#include "runtime/sim/counters/CounterTable.h"

#include <nanobind/stl/vector.h>

using namespace nereid;
using namespace nereid::python;

static nb::dict simProperties(int capability) {
  const artifact::Target target{std::string(artifact::kCuda.name), std::to_string(capability),
                                std::string(artifact::kSimulated), artifact::kCuda.warpSize};
  return propertiesDict(sim::simDevice(target).properties());
}

/// Architecture -> lanes of a wave, of AMD's GPUs that are simulated.
static nb::dict amdArchs() {
  nb::dict result;
  for (const artifact::AmdGpu &gpu : artifact::amdGpus())
    result[textOf(std::string(gpu.arch))] = artifact::findAmdArch(gpu.arch)->waveSize;
  return result;
}

static nb::dict amdProperties(const std::string &arch) {
  if (!artifact::findAmdGpu(arch))
    raise(PyExc_ValueError, "the GPU `" + arch + "` is not simulated");
  const artifact::Target target{std::string(artifact::kHip.name), arch, std::string(artifact::kSimulated),
                                artifact::warpSizeOf(artifact::kHip.name, arch)};
  return propertiesDict(sim::simDevice(target).properties());
}

namespace {
struct Profile {
  std::shared_ptr<const sim::LaunchProfile> launch;
};
} // namespace

static std::optional<Profile> lastProfile(const LoadedKernel &kernel) {
  auto launch = sim::profileOf(kernel.loaded());
  if (!launch && kernel.plainKernel())
    launch = sim::profileOf(kernel.plainKernel()->loaded());
  return launch ? std::optional(Profile{std::move(launch)}) : std::nullopt;
}

static nb::dict figuresOfProfile(const Profile &profile) {
  nb::dict result;
  for (const sim::Figure &figure : figuresOf(profile.launch->counters))
    result[figure.name.c_str()] = figure.value;
  return result;
}

/// The GPU of that name; the default is that of the compute capability.
static const artifact::NvidiaGpu &gpuOf(const Profile &profile, const std::string &name) {
  if (name.empty())
    return artifact::nvidiaGpuOf(profile.launch->capability);
  if (const artifact::NvidiaGpu *gpu = artifact::findNvidiaGpu(name))
    return *gpu;
  raise(PyExc_ValueError, sim::unknownGpu(name));
}

//--- Several GPUs ------------------------------------------------------------------------------

/// A list of what launches that wait to run refer to, of the calling thread; null where there are none.
static thread_local PyObject *keptArguments = nullptr;

void nereid::python::keepCollected(nb::handle arguments) {
  if (!sim::areLaunchesCollected())
    return;
  if (!keptArguments)
    keptArguments = checked(PyList_New(0)).release().ptr();
  if (PyList_Append(keptArguments, arguments.ptr()))
    throw nb::python_error();
}

static void ensure(const runtime::Expected<void> &done) {
  if (!done)
    raiseRuntimeError(done.error());
}

static void runCollected() {
  const nb::object kept = nb::steal(std::exchange(keptArguments, nullptr));
  const auto done = [] {
    GilRelease release;
    return sim::runCollected();
  }();
  if (PyErr_CheckSignals())
    throw nb::python_error();
  ensure(done);
}

static void dropCollected() {
  const nb::object kept = nb::steal(std::exchange(keptArguments, nullptr));
  sim::dropCollected();
}

static void bindDevices(nb::module_ &driver) {
  driver.def("device_count", &sim::simDeviceCount, "Number of simulated GPUs.");
  driver.def("current_device", &sim::currentSimDevice, "The simulated GPU that this thread's launches go to.");
  driver.def(
      "make_current", [](uint32_t number) { ensure(sim::setCurrentSimDevice(number)); }, nb::arg("device"),
      "Makes it the one that this thread's launches go to.");
  driver.def(
      "collect", [] { ensure(sim::collectLaunches()); }, "From now on this thread's launches wait for run_collected.");
  driver.def("is_collecting", &sim::isAnyCollected, "Whether any thread's launches wait.");
  driver.def("run_collected", &runCollected, "Runs them: those on different GPUs at the same time.");
  driver.def("add_multicast", &sim::addMulticastMemory, nb::arg("members"), nb::arg("bytes"),
             "The address of memory that stands for that of several GPUs.");
  driver.def("remove_multicast", &sim::removeMulticastMemory, nb::arg("address"), "Ends that.");
  driver.def("drop_collected", &dropCollected, "Forgets them.");
}

//--- The module --------------------------------------------------------------------------------

void nereid::python::bindSimDriver(nb::module_ &module) {
  nb::module_ driver = module.def_submodule("driver_sim", "The simulated GPU as a device.");
  driver.attr("FEATURE") = textOf(std::string(artifact::kSimulated));
  driver.def("properties", &simProperties, nb::arg("capability"), "The figures that people size their grids by.");
  driver.def("amd_archs", &amdArchs, "Architecture -> lanes of a wave.");
  driver.def("amd_properties", &amdProperties, nb::arg("arch"), "The same of one of AMD's GPUs.");
  driver.def(
      "set_settings",
      [](uint64_t seed, uint64_t limit, bool wantsCounters, uint32_t devices) {
        sim::setSimSettings(
            {.seed = seed, .maxInstructions = limit, .wantsCounters = wantsCounters, .devices = devices});
      },
      nb::arg("seed"), nb::arg("max_instructions"), nb::arg("wants_counters"), nb::arg("devices"),
      "Settings of all launches from now on.");
  bindDevices(driver);
  nb::class_<Profile>(driver, "Profile", "A launch that was counted.")
      .def_prop_ro("figures", &figuresOfProfile, "Name -> number.")
      .def(
          "table",
          [](const Profile &profile, const std::string &gpu) {
            return textOf(tableOf(*profile.launch, gpuOf(profile, gpu)));
          },
          nb::arg("gpu"), "Totals, occupancy, the estimate for a GPU and a row per line.")
      .def(
          "json",
          [](const Profile &profile, const std::string &gpu) {
            return textOf(jsonOf(*profile.launch, gpuOf(profile, gpu)));
          },
          nb::arg("gpu"), "The same as JSON.");
  driver.def("profile", &lastProfile, nb::arg("kernel"), "The last counted launch of a kernel, or None.");
  bindSimPtx(driver);
}
