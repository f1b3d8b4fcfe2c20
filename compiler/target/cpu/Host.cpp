// Names the CPU that this process runs on, or one that the user named.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/CpuTarget.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <thread>

using namespace nereid;

/// "+a,+b,..." in alphabetical order.
static std::string joined(llvm::SmallVectorImpl<llvm::StringRef> &names) {
  llvm::sort(names);
  std::string text;
  for (llvm::StringRef name : names)
    text += (text.empty() ? "+" : ",+") + name.str();
  return text;
}

/// Size of the last cache that the first processor reaches, as far as this system's processors can lay claim to it;
/// zero where the system does not tell. A virtual machine of two processors is told of the whole cache of a socket of
/// sixty. The C library's figure is not used: it multiplies by what virtual machines report of their topology.
static uint64_t lastLevelCache() {
  constexpr uint64_t mostOfOneProcessor = 16 << 20;
  uint64_t bytes = 0;
  for (unsigned index = 0; index < 8; ++index) {
    auto text = llvm::MemoryBuffer::getFileAsStream("/sys/devices/system/cpu/cpu0/cache/index" + llvm::Twine(index) +
                                                    "/size");
    llvm::StringRef size = text ? (*text)->getBuffer().trim() : "";
    uint64_t kibibytes = 0;
    if (size.consume_back("K") && !size.getAsInteger(10, kibibytes))
      bytes = std::max(bytes, kibibytes * 1024);
  }
  const unsigned processors = std::max(1u, std::thread::hardware_concurrency());
  return llvm::bit_floor(std::min(bytes, processors * mostOfOneProcessor));
}

support::TargetSpec cpu::hostTarget() {
  static const support::TargetSpec host = [] {
    support::TargetSpec spec;
    spec.backend = "cpu";
    spec.arch = llvm::sys::getHostCPUName().str();
    auto found = llvm::sys::getHostCPUFeatures();
    llvm::SmallVector<llvm::StringRef> names;
    for (const auto &feature : found)
      if (feature.second)
        names.push_back(feature.first());
    spec.features = joined(names);
    spec.lastLevelCacheBytes = lastLevelCache();
    return spec;
  }();
  return host;
}

std::optional<support::TargetSpec> cpu::namedTarget(const std::string &arch, std::string &whyNot) {
  llvm::SmallVector<llvm::StringRef> known;
  llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
  if (!llvm::is_contained(known, llvm::StringRef(arch))) {
    whyNot = "CPU `" + arch + "` is unknown; names are LLVM's, such as `x86-64-v3` or `znver3`";
    return std::nullopt;
  }
  support::TargetSpec spec;
  spec.backend = "cpu";
  spec.arch = arch;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::X86::getFeaturesForCPU(arch, names);
  spec.features = joined(names);
  return spec;
}
