// Distributes waves over dots of matrix instructions and chooses vectors along the K dimension.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/target/amd/arch/Archs.h"

namespace nereid::amd {

/// An attribute of modules: rows and columns of matrix instructions, 16 or 32, where the user chooses them.
inline constexpr llvm::StringLiteral kNonKDim = "ttag.matrix_instr_nonkdim";

/// An attribute of modules: the number of matrix instructions whose operands one load from shared memory brings, 1 or
/// 2, where the user chooses it.
inline constexpr llvm::StringLiteral kKpack = "ttag.kpack";

/// The architecture of the op's module.
std::optional<Arch> archOf(mlir::Operation *op);

ttg::LayoutEncoding dotLayout(tt::DotOpInterface dot, ttg::ThreadCounts threads);
/// The layout of an operand of a dot: of a factor, or of its scales.
ttg::LayoutEncoding operandLayout(tt::DotOpInterface dot, unsigned operand, ttg::LayoutEncoding accumulator);

} // namespace nereid::amd
