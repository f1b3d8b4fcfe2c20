// Emits a product of tiles: loops over register blocks of the result, each with a loop over K inside.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/KernelEmitter.h"

namespace nereid::cpu {

/// At the insert point, which is behind the product's last loop afterwards.
void emitDot(KernelEmitter &function, const Step &step);

} // namespace nereid::cpu
