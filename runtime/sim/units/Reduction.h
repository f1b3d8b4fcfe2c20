// Reductions that asynchronous copies and stores apply to numbers in memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/units/Opcodes.h"
#include "runtime/sim/units/TensorMap.h"

namespace nereid::sim {

enum class Reduction : uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor };

/// Combines one number of memory with one at `with`, atomically; None: replaces it.
void reduceInto(TensorElement element, Reduction reduction, char *memory, const char *with);

/// Consumes the modifier that names a reduction; None where there is none.
Reduction takeReduction(Decoder &decoder);
/// Consumes a type; nothing where no tensor has such elements.
std::optional<TensorElement> takeElement(Decoder &decoder);

} // namespace nereid::sim
