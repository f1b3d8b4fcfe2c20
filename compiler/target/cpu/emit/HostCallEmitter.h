// Emits calls into the process that launched the kernel, as declared in runtime/cpu/HostCalls.h.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

#include <functional>

namespace nereid::check {
class ValuesOp;
}

namespace nereid::cpu {

/// The functions of runtime/cpu/HostCalls.h, in its order.
enum class HostCall : unsigned { Print, Fail, Check, Wait, Arrive };

class HostCallEmitter {
public:
  HostCallEmitter(EmitContext &context, tt::FuncOp kernel);

  /// The text of a check's report, with `{found}` for the finding.
  std::function<std::string(check::ValuesOp)> checkText;

  void emitPrint(tt::PrintOp op);
  void emitAssert(tt::AssertOp op);
  /// The check of a sanitizer: the runtime tests the values and returns whether the program may go on.
  void emitCheck(check::ValuesOp op);
  /// At the end of an iteration of a loop that waits for other programs: lets them run.
  void emitWait(mlir::scf::WhileOp loop, llvm::Value *isFirst);
  /// After an atomic operation by which a program may signal programs that wait.
  void emitArrival(mlir::Operation *atomic);

private:
  llvm::Value *hostCall(HostCall call);
  llvm::Value *programIds();
  llvm::Value *allTrue(mlir::Value condition, std::optional<BufferId> tile);
  void failUnless(llvm::Value *holds, llvm::StringRef text);
  llvm::Constant *checkSite(check::ValuesOp op);
  void letOthersRun(HostCall call, llvm::ArrayRef<llvm::Value *> arguments);
  // HostCallArguments.cpp
  llvm::Constant *constantGlobal(llvm::Constant *value);
  /// A PrintedType for each value.
  llvm::Constant *typesOf(mlir::ValueRange values, llvm::ArrayRef<int32_t> isSigned);
  /// The addresses of values that the op's step has stored to memory, scalars included.
  llvm::Value *addressesOf(mlir::Operation *op, mlir::ValueRange values);

  EmitContext &context;
  llvm::IRBuilder<> &ir;
  bool mayWait = false; ///< a loop of the kernel may wait for other programs
};

} // namespace nereid::cpu
