// Loads kernels from shared objects in memory and runs their programs.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/CpuDevice.h"

#include "artifact/TargetInfo.h"
#include "runtime/cpu/CrashReport.h"
#include "runtime/cpu/HostCalls.h"
#include "runtime/cpu/HostProcessor.h"
#include "runtime/cpu/Schedule.h"
#include "runtime/cpu/SharedObject.h"
#include "runtime/cpu/ThreadState.h"
#include "runtime/cpu/WaitingLaunch.h"
#include "runtime/process/StopCheck.h"
#include "runtime/process/ThreadLimits.h"
#include "runtime/process/WorkerPool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace nereid::runtime {

namespace {

class CpuKernel final : public Kernel {
public:
  CpuKernel(const Device &device, artifact::Artifact artifact, SharedObject object, CpuEntry entry, bool callsHost,
            bool mayWait)
      : Kernel(device, std::move(artifact)), entry(entry), callsHost(callsHost), mayWait(mayWait),
        object(std::move(object)) {
    argumentBytes = artifact::packedBytes(this->artifact());
    extentCount = checksMemory(this->artifact()) ? this->artifact().parameters.size() : 0;
    usesScratch = this->artifact().globalScratchBytes != 0 || this->artifact().profileScratchBytes != 0;
  }

  const CpuEntry entry;
  const char *const lastingName = runtime::lastingName(artifact().name);
  const bool callsHost; ///< to print, to report a failure or to wait
  const bool mayWait;   ///< programs may wait for any others
  uint64_t argumentBytes = 0;
  size_t extentCount = 0; ///< number of extents that the launcher may append to the arguments
  bool usesScratch = false;
  CostEstimate cost;

private:
  SharedObject object;
};

class CpuDevice final : public Device {
public:
  const DeviceProperties &properties() const override { return host; }
  Expected<std::shared_ptr<Kernel>> load(artifact::Artifact artifact) override;
  Expected<void> launch(Kernel &kernel, Grid grid, void *stream, std::span<const char> packed) override {
    return launchPrograms(kernel, grid, std::nullopt, packed);
  }
  /// Runs all programs, or the one of that linear id.
  Expected<void> launchPrograms(Kernel &kernel, Grid grid, std::optional<uint64_t> only, std::span<const char> packed);

private:
  const DeviceProperties host = hostProperties();
};

using FreeDeleter = decltype([](char *memory) { std::free(memory); });
using Memory = std::unique_ptr<char, FreeDeleter>;

} // namespace

static Error memoryError(const char *what) {
  return {"launch-memory", std::string("there is no memory for the kernel's ") + what};
}

namespace {
/// Scratch of the running programs: compiled code adds a program's offset to `base`.
struct Scratch {
  Memory memory;
  uint64_t base = 0;
};
} // namespace

/// Allocates scratch for each running program; zero bytes need none.
static bool allocateScratch(uint64_t bytes, uint32_t align, const Programs &programs, Scratch &scratch) {
  if (bytes == 0)
    return true;
  const uint64_t grain = std::max<uint64_t>(align, artifact::kArenaAlign);
  uint64_t total = 0, offset = 0;
  if (__builtin_mul_overflow(bytes, programs.only ? 1 : programs.total, &total) || total > kMaxRequestBytes ||
      __builtin_mul_overflow(bytes, programs.only.value_or(0), &offset))
    return false;
  total = (total + offset % grain + grain - 1) / grain * grain;
  scratch.memory.reset(static_cast<char *>(std::aligned_alloc(grain, total)));
  // The scratch of a single program is at its offset too, with the alignment that it has among all programs.
  scratch.base = reinterpret_cast<uint64_t>(scratch.memory.get()) - offset / grain * grain;
  return scratch.memory != nullptr;
}

static Expected<void> runAll(CpuKernel &kernel, const Programs &programs) {
  if (programs.only && !programs.mayWait) {
    char *arena = threadArena(programs.arenaBytes);
    if (!arena)
      return memoryError("arena");
    const DefaultFloatRules rules;
    const PartOfLaunch part;
    programs.run(*programs.only, *programs.only + 1, arena);
    return {};
  }
  switch (programs.mayWait ? runWaiting(programs, kernel.cost) : runPrograms(programs, kernel.cost)) {
  case LaunchEnd::Done:
    return {};
  case LaunchEnd::NoMemory:
    return memoryError("arena");
  case LaunchEnd::Stopped:
    return Error{"launch-interrupted", "the launch of kernel `" + kernel.artifact().name +
                                           "` was interrupted; some of its programs have not run"};
  }
  return {};
}

static Expected<void> launchWithScratch(CpuKernel &kernel, Programs programs) {
  const artifact::Artifact &artifact = kernel.artifact();
  Scratch global, profile;
  if (!allocateScratch(artifact.globalScratchBytes, artifact.globalScratchAlign, programs, global) ||
      !allocateScratch(artifact.profileScratchBytes, artifact.profileScratchAlign, programs, profile))
    return memoryError("scratch");
  std::vector<char> packed(programs.packed, programs.packed + kernel.argumentBytes);
  const uint64_t pointers[] = {global.base, profile.base};
  std::memcpy(packed.data() + artifact::scratchOffset(artifact), pointers, sizeof pointers);
  programs.packed = packed.data();
  return runAll(kernel, programs);
}

static Expected<void> run(CpuKernel &kernel, const Programs &programs) {
  if (kernel.usesScratch)
    return launchWithScratch(kernel, programs);
  return runAll(kernel, programs);
}

static Expected<void> checkLaunch(const Device &device, const Kernel &kernel) {
  if (&kernel.device() == &device)
    return {};
  return Error{"launch-device",
               "kernel `" + kernel.artifact().name + "` was loaded by another device; load it on the cpu"};
}

Expected<void> CpuDevice::launchPrograms(Kernel &base, Grid grid, std::optional<uint64_t> only,
                                         std::span<const char> packed) {
  if (auto ok = checkLaunch(*this, base); !ok)
    return ok;
  auto &kernel = static_cast<CpuKernel &>(base);
  const bool hasExtents = packed.size() == kernel.argumentBytes + kernel.extentCount * sizeof(MemoryExtent);
  if (packed.size() != kernel.argumentBytes && !hasExtents)
    return Error{"launch-arguments", "kernel `" + kernel.artifact().name + "` takes " +
                                         std::to_string(kernel.argumentBytes) + " bytes of arguments; " +
                                         std::to_string(packed.size()) + " were given"};
  uint64_t total = uint64_t{grid.x} * grid.y;
  // The sign bit stays zero: compiled code counts programs in signed 64-bit integers.
  if (__builtin_mul_overflow(total, grid.z, &total) || total > (uint64_t{1} << 62))
    return Error{"launch-grid", "a grid of " + std::to_string(grid.x) + " x " + std::to_string(grid.y) + " x " +
                                    std::to_string(grid.z) + " programs is too large"};
  if (total == 0)
    return {};
  Programs programs{kernel.entry, packed.data(), {grid.x, grid.y, grid.z}, total, kernel.artifact().arenaBytes, only};
  programs.kernelName = kernel.lastingName;
  noteLaunch(kernel.lastingName);
  if (!kernel.callsHost)
    return run(kernel, programs);
  std::vector<MemoryExtent> extents(kernel.extentCount);
  if (hasExtents)
    std::memcpy(extents.data(), packed.data() + kernel.argumentBytes, extents.size() * sizeof(MemoryExtent));
  LaunchFailure failure(programs.grid, {&kernel.artifact(), extents.data()});
  programs.failure = &failure;
  programs.mayWait = kernel.mayWait;
  auto done = run(kernel, programs);
  if (done && failure.happened())
    return Error{failure.code(), failure.text()};
  return done;
}

bool checksMemory(const artifact::Artifact &artifact) {
  const auto option = artifact.options.find("sanitize");
  return option != artifact.options.end() && option->second != "\"\"";
}

static Expected<void> checkArtifact(const artifact::Artifact &artifact) {
  if (artifact.target.backend != artifact::kCpu.name)
    return Error{"load-target", "kernel `" + artifact.name + "` was compiled for `" + artifact.target.backend +
                                    "`; this device is `cpu`"};
  if (artifact.abi != artifact::Abi::Plain)
    return Error{"load-abi", "kernel `" + artifact.name + "` has the ABI `own`; the cpu takes `plain`"};
  if (artifact.arenaAlign > artifact::kArenaAlign)
    return Error{"load-abi", "kernel `" + artifact.name + "` needs an arena aligned to " +
                                 std::to_string(artifact.arenaAlign) + " bytes; the cpu provides " +
                                 std::to_string(artifact::kArenaAlign)};
  return establishFeatures(artifact.target.features);
}

Expected<std::shared_ptr<Kernel>> CpuDevice::load(artifact::Artifact artifact) {
  if (auto ok = checkArtifact(artifact); !ok)
    return ok.error();
  auto object = SharedObject::load(artifact.name, artifact.binary);
  if (!object)
    return object.error();
  const auto entry = reinterpret_cast<CpuEntry>(object->symbol(artifact.entry));
  if (!entry)
    return Error{"load-entry", "the code of kernel `" + artifact.name + "` has no symbol `" + artifact.entry + "`"};
  const auto calls = static_cast<const HostCalls **>(object->symbol(kHostCallsSymbol));
  if (calls)
    *calls = &hostCalls();
  watchCrashes();
  const bool mayWait = object->symbol(kWaitsSymbol) != nullptr;
  return std::shared_ptr<Kernel>(
      std::make_shared<CpuKernel>(*this, std::move(artifact), std::move(*object), entry, calls != nullptr, mayWait));
}

static CpuDevice &theDevice() {
  // Never destroyed: kernels that outlive main() still refer to it.
  static CpuDevice *const device = new CpuDevice;
  return *device;
}

Device &cpuDevice() { return theDevice(); }

Expected<void> launchCpuProgram(Kernel &kernel, Grid grid, Grid program, std::span<const char> packed) {
  const uint64_t id = program.x + uint64_t{grid.x} * (program.y + uint64_t{grid.y} * program.z);
  return theDevice().launchPrograms(kernel, grid, id, packed);
}

void setCpuWaitLimit(double seconds) { setWaitLimit(seconds); }
void setCpuStopCheck(bool (*check)()) { StopCheck::check.store(check); }
void setCpuThreads(uint32_t threads) { setPoolThreads(threads); }
uint32_t cpuThreads() { return launchThreads(); }
void setCpuThreadRequest(uint32_t (*request)()) { setThreadRequest(request); }
uint32_t cpuThreadsOfVariable(std::string_view openMpVariable) { return threadsOfOpenMpVariable(openMpVariable); }

} // namespace nereid::runtime
