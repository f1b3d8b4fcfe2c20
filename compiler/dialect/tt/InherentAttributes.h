// Reads attributes in parsers that are written by hand.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/OpImplementation.h"

namespace nereid::tt {

/// Checks that the inherent attributes that were parsed are of the kinds that the op declares. Where an op is created,
/// MLIR drops those of another kind without a word, and accessors then read what is not there. Generated parsers check
/// by themselves.
mlir::ParseResult checkInherentAttributes(mlir::OpAsmParser &parser, llvm::SMLoc begin, mlir::OperationState &result);

/// `{...}` or nothing.
mlir::ParseResult parseAttributes(mlir::OpAsmParser &parser, mlir::OperationState &result);
/// `attributes {...}` or nothing.
mlir::ParseResult parseAttributesWithKeyword(mlir::OpAsmParser &parser, mlir::OperationState &result);

} // namespace nereid::tt
