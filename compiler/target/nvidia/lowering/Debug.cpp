// Emits prints and assertions by the functions that NVIDIA's driver provides.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"

using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::lowering;

static llvm::Module &moduleOf(IrBuilder &ir) { return *ir.GetInsertBlock()->getModule(); }

// CUDA programming guide, formatted output: the arguments lie in a buffer, each at its own alignment.
void NvidiaEmitter::print(IrBuilder &ir, llvm::StringRef format, llvm::ArrayRef<llvm::Value *> values) {
  llvm::Type *pointer = ir.getPtrTy();
  llvm::Value *buffer = llvm::ConstantPointerNull::get(ir.getPtrTy());
  if (!values.empty()) {
    auto types = llvm::map_to_vector(values, [](llvm::Value *value) { return value->getType(); });
    auto *type = llvm::StructType::get(ir.getContext(), types);
    llvm::BasicBlock &entry = ir.GetInsertBlock()->getParent()->getEntryBlock();
    IrBuilder atEntry(&entry, entry.getFirstInsertionPt());
    buffer = atEntry.CreateAlloca(type, nullptr, "printed");
    for (auto [index, value] : llvm::enumerate(values))
      ir.CreateStore(value, ir.CreateStructGEP(type, buffer, index));
  }
  auto *type = llvm::FunctionType::get(ir.getInt32Ty(), {pointer, pointer}, false);
  ir.CreateCall(moduleOf(ir).getOrInsertFunction("vprintf", type), {ir.CreateGlobalString(format), buffer});
}

void NvidiaEmitter::fail(IrBuilder &ir, const Failure &failure) {
  llvm::Type *pointer = ir.getPtrTy();
  auto *type =
      llvm::FunctionType::get(ir.getVoidTy(), {pointer, pointer, ir.getInt32Ty(), pointer, ir.getInt64Ty()}, false);
  ir.CreateCall(moduleOf(ir).getOrInsertFunction("__assertfail", type),
                {ir.CreateGlobalString(failure.message), ir.CreateGlobalString(failure.file), ir.getInt32(failure.line),
                 ir.CreateGlobalString(failure.function), ir.getInt64(1)});
}
