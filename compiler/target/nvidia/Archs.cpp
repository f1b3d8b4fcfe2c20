// The table of NVIDIA GPU generations.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/Archs.h"

#include "llvm/ADT/StringRef.h"

using namespace nereid;
using namespace nereid::nvidia;

static constexpr uint32_t KiB = 1024;

// Shared memory: CUDA programming guide, "technical specifications per compute capability".
static constexpr Arch volta = {.capability = 70,
                               .cpu = "sm_70",
                               .ptxVersion = 74,
                               .hasToolchain = false,
                               .hasWarpReduce = false,
                               .hasBf16Conversion = false,
                               .hasByteFloats = false,
                               .hasAsyncCopy = false,
                               .hasTma = false,
                               .hasWgmma = false,
                               .hasClusters = false,
                               .maxSharedBytes = 96 * KiB,
                               .residentThreads = 2048};

static constexpr Arch turing() {
  Arch arch = volta;
  arch.capability = 75, arch.cpu = "sm_75", arch.hasToolchain = true, arch.maxSharedBytes = 64 * KiB, arch.residentThreads = 1024;
  return arch;
}

static constexpr Arch ampere(unsigned capability, const char *cpu, uint32_t sharedKiB, uint32_t threads) {
  Arch arch = turing();
  arch.residentThreads = threads;
  arch.capability = capability, arch.cpu = cpu, arch.maxSharedBytes = sharedKiB * KiB;
  arch.hasWarpReduce = arch.hasBf16Conversion = arch.hasAsyncCopy = true;
  return arch;
}

static constexpr Arch ada() {
  Arch arch = ampere(89, "sm_89", 99, 1536);
  arch.ptxVersion = 81, arch.hasByteFloats = true;
  return arch;
}

static constexpr Arch hopper() {
  Arch arch = ada();
  arch.capability = 90, arch.cpu = "sm_90a", arch.ptxVersion = 80, arch.maxSharedBytes = 227 * KiB, arch.residentThreads = 2048;
  arch.hasTma = arch.hasWgmma = arch.hasClusters = true;
  return arch;
}

static constexpr Arch blackwell(unsigned capability, const char *cpu, unsigned ptxVersion, uint32_t sharedKiB,
                                uint32_t threads = 2048) {
  Arch arch = hopper();
  arch.capability = capability, arch.cpu = cpu, arch.ptxVersion = ptxVersion, arch.maxSharedBytes = sharedKiB * KiB;
  arch.residentThreads = threads, arch.hasWgmma = false;
  return arch;
}

static constexpr Arch archs[] = {
    volta,
    turing(),
    ampere(80, "sm_80", 163, 2048),
    ampere(86, "sm_86", 99, 1536),
    ampere(87, "sm_87", 163, 1536),
    ada(),
    hopper(),
    blackwell(100, "sm_100a", 86, 227),
    blackwell(103, "sm_103a", 88, 227),
    blackwell(110, "sm_110a", 90, 227),
    blackwell(120, "sm_120a", 87, 99, 1536),
    blackwell(121, "sm_121a", 88, 99, 1536),
};

const Arch *nvidia::findArch(const std::string &name, std::string &whyNot) {
  unsigned capability = 0;
  if (llvm::StringRef(name).getAsInteger(10, capability)) {
    whyNot = "`" + name + "` is not a compute capability, such as 90";
    return nullptr;
  }
  // A capability that has no row of its own runs what was made for the one below it in its generation.
  const Arch *best = nullptr;
  for (const Arch &arch : archs)
    if (arch.capability <= capability && arch.capability / 10 == capability / 10)
      best = &arch;
  if (best)
    return best;
  whyNot = "no code is made for compute capability " + name + "; the lowest supported is " +
           std::to_string(lowestCapability);
  return nullptr;
}
