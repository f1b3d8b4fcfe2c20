// The matrix instructions of each architecture, as a table: which types they multiply, and how much of k at once.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/target/amd/arch/Archs.h"

#include <optional>

namespace nereid::amd {

/// What the elements of operands become before they are multiplied.
enum class MatrixKind : uint8_t {
  F16, ///< and fp8 where no instruction has its format
  BF16,
  F32,
  XF32, ///< f32 of which the instruction uses 10 bits of fraction
  F64,
  Int8,
  Fp8, ///< in the architecture's own formats, which the operands may mix
  Mx,  ///< fp8 and e2m1 in any pair, with a power of two for every 32 elements along k
};

struct MatrixInstruction {
  MatrixKind kind = MatrixKind::F16;
  unsigned extent = 16; ///< rows and columns of the result
  unsigned perLane = 4; ///< elements along k of a lane
  unsigned depth = 16;  ///< elements along k of the instruction
};

/// Whether elements of that type are fp8 of that format.
bool computesWith(Fp8Format format, mlir::Type element);

/// The kind of instruction for a dot; none where no instruction multiplies exactly enough.
std::optional<MatrixKind> matrixKindOf(tt::DotOpInterface dot, const Arch &arch);

/// The bytes along k that lie next to each other in a lane's operand of `MatrixKind::Mx`. The order along k is fixed
/// there, since a scale belongs to 32 elements of it: fp8 comes in two vectors of as many elements, of which the groups
/// of lanes have the first, then the second; e2m1 in one of twice as many.
inline constexpr unsigned kMxWidth = 16;

/// The elements along k of a dot.
int64_t depthOf(tt::DotOpInterface dot);

/// The deepest instruction of that kind and extent for a dot of `depth`; none where there is none. Dots of fp8 deep
/// enough for `Mx` get that, without scales: it multiplies twice as much at a time. An instruction that multiplies
/// `asked` elements along k is taken instead where there is one.
std::optional<MatrixInstruction> matrixInstruction(const Arch &arch, MatrixKind kind, unsigned extent, int64_t depth,
                                                   unsigned asked = 0);

} // namespace nereid::amd
