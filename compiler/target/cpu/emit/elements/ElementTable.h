// How the ops that nests evaluate are emitted, element by element or for the lanes of a chunk.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/nest/NestContext.h"

namespace nereid::cpu {

/// An op's record is in the file that emits it.
struct ElementTraits {
  bool (*matches)(mlir::Operation *op) = nullptr;
  /// Whether equal elements of its operands make equal elements of its result, whatever their index.
  bool isRegular = true;
  /// The result's elements in the chunk, emitted at the level.
  Element (*emit)(NestContext &context, mlir::OpResult result, const IndexMap &map, unsigned level) = nullptr;
};

/// The first record that matches; the last one matches every op.
const ElementTraits &elementTraits(mlir::Operation *op);

} // namespace nereid::cpu
