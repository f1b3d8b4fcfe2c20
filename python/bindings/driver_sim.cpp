// The simulated GPU's bindings for Python.
// SPDX-License-Identifier: MIT
#include "artifact/AmdGpus.h"
#include "python/bindings/Kernel.h"
#include "python/bindings/Properties.h"
#include "runtime/sim/SimDevice.h"
#include "runtime/sim/counters/CounterTable.h"

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

void nereid::python::bindSimDriver(nb::module_ &module) {
  nb::module_ driver = module.def_submodule("driver_sim", "The simulated GPU as a device.");
  driver.attr("FEATURE") = textOf(std::string(artifact::kSimulated));
  driver.def("properties", &simProperties, nb::arg("capability"), "The figures that people size their grids by.");
  driver.def("amd_archs", &amdArchs, "Architecture -> lanes of a wave.");
  driver.def("amd_properties", &amdProperties, nb::arg("arch"), "The same of one of AMD's GPUs.");
  driver.def(
      "set_settings",
      [](uint64_t seed, uint64_t limit, bool wantsCounters) {
        sim::setSimSettings({.seed = seed, .maxInstructions = limit, .wantsCounters = wantsCounters});
      },
      nb::arg("seed"), nb::arg("max_instructions"), nb::arg("wants_counters"), "Settings of all launches from now on.");
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
