// The kinds of matrix instructions of a warp (mma.sync) that a dot's operands map to.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include <optional>

namespace nereid::ttng {

enum class MmaKind : uint8_t {
  F16,  ///< 16-bit floats, and fp8 converted to them
  BF16, ///< and f32 as a sum of several bf16 values
  TF32, ///< f32 with 10 bits of fraction, or as a sum of such values
  Int8,
  F64,
};

/// The kind of instruction for a dot; none where no instruction multiplies exactly enough.
std::optional<MmaKind> mmaKindOf(tt::DotOp dot);

/// Elements that a lane holds in one register.
unsigned runAlongK(MmaKind kind);

} // namespace nereid::ttng
