// The GPUs and drivers that a kernel's code requires.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"

#include <string_view>

namespace nereid::runtime {

/// Whether the bytes are PTX text, which the driver compiles, rather than machine code.
bool isPtx(std::string_view binary);

/// Whether code for `arch` ("90", "90a") runs on a GPU of that compute capability (90).
bool runsOn(std::string_view arch, bool isPtx, int capability);

/// The oldest CUDA whose driver accepts the code, as 12080; 0 where unknown.
int neededCuda(const artifact::Artifact &artifact);

} // namespace nereid::runtime
