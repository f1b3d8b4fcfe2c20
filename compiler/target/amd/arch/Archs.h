// AMD GPU generations as the compiler finds them.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/AmdGpus.h"

#include <optional>
#include <string>

namespace nereid::amd {

using Arch = artifact::AmdArch;
using artifact::Fp8Format;
using artifact::MatrixUnit;

/// The architecture for "gfx942" or "gfx942:sramecc+:xnack-". Other names give nothing and set `reason`.
std::optional<Arch> findArch(const std::string &name, std::string &reason);

/// The name without the features that follow it.
std::string canonicalName(const std::string &name);

/// The names of all architectures, separated by commas.
std::string archNames();

} // namespace nereid::amd
