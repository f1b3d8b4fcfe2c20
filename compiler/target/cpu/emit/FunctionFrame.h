// The LLVM function of a kernel while it is emitted: its basic blocks, local variables and shared code.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/DebugInfo.h"
#include "compiler/target/cpu/plan/LoopPlan.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace nereid::cpu {

class FunctionFrame {
public:
  FunctionFrame(llvm::IRBuilder<> &ir, llvm::Module &module, tt::FuncOp kernel, const CpuFeatures &machine);

  // The parameters that CpuTarget.h declares.
  llvm::Value *packed() const { return function->getArg(0); }
  llvm::Value *grid() const { return function->getArg(1); }
  llvm::Value *firstProgram() const { return function->getArg(2); }
  llvm::Value *endOfPrograms() const { return function->getArg(3); }
  llvm::Value *arena() const { return function->getArg(4); }

  llvm::Module &module() const { return *function->getParent(); }
  llvm::BasicBlock *newBlock(const char *name);
  llvm::AllocaInst *local(llvm::Type *type, const llvm::Twine &name = "");
  /// The same, with this value when the kernel is called.
  llvm::AllocaInst *local(llvm::Constant *initial, const llvm::Twine &name);
  /// Calls a function of the module that `body` emits at its first use; calls by equal names share it. The body sees
  /// the function's parameters in place of `values`, whose constants become part of the name.
  void callShared(const llvm::Twine &name, llvm::ArrayRef<llvm::Value **> values, llvm::function_ref<void()> body);
  void setLocation(mlir::Location location) { debug.setLocation(ir, location); }
  /// Called once, after the function's last instruction.
  void finish() { debug.finish(); }

private:
  void addAttributes(llvm::Function &function) const;

  llvm::IRBuilder<> &ir;
  const CpuFeatures &machine;
  llvm::Function *function;
  lowering::DebugInfo debug;
  llvm::StringMap<llvm::Function *> sharedFunctions;
};

} // namespace nereid::cpu
