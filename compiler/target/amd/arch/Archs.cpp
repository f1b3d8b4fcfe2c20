// Finds AMD GPU generations by the names of users.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/arch/Archs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace nereid;
using namespace nereid::amd;

std::string amd::canonicalName(const std::string &name) { return llvm::StringRef(name).split(':').first.str(); }

std::string amd::archNames() {
  return llvm::join(llvm::map_range(artifact::amdArchs(), [](const Arch &arch) { return std::string(arch.name); }),
                    ", ");
}

std::optional<Arch> amd::findArch(const std::string &name, std::string &reason) {
  if (const Arch *arch = artifact::findAmdArch(canonicalName(name)))
    return *arch;
  reason = "no code is generated for `" + name + "`; an AMD target is one of " + archNames();
  return std::nullopt;
}
