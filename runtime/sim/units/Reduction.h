// Reductions that asynchronous copies and stores apply to numbers in memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/units/AtomicOps.h"
#include "runtime/sim/units/Opcodes.h"
#include "runtime/sim/units/TensorMap.h"

namespace nereid::sim {

/// Combines one number of memory with one at `with`, atomically; None: replaces it.
void reduceInto(TensorElement element, AtomicOp reduction, char *memory, const char *with);

/// Combines one number of memory with one at `with`, atomically.
using Combine = void (*)(AtomicOp op, char *memory, const char *with);
/// The number of the function for a type of PTX; nothing where there is none.
std::optional<uint8_t> findCombine(std::string_view type);
Combine combineOf(uint8_t number);

/// Consumes the modifier that names an operation but exch and cas; None where there is none.
AtomicOp takeReduction(Decoder &decoder);
/// Consumes a type; nothing where no tensor has such elements.
std::optional<TensorElement> takeElement(Decoder &decoder);

} // namespace nereid::sim
