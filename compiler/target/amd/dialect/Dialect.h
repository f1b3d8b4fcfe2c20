// Dialects of AMD's GPUs: `ttag` carries the target's ttg::TargetInterface and has no ops; `amdg` and `rocdl` are those
// that imported TTGIR contains.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/IR/Dialect.h"

namespace nereid::ttag {

class TtagDialect : public mlir::Dialect {
public:
  explicit TtagDialect(mlir::MLIRContext *context);
  static constexpr llvm::StringLiteral getDialectNamespace() { return "ttag"; }
};

} // namespace nereid::ttag

namespace nereid::rocdl {

/// Hints to the scheduler of instructions, and the index of a thread. The ops are unregistered: a name, and numbers as
/// the attribute `arguments`.
class RocdlDialect : public mlir::Dialect {
public:
  explicit RocdlDialect(mlir::MLIRContext *context);
  static constexpr llvm::StringLiteral getDialectNamespace() { return "rocdl"; }
  std::optional<ParseOpHook> getParseOperationHook(llvm::StringRef name) const override;
};

inline constexpr llvm::StringLiteral kThreadId = "rocdl.workitem.id.x";

} // namespace nereid::rocdl

namespace nereid::amdg {

/// i32 in the shape of a tile.
mlir::Type offsetsLike(mlir::Type tile);
/// A pointer to the elements of a tile.
mlir::Type pointerTo(mlir::Type tile);

} // namespace nereid::amdg

MLIR_DECLARE_EXPLICIT_TYPE_ID(nereid::ttag::TtagDialect)
MLIR_DECLARE_EXPLICIT_TYPE_ID(nereid::rocdl::RocdlDialect)

#include "compiler/target/amd/dialect/Dialect.h.inc"

#define GET_OP_CLASSES
#include "compiler/target/amd/dialect/Ops.h.inc"
