// The `ttng` dialect: what NVIDIA's GPUs have beyond the threads and shared memory of `ttg`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

namespace nereid::ttng {

/// Whether warp groups have an instruction for products of elements `a` and `b` with sums of type `sum`.
bool hasGroupInstruction(mlir::Type a, mlir::Type b, mlir::Type sum, tt::InputPrecision precision);
/// The depth of an instruction on elements of so many bits: 32 bytes.
constexpr unsigned groupDepth(unsigned elemBits) { return 256 / elemBits; }
/// Whether the instructions read elements of so many bits along either dimension, not along K alone.
constexpr bool readsEitherWay(unsigned elemBits) { return elemBits == 16; }

} // namespace nereid::ttng

#include "compiler/dialect/ttng/Dialect.h.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/ttng/Ops.h.inc"
