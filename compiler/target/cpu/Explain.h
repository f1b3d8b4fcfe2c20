// Explains a CPU kernel from its plan: how the elements of each access, reduction and dot are computed.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/explain/Explanation.h"
#include "compiler/target/cpu/CpuTarget.h"

namespace nereid::cpu {

explain::Explanation explainKernel(CpuKernel &kernel); ///< completes the affine analysis of tiles on the way

} // namespace nereid::cpu
