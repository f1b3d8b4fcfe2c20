// The CPUs that kernels are compiled for: this host, or one that the user named.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/TargetSpec.h"

#include <optional>
#include <string>

namespace nereid::cpu {

/// This host, with its CPU name and features resolved.
support::TargetSpec hostTarget();
/// The LLVM CPU `arch` with the features that it always has; nullopt, and the reason, for an unknown name.
std::optional<support::TargetSpec> namedTarget(const std::string &arch, std::string &reason);

} // namespace nereid::cpu
