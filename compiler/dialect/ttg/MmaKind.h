// What a product's operands are multiplied as by the matrix instructions of a warp.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include <optional>

namespace nereid::ttg {

enum class MmaKind : uint8_t {
  F16,  ///< floats of 16 bits, and of 8 bits made wider
  BF16, ///< and f32 as a sum of parts
  TF32, ///< f32 with 10 bits of fraction, or as a sum of such parts
  Int8,
  F64,
};

/// None for products that no instruction multiplies exactly enough.
std::optional<MmaKind> mmaKindOf(tt::DotOp dot);

/// Elements that a lane holds side by side: as many as fill a register.
unsigned runAlongK(MmaKind kind);

} // namespace nereid::ttg
