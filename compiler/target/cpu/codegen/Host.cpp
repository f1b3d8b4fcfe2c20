// Describes the CPU that this process runs on, or one that the user named.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/codegen/Host.h"

#include "artifact/TargetInfo.h"
#include "compiler/support/NearestName.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace nereid;

/// "+a,+b,..." in alphabetical order.
static std::string joined(llvm::SmallVectorImpl<llvm::StringRef> &names, char sign) {
  llvm::sort(names);
  std::string text;
  for (llvm::StringRef name : names)
    text += (text.empty() ? "" : ",") + std::string(1, sign) + name.str();
  return text;
}

/// The share of the first processor's last-level cache that this system's processors can use, in bytes; zero where the
/// system does not report it. A virtual machine of two processors may report the whole cache of a socket of sixty. The
/// C library's figure is not used: it depends on the topology that virtual machines report.
static uint64_t lastLevelCache() {
  constexpr uint64_t mostOfOneProcessor = 16 << 20;
  uint64_t bytes = 0;
  for (unsigned index = 0; index < 8; ++index) {
    auto text =
        llvm::MemoryBuffer::getFileAsStream("/sys/devices/system/cpu/cpu0/cache/index" + llvm::Twine(index) + "/size");
    llvm::StringRef size = text ? (*text)->getBuffer().trim() : "";
    uint64_t kibibytes = 0;
    if (size.consume_back("K") && !size.getAsInteger(10, kibibytes))
      bytes = std::max(bytes, kibibytes * 1024);
  }
  const unsigned processors = std::max(1u, std::thread::hardware_concurrency());
  return llvm::bit_floor(std::min(bytes, processors * mostOfOneProcessor));
}

/// Whether the system lets this process use the matrix tiles of AMX, which must be requested first.
static bool systemGivesTiles() {
  constexpr long requestPermission = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

support::TargetSpec cpu::hostTarget() {
  static const support::TargetSpec host = [] {
    support::TargetSpec spec;
    spec.backend = artifact::kCpu.name;
    spec.arch = llvm::sys::getHostCPUName().str();
    auto hostFeatures = llvm::sys::getHostCPUFeatures();
    const bool givesTiles = systemGivesTiles();
    llvm::SmallVector<llvm::StringRef> names, implied, missing;
    for (const auto &feature : hostFeatures)
      if (feature.second && (givesTiles || !feature.first().starts_with("amx")))
        names.push_back(feature.first());
    // The name implies all features of such processors; a virtual machine may hide some.
    llvm::X86::getFeaturesForCPU(spec.arch, implied);
    for (llvm::StringRef feature : implied)
      if (hostFeatures.contains(feature) && !llvm::is_contained(names, feature))
        missing.push_back(feature);
    spec.features = joined(names, '+');
    if (!missing.empty())
      spec.features += "," + joined(missing, '-');
    spec.lastLevelCacheBytes = lastLevelCache();
    return spec;
  }();
  return host;
}

std::optional<support::TargetSpec> cpu::namedTarget(const std::string &arch, std::string &reason) {
  llvm::SmallVector<llvm::StringRef> known;
  llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
  if (!llvm::is_contained(known, llvm::StringRef(arch))) {
    support::NearestName nearest(arch);
    nearest.addAll(known);
    reason = "CPU `" + arch + "` is unknown" + nearest.hint() + "; names are LLVM's, such as `x86-64-v3` or `znver3`";
    return std::nullopt;
  }
  support::TargetSpec spec;
  spec.backend = artifact::kCpu.name;
  spec.arch = arch;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::X86::getFeaturesForCPU(arch, names);
  spec.features = joined(names, '+');
  return spec;
}
