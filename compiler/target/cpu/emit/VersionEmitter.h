// Emits a nest in the versions that the plan has chosen, of which the kernel runs one.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

namespace nereid::cpu {

class VersionEmitter {
public:
  VersionEmitter(EmitContext &context, const Nest &nest) : context(context), ir(context.ir), nest(nest) {}
  mlir::LogicalResult run();

private:
  using Emit = llvm::function_ref<mlir::LogicalResult()>;
  using Versions = llvm::ArrayRef<NestVersion>;

  mlir::LogicalResult emit(const Nest &version, Versions versions);
  mlir::LogicalResult emitResults(Versions versions);
  mlir::LogicalResult emitEither(llvm::Value *condition, Emit whenTrue, Emit whenFalse);
  mlir::LogicalResult emitExact(const Nest &version, Versions rest);
  mlir::LogicalResult emitCopiedOrNot(llvm::ArrayRef<mlir::Operation *> loads, Emit emitRest);
  mlir::LogicalResult emitFirstOrNot(const Nest &version, Emit emitRest);
  mlir::LogicalResult emitUnlessInPlace(tt::LoadOp load, Versions rest);
  mlir::LogicalResult emitTransposed(tt::LoadOp load, Versions rest);
  llvm::Value *emitAnyWraps(llvm::ArrayRef<mlir::Operation *> comparisons);
  std::optional<Redirect> memoryOf(tt::LoadOp load);
  llvm::Value *isWhole(tt::LoadOp load);

  EmitContext &context;
  llvm::IRBuilder<> &ir;
  const Nest &nest;
  llvm::Value *anyWraps = nullptr; ///< whether a compared addition overflows; null where none can
};

} // namespace nereid::cpu
