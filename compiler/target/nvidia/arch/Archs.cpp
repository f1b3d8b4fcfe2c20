// Defines the table of NVIDIA GPU generations.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/arch/Archs.h"

#include "llvm/ADT/StringRef.h"

using namespace nereid;
using namespace nereid::nvidia;

static constexpr uint32_t KiB = 1024;

// Shared memory: CUDA programming guide, "technical specifications per compute capability".
static constexpr Arch volta = {.capability = 70,
                               .cpu = "sm_70",
                               .portable = "sm_70",
                               .ptxVersion = 74,
                               .hasToolchain = false,
                               .hasWarpReduce = false,
                               .hasBf16Conversion = false,
                               .hasFp8Conversion = false,
                               .hasXorSign = false,
                               .hasBf16Atomics = false,
                               .hasVectorAtomics = false,
                               .hasWarpMma = false,
                               .hasAsyncCopy = false,
                               .hasTma = false,
                               .makesTensorMaps = false,
                               .hasStmatrix = false,
                               .hasWgmma = false,
                               .hasClusters = false,
                               .maxSharedBytes = 96 * KiB,
                               .residentThreads = 2048};

static constexpr Arch turing() {
  Arch arch = volta;
  arch.capability = 75, arch.cpu = arch.portable = "sm_75", arch.hasToolchain = true, arch.maxSharedBytes = 64 * KiB,
  arch.residentThreads = 1024;
  return arch;
}

static constexpr Arch ampere(unsigned capability, const char *cpu, uint32_t sharedKiB, uint32_t threads) {
  Arch arch = turing();
  arch.residentThreads = threads;
  arch.capability = capability, arch.cpu = arch.portable = cpu, arch.maxSharedBytes = sharedKiB * KiB;
  arch.hasXorSign = capability > 80;
  arch.hasWarpReduce = arch.hasBf16Conversion = arch.hasWarpMma = arch.hasAsyncCopy = true;
  return arch;
}

static constexpr Arch ada() {
  Arch arch = ampere(89, "sm_89", 99, 1536);
  arch.ptxVersion = 81, arch.hasFp8Conversion = true;
  return arch;
}

static constexpr Arch hopper() {
  Arch arch = ada();
  arch.capability = 90, arch.cpu = "sm_90a", arch.portable = "sm_90", arch.ptxVersion = 80,
  arch.maxSharedBytes = 227 * KiB, arch.residentThreads = 2048;
  arch.makesTensorMaps = arch.hasStmatrix = true;
  arch.hasTma = arch.hasWgmma = arch.hasClusters = arch.hasBf16Atomics = arch.hasVectorAtomics = true;
  return arch;
}

static constexpr Arch blackwell(unsigned capability, const char *cpu, const char *portable, unsigned ptxVersion,
                                uint32_t sharedKiB, uint32_t threads = 2048) {
  Arch arch = hopper();
  arch.capability = capability, arch.cpu = cpu, arch.portable = portable, arch.ptxVersion = ptxVersion,
  arch.maxSharedBytes = sharedKiB * KiB;
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
    blackwell(100, "sm_100a", "sm_100", 86, 227),
    blackwell(103, "sm_103a", "sm_103", 88, 227),
    blackwell(110, "sm_110a", "sm_110", 90, 227),
    blackwell(120, "sm_120a", "sm_120", 87, 99, 1536),
    blackwell(121, "sm_121a", "sm_121", 88, 99, 1536),
};

namespace {
/// A parsed name: "sm_90a" is 90, with prefix and suffix.
struct ArchName {
  unsigned capability = 0;
  bool hasPrefix = false, hasSuffix = false;
};
} // namespace

static std::optional<ArchName> parse(llvm::StringRef text) {
  ArchName name;
  name.hasPrefix = text.consume_front("sm_");
  if (!name.hasPrefix)
    text.consume_front("sm");
  if (text.consumeInteger(10, name.capability))
    return std::nullopt;
  name.hasSuffix = text.consume_front("a") || text.consume_front("f");
  return text.empty() ? std::optional(name) : std::nullopt;
}

std::string nvidia::canonicalName(const std::string &text) {
  const std::optional<ArchName> name = parse(text);
  if (!name)
    return text;
  return (name->hasPrefix && !name->hasSuffix ? "sm_" : "") + std::to_string(name->capability);
}

/// Without the features that are specific to one generation.
static Arch portableForm(Arch arch) {
  arch.cpu = arch.portable;
  arch.hasWgmma = arch.makesTensorMaps = false;
  return arch;
}

std::optional<Arch> nvidia::findArch(const std::string &text, std::string &reason) {
  const std::optional<ArchName> name = parse(text);
  if (!name) {
    reason = "`" + text + "` is not a compute capability, such as 90 or sm_90a";
    return std::nullopt;
  }
  const Arch *below = nullptr;
  for (const Arch &arch : archs)
    if (arch.capability <= name->capability)
      below = &arch;
  if (!below) {
    reason = "no code is generated for compute capability " + text + "; the lowest supported is " +
             std::to_string(lowestCapability);
    return std::nullopt;
  }
  const bool isExact = below->capability == name->capability;
  if (isExact && !(name->hasPrefix && !name->hasSuffix))
    return *below;
  Arch arch = portableForm(*below);
  // A cubin runs only within its major version; for others the driver compiles the PTX.
  arch.hasToolchain &= below->capability / 10 == name->capability / 10;
  return arch;
}
