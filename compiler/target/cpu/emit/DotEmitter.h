// Emits a dot: loops over register blocks of the result, each with a loop over K inside.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

namespace nereid::cpu {

/// Emits at the insert point; afterwards the insert point is after the dot's last loop.
void emitDot(EmitContext &context, const Step &step);

} // namespace nereid::cpu
