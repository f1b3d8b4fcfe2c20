// Finds NVIDIA GPU generations by the names of users.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/arch/Archs.h"

#include "llvm/ADT/StringRef.h"

using namespace nereid;
using namespace nereid::nvidia;

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
  const Arch *below = artifact::findNvidiaArch(name->capability);
  if (!below) {
    reason = "no code is generated for compute capability " + text + "; the lowest supported is " +
             std::to_string(artifact::nvidiaArchs().front().capability);
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
