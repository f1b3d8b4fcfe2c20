// The matrix instructions of each architecture, as a table: which types they multiply, and how much of k at once.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/target/amd/arch/Archs.h"

#include <optional>

namespace nereid::amd {

/// What the elements of operands become before they are multiplied.
enum class MatrixKind : uint8_t {
  F16,  ///< and fp8 where no instruction has its format
  BF16,
  F32,
  XF32, ///< f32 of which the instruction uses 10 bits of fraction
  F64,
  Int8,
  Fp8, ///< in the architecture's own formats, which the operands may mix
};

struct MatrixInstruction {
  MatrixKind kind = MatrixKind::F16;
  unsigned extent = 16;  ///< rows and columns of the result
  unsigned perLane = 4;  ///< elements along k of a lane
  unsigned depth = 16;   ///< elements along k of the instruction
};

/// None for dots that no instruction multiplies exactly enough.
std::optional<MatrixKind> matrixKindOf(tt::DotOp dot, const Arch &arch);

/// The deepest instruction of that kind and extent; none where there is none.
std::optional<MatrixInstruction> matrixInstruction(const Arch &arch, MatrixKind kind, unsigned extent);

} // namespace nereid::amd
