// Scratch memory through which the threads that access memory pass results to those that hold copies.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

namespace nereid::ttg {

/// 0 where copies are in the registers of an owner, or in lanes that a shuffle reaches.
uint32_t bytesForOwnersResults(mlir::RankedTensorType tile);

} // namespace nereid::ttg
