// Loads the PTX of an artifact, and turns a grid and packed arguments into a launch of the simulator.
// SPDX-License-Identifier: MIT
#include "runtime/sim/SimDevice.h"

#include "artifact/NvidiaGpus.h"
#include "runtime/MemoryExtent.h"
#include "runtime/cuda/CodeRequirements.h"
#include "runtime/gpu/LaunchErrors.h"
#include "runtime/gpu/RecordedProperties.h"
#include "runtime/sim/SimArguments.h"
#include "runtime/sim/Simulator.h"
#include "runtime/sim/machine/Multicast.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <map>
#include <mutex>

namespace nereid::sim {

using namespace runtime;

//--- Settings ----------------------------------------------------------------------------------

static std::atomic<uint64_t> seedOfLaunches{0}, limitOfLaunches{0};
static std::atomic<bool> areLaunchesCounted{false};
static std::atomic<uint32_t> deviceCount{1};
static thread_local uint32_t currentDevice = 0;

void setSimSettings(const SimSettings &settings) {
  seedOfLaunches = settings.seed;
  limitOfLaunches = settings.maxInstructions;
  areLaunchesCounted = settings.wantsCounters;
  deviceCount = std::max(settings.devices, 1u);
}

uint32_t simDeviceCount() { return deviceCount; }
uint32_t currentSimDevice() { return currentDevice < deviceCount ? currentDevice : 0; }

Expected<void> setCurrentSimDevice(uint32_t number) {
  if (number >= deviceCount)
    return Error{"sim-launch", "there is no simulated GPU " + std::to_string(number) + "; there are " +
                                   std::to_string(deviceCount) + ", which TRITON_SIM_DEVICES, or " +
                                   "knobs.runtime.sim_devices, sets"};
  currentDevice = number;
  return {};
}

//--- The device --------------------------------------------------------------------------------

namespace {
class SimKernel final : public Kernel, public std::enable_shared_from_this<SimKernel> {
public:
  SimKernel(const Device &device, artifact::Artifact artifact, std::shared_ptr<const Module> module);

  bool accepts(Grid grid, std::span<const char> packed) const override;
  SimAbi abi() const;

  void setProfile(std::shared_ptr<const LaunchProfile> profile);
  std::shared_ptr<const LaunchProfile> lastProfile() const;

  /// The code with the variables of one GPU.
  Expected<std::shared_ptr<const Module>> moduleOn(uint32_t device);

private:
  mutable std::mutex mutex;
  std::map<uint32_t, std::shared_ptr<const Module>> modules; ///< by device
  std::shared_ptr<const LaunchProfile> profile;              ///< of the last launch that was counted
  std::unique_ptr<const TensorMaps> tensorMaps;              ///< null for the plain ABI
};

template <typename Gpu> static DeviceProperties simulatedProperties(const Gpu &gpu) {
  DeviceProperties properties = propertiesOf(gpu);
  properties.name = "simulated " + properties.name;
  return properties;
}

struct PreparedLaunch;

class SimDevice final : public Device {
public:
  explicit SimDevice(int capability) : capability(capability), known(simulatedProperties(unsigned(capability))) {}
  explicit SimDevice(const artifact::AmdGpu &gpu) : amdGpu(&gpu), known(simulatedProperties(gpu)) {}

  const DeviceProperties &properties() const override { return known; }
  Expected<std::shared_ptr<Kernel>> load(artifact::Artifact artifact) override;
  Expected<void> launch(Kernel &kernel, Grid grid, void *stream, std::span<const char> packed) override;

private:
  Expected<PreparedLaunch> prepare(SimKernel &kernel, Grid grid, std::span<const char> packed);
  Expected<void> check(const artifact::Artifact &artifact, std::string_view ptx) const;
  Expected<void> checkTarget(const artifact::Artifact &artifact, std::string_view ptx) const;

  const int capability = 0;
  const artifact::AmdGpu *const amdGpu = nullptr; ///< null: an NVIDIA GPU of that compute capability
  const DeviceProperties known;
};

/// A launch that can run, with all that it refers to.
struct PreparedLaunch {
  std::shared_ptr<SimKernel> kernel;
  std::shared_ptr<const Module> module;
  SimArguments arguments;
  Launch launch;
  int capability = 0;
};
} // namespace

/// Of the calling thread; null where launches run at once.
static thread_local std::unique_ptr<std::vector<PreparedLaunch>> collected;
static std::atomic<int> numCollecting{0}; ///< threads

static constexpr const char *kDeviceName = "the simulated GPU";

/// The PTX of the artifact; empty where it has none.
static std::string_view ptxOf(const artifact::Artifact &artifact) {
  const std::string *stage = artifact.findStage("ptx");
  if (stage)
    return *stage;
  return isPtx(artifact.binary) ? std::string_view(artifact.binary) : std::string_view();
}

//--- Kernels -----------------------------------------------------------------------------------

SimKernel::SimKernel(const Device &device, artifact::Artifact contents, std::shared_ptr<const Module> module)
    : Kernel(device, std::move(contents)), modules{{0, std::move(module)}} {
  if (artifact().abi == artifact::Abi::Own)
    tensorMaps = std::make_unique<TensorMaps>(artifact(), tensorMapCalls());
}

SimAbi SimKernel::abi() const {
  const uint32_t multiprocessors = device().properties().multiprocessorCount;
  const auto &[x, y, z] = artifact().clusterDims;
  const uint32_t resident = std::max(multiprocessors / std::max(x * y * z, 1u), 1u);
  return {artifact(), tensorMaps.get(), artifact().persistent ? resident : 0, multiprocessors};
}

bool SimKernel::accepts(Grid, std::span<const char> packed) const {
  const uint64_t bytes = artifact::packedBytes(artifact()); // extents may follow
  return !tensorMaps || packed.size() < bytes ||
         tensorMaps->make(packed.first(bytes), /*isOneWave=*/false, nullptr).fit == TensorMaps::Fit::Yes;
}

Expected<std::shared_ptr<const Module>> SimKernel::moduleOn(uint32_t device) {
  std::lock_guard lock(mutex);
  std::shared_ptr<const Module> &module = modules[device];
  if (!module && !hasVariables(*modules[0]))
    module = modules[0];
  if (!module) {
    auto parsed = parse(ptxOf(artifact()));
    if (!parsed)
      return parsed.error();
    module = std::move(*parsed);
  }
  return module;
}

void SimKernel::setProfile(std::shared_ptr<const LaunchProfile> latest) {
  std::lock_guard lock(mutex);
  profile = std::move(latest);
}

std::shared_ptr<const LaunchProfile> SimKernel::lastProfile() const {
  std::lock_guard lock(mutex);
  return profile;
}

//--- Loading -----------------------------------------------------------------------------------

/// Text for a simulated AMD GPU is of its architecture: waves and formats differ.
static Expected<void> checkAmdTarget(const artifact::Artifact &artifact, const artifact::AmdGpu &gpu) {
  const artifact::Target &target = artifact.target;
  if (target.backend != artifact::kHip.name || target.arch != gpu.arch || !isSimulated(target))
    return Error{"load-target", quoted(artifact) + " was compiled for `" + target.backend + ":" + target.arch +
                                    target.features + "`; the simulated GPU runs kernels for `hip:" +
                                    std::string(gpu.arch) + std::string(artifact::kSimulated) + "`"};
  return {};
}

Expected<void> SimDevice::checkTarget(const artifact::Artifact &artifact, std::string_view ptx) const {
  if (amdGpu)
    return checkAmdTarget(artifact, *amdGpu);
  if (artifact.target.backend != artifact::kCuda.name)
    return Error{"load-target", quoted(artifact) + " was compiled for `" + artifact.target.backend +
                                    "`; the simulated GPU runs kernels for `cuda`"};
  if (ptx.empty())
    return Error{"load-binary", quoted(artifact) +
                                    " has no PTX, which the simulated GPU runs; compile it with the "
                                    "stage `ptx`, or for `cuda:" +
                                    artifact.target.arch + std::string(artifact::kSimulated) + "`"};
  if (!runsOn(artifact.target.arch, /*isPtx=*/true, capability))
    return Error{"load-target", quoted(artifact) + " was compiled for `cuda:" + artifact.target.arch +
                                    "`; the simulated GPU is sm_" + std::to_string(capability)};
  return {};
}

Expected<void> SimDevice::check(const artifact::Artifact &artifact, std::string_view ptx) const {
  auto done = checkTarget(artifact, ptx);
  return done ? checkResources(artifact, known, kDeviceName) : std::move(done);
}

Expected<std::shared_ptr<Kernel>> SimDevice::load(artifact::Artifact artifact) {
  const std::string_view ptx = ptxOf(artifact);
  if (auto ok = check(artifact, ptx); !ok)
    return ok.error();
  auto module = parse(ptx);
  if (!module)
    return Error{module.error().code,
                 "the code of " + quoted(artifact) + " cannot be loaded on the simulated GPU: " + module.error().text};
  return std::shared_ptr<Kernel>(std::make_shared<SimKernel>(*this, std::move(artifact), std::move(*module)));
}

//--- Launching ---------------------------------------------------------------------------------

static Dim dimOf(const artifact::Dim3 &extents) { return {extents[0], extents[1], extents[2]}; }

static std::shared_ptr<const LaunchProfile> profileOf(const PreparedLaunch &prepared, Counters counters) {
  const artifact::Artifact &artifact = prepared.kernel->artifact();
  auto profile = std::make_shared<LaunchProfile>(profileOf(prepared.module, prepared.launch, std::move(counters)));
  profile->kernel = artifact.name;
  profile->capability = uint32_t(prepared.capability);
  if (artifact.registers && artifact.tool != "driver") {
    profile->registers = artifact.registers;
    profile->registerSource = RegisterSource::Assembler;
  }
  return profile;
}

/// The option is the JSON text of a comma list.
static uint32_t checksOfArtifact(const artifact::Artifact &artifact) {
  const auto option = artifact.options.find("sanitize");
  if (option == artifact.options.end() || option->second.size() < 2)
    return 0;
  return checksOf(std::string_view(option->second).substr(1, option->second.size() - 2)).value_or(0);
}

/// CTAs that the GPU runs at once: as many on each multiprocessor as its threads, shared memory and registers allow.
static uint32_t residentOnGpu(const artifact::Artifact &artifact, const DeviceProperties &gpu) {
  const artifact::CtaFootprint block{artifact.registers, dimOf(artifact.blockDims).count(), artifact.sharedBytes};
  const uint32_t fitting = artifact::residentCtas({gpu.maxThreadsPerSm, gpu.maxSharedMem}, block).count();
  return std::clamp(fitting, 1u, artifact::kMaxResidentCtas) * gpu.multiprocessorCount;
}

/// Splits the extents of the accessed memory from the arguments, where a launch has them.
static std::vector<MemoryExtent> takeExtents(const artifact::Artifact &artifact, std::span<const char> &packed) {
  std::vector<MemoryExtent> extents;
  const uint64_t expected = artifact::packedBytes(artifact);
  if (!checksMemory(artifact) || packed.size() <= expected)
    return extents;
  extents.resize(artifact.parameters.size());
  if (packed.size() == expected + extents.size() * sizeof(MemoryExtent)) {
    std::memcpy(extents.data(), packed.data() + expected, packed.size() - expected);
    packed = packed.first(expected);
  }
  return extents;
}

Expected<PreparedLaunch> SimDevice::prepare(SimKernel &kernel, Grid grid, std::span<const char> packed) {
  const artifact::Artifact &artifact = kernel.artifact();
  const std::vector<MemoryExtent> extents = takeExtents(artifact, packed);
  if (const uint64_t expected = artifact::packedBytes(artifact); packed.size() != expected)
    return argumentBytesError(artifact, expected, packed.size());
  auto arguments = SimArguments::make(kernel.abi(), grid, packed, extents);
  if (!arguments)
    return arguments.error();
  auto module = kernel.moduleOn(currentSimDevice());
  if (!module)
    return module.error();
  PreparedLaunch prepared{kernel.shared_from_this(), std::move(*module), std::move(*arguments), {}, capability};
  Launch &launch = prepared.launch;
  launch.grid = prepared.arguments.grid();
  launch.entry = artifact.entry;
  launch.block = dimOf(artifact.blockDims);
  launch.cluster = dimOf(artifact.clusterDims);
  launch.sharedBytes = static_cast<uint32_t>(artifact.sharedBytes);
  launch.params = prepared.arguments.params();
  launch.seed = seedOfLaunches;
  launch.maxInstructions = limitOfLaunches;
  launch.residentCtas = residentOnGpu(artifact, known);
  launch.isCooperative = artifact.cooperative;
  launch.wantsCounters = areLaunchesCounted;
  launch.checks = checksOfArtifact(artifact);
  launch.device = currentSimDevice();
  launch.buffers = prepared.arguments.buffers();
  return prepared;
}

static Expected<void> runPrepared(std::span<const PreparedLaunch> launches) {
  std::vector<Request> requests;
  for (const PreparedLaunch &each : launches)
    requests.push_back({*each.module, each.launch});
  Outcome outcome = runTogether(requests);
  if (!outcome.error) {
    for (size_t index = 0; index < launches.size(); ++index)
      if (launches[index].launch.wantsCounters)
        launches[index].kernel->setProfile(profileOf(launches[index], std::move(outcome.counters[index])));
    return {};
  }
  if (outcome.error->code.starts_with("sanitize-"))
    return std::move(*outcome.error);
  return Error{outcome.error->code, quoted(launches[outcome.failed].kernel->artifact()) +
                                        " failed on the simulated GPU: " + outcome.error->text};
}

Expected<void> SimDevice::launch(Kernel &base, Grid grid, void *, std::span<const char> packed) {
  if (&base.device() != this)
    return otherDeviceError(base.artifact(), kDeviceName);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return {};
  auto prepared = prepare(static_cast<SimKernel &>(base), grid, packed);
  if (!prepared)
    return prepared.error();
  if (collected) {
    collected->push_back(std::move(*prepared));
    return {};
  }
  return runPrepared({&*prepared, 1});
}

//--- Launches that run together ----------------------------------------------------------------

Expected<void> collectLaunches() {
  if (collected)
    return Error{"sim-launch", "launches on simulated GPUs are being collected already; blocks do not nest"};
  collected = std::make_unique<std::vector<PreparedLaunch>>();
  ++numCollecting;
  return {};
}

bool areLaunchesCollected() { return collected != nullptr; }

bool isAnyCollected() { return numCollecting != 0; }

static std::unique_ptr<std::vector<PreparedLaunch>> takeCollected() {
  if (collected)
    --numCollecting;
  return std::move(collected);
}

void dropCollected() { takeCollected(); }

Expected<void> runCollected() {
  const auto launches = takeCollected();
  return launches && !launches->empty() ? runPrepared(*launches) : Expected<void>();
}

uint64_t addMulticastMemory(std::vector<uint64_t> members, uint64_t bytes) {
  return addMulticast(std::move(members), bytes);
}
void removeMulticastMemory(uint64_t begin) { removeMulticast(begin); }

//--- The devices -------------------------------------------------------------------------------

std::shared_ptr<const LaunchProfile> profileOf(const runtime::Kernel &kernel) {
  const auto *simulated = dynamic_cast<const SimKernel *>(&kernel);
  return simulated ? simulated->lastProfile() : nullptr;
}

bool isSimulated(const artifact::Target &target) {
  return target.features.find(artifact::kSimulated) != std::string::npos;
}

Device *findSimDevice(const artifact::Target &target) {
  static std::mutex adding;
  static auto *devices = new std::map<int, SimDevice>(); // kernels may outlive static objects
  static auto *amdDevices = new std::map<std::string_view, SimDevice>();
  if (target.backend == artifact::kHip.name) {
    const artifact::AmdGpu *gpu = artifact::findAmdGpu(target.arch);
    std::lock_guard<std::mutex> lock(adding);
    return gpu ? &amdDevices->try_emplace(gpu->arch, *gpu).first->second : nullptr;
  }
  std::string_view arch = target.arch;
  if (arch.starts_with("sm_"))
    arch.remove_prefix(3);
  int capability = 0;
  std::from_chars(arch.data(), arch.data() + arch.size(), capability);
  std::lock_guard<std::mutex> lock(adding);
  return &devices->try_emplace(capability, capability).first->second;
}

Device &simDevice(const artifact::Target &target) { return *findSimDevice(target); }

} // namespace nereid::sim
