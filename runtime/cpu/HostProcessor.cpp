// Queries the processor and the system for their properties.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/HostProcessor.h"

#include "artifact/TargetInfo.h"
#include "runtime/process/ThreadLimits.h"

#include <fstream>
#include <string>

#include <sys/syscall.h>
#include <unistd.h>

namespace nereid::runtime {

using artifact::Error;
using artifact::Expected;

#if defined(__x86_64__)

/// Whether the processor has the feature of that LLVM name. A name that is not in the list is not checked: only the
/// wide vectors matter, since machines that share code differ in them.
static bool hostHas(std::string_view feature) {
  __builtin_cpu_init();
#define CHECKED_FEATURE(name)                                                                                          \
  if (feature == name)                                                                                                 \
    return __builtin_cpu_supports(name);
  CHECKED_FEATURE("sse4.2")
  CHECKED_FEATURE("avx")
  CHECKED_FEATURE("avx2")
  CHECKED_FEATURE("fma")
  CHECKED_FEATURE("f16c")
  CHECKED_FEATURE("bmi")
  CHECKED_FEATURE("bmi2")
  CHECKED_FEATURE("avxvnni")
  CHECKED_FEATURE("avx512f")
  CHECKED_FEATURE("avx512bw")
  CHECKED_FEATURE("avx512dq")
  CHECKED_FEATURE("avx512vl")
  CHECKED_FEATURE("avx512vnni")
  CHECKED_FEATURE("avx512bf16")
  CHECKED_FEATURE("avx512fp16")
#undef CHECKED_FEATURE
  return true;
}

/// Linux saves the tile registers only for processes that requested it; the permission holds for all threads and is
/// inherited by a fork.
static bool requestTiles() {
  constexpr int kRequestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;              // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

#else

static bool hostHas(std::string_view) { return true; }
static bool requestTiles() { return false; }

#endif

Expected<void> establishFeatures(std::string_view features) {
  bool needsTiles = false;
  while (!features.empty()) {
    const size_t comma = features.find(',');
    std::string_view feature = features.substr(0, comma);
    features.remove_prefix(comma == features.npos ? features.size() : comma + 1);
    if (!feature.starts_with('+'))
      continue;
    feature.remove_prefix(1);
    needsTiles |= feature.starts_with("amx-");
    if (!hostHas(feature))
      return Error{"load-feature", "the kernel was compiled for a processor with `" + std::string(feature) +
                                       "`, which this one does not have"};
  }
  if (!needsTiles)
    return {};
  static const bool granted = requestTiles();
  if (!granted)
    return Error{"load-feature", "the kernel uses AMX, which this system does not grant"};
  return {};
}

/// Bytes of one core's level-2 cache: what a program may use and stay fast.
static uint64_t levelTwoBytes() {
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0)
    return static_cast<uint64_t>(bytes);
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index2/size");
  uint64_t kilobytes = 0;
  if (file >> kilobytes && kilobytes > 0)
    return kilobytes * 1024;
  return 256 * 1024;
}

static std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const size_t colon = line.find(": "); line.starts_with("model name") && colon != line.npos)
      return line.substr(colon + 2);
  return std::string(artifact::kCpu.name);
}

DeviceProperties hostProperties() {
  DeviceProperties properties;
  properties.name = processorName();
  properties.multiprocessorCount = usableProcessors();
  properties.maxSharedMem = levelTwoBytes();
  // A core has no register file that programs share. These are the figures of the GPUs that kernels are written for, so
  // that maxNumRegs / (n_regs * warpSize * num_warps) is at least 1 for up to 256 registers and 8 warps.
  properties.maxNumRegs = 65536;
  properties.warpSize = artifact::kCpu.warpSize;
  properties.maxThreadsPerSm = 2048;
  properties.maxThreadsPerBlock = 2048;
  return properties;
}

} // namespace nereid::runtime
