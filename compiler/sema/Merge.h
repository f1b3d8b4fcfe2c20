// Joins two paths: an scf.if that is built one side after the other, and the values that both sides give.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/TtFunctionEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::sema {

/// The values that differ between the sides, in the order of the results.
struct MergedValues {
  llvm::SmallVector<mlir::Value> thenValues, elseValues;
  void add(const Value &thenValue, const Value &elseValue);
};

/// Converts numbers that differ between two sides to tensors, also in tuples; equal numbers stay constants.
void makeMergeable(TtFunctionEmitter &emitter, std::pair<mlir::Block *, mlir::Block *> blocks, Value &thenValue,
                   Value &elseValue, std::pair<SourceRange, SourceRange> ranges);

/// Whether both have the same constants and IR values.
bool unchanged(const Value &a, const Value &b);

/// A value of the same structure and constants with zeros as tensors, as a placeholder that is never read. Emitted at
/// the insertion point of `builder`.
Value placeholderFor(TtFunctionEmitter &emitter, const Value &like, SourceRange range);

/// An scf.if with two open basic blocks: no results, no terminators yet.
mlir::scf::IfOp openIf(TtFunctionEmitter &emitter, mlir::Value condition, SourceRange range);
/// Replaces `shell` by an scf.if with the joined values as results, which takes its blocks.
mlir::scf::IfOp finishIf(mlir::OpBuilder &builder, mlir::scf::IfOp shell, const MergedValues &merged);

} // namespace nereid::sema
