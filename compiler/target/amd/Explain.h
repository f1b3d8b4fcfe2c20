// Explains a GPU kernel that is ready for emission: what its ops do for each line.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/explain/Explanation.h"
#include "compiler/target/amd/HipTarget.h"

namespace nereid::amd {

explain::Explanation explainKernel(const HipKernel &kernel);

} // namespace nereid::amd
