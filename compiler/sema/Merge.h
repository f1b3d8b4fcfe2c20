// Where two paths meet: an scf.if that is built side by side, and the values that both sides give.
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

/// Makes tensors of the numbers that differ between two sides, those in tuples too; what is equal stays constant.
void makeMergeable(TtFunctionEmitter &emitter, std::pair<mlir::Block *, mlir::Block *> blocks, Value &thenValue,
                   Value &elseValue, std::pair<SourceRange, SourceRange> ranges);

/// The same constants and IR values.
bool unchanged(const Value &a, const Value &b);

/// A value of the same structure and constants whose tensors are zeros: what nobody reads. Made where `builder` stands.
Value placeholderFor(TtFunctionEmitter &emitter, const Value &like, SourceRange range);

/// An scf.if with two open blocks: no results, no terminators yet.
mlir::scf::IfOp openIf(TtFunctionEmitter &emitter, mlir::Value condition, SourceRange range);
/// Puts scf.if with the joined values as results in place of `shell`, whose blocks it takes.
mlir::scf::IfOp finishIf(mlir::OpBuilder &builder, mlir::scf::IfOp shell, const MergedValues &merged);

} // namespace nereid::sema
