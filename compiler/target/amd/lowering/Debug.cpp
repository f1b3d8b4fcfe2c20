// Emits prints and assertions as calls of printf, which the code generator turns into writes to the runtime's buffer.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/FailureMetadata.h"
#include "compiler/target/amd/lowering/AmdEmitter.h"

using namespace nereid;
using namespace nereid::amd;
using namespace nereid::lowering;

static llvm::CallInst *callPrintf(IrBuilder &ir, llvm::StringRef format, llvm::ArrayRef<llvm::Value *> values) {
  llvm::Module &module = *ir.GetInsertBlock()->getModule();
  auto *type = llvm::FunctionType::get(ir.getInt32Ty(), {ir.getPtrTy(4)}, /*isVarArg=*/true);
  constexpr unsigned constantMemory = 4;
  llvm::SmallVector<llvm::Value *> arguments = {ir.CreateGlobalString(format, "", constantMemory)};
  arguments.append(values.begin(), values.end());
  return ir.CreateCall(module.getOrInsertFunction("printf", type), arguments);
}

void AmdEmitter::print(IrBuilder &ir, llvm::StringRef format, llvm::ArrayRef<llvm::Value *> values) {
  callPrintf(ir, format, values);
}

/// `text` as a printf format.
static std::string escaped(llvm::StringRef text) {
  std::string format;
  for (char letter : text)
    format += letter == '%' ? std::string("%%") : std::string(1, letter);
  return format;
}

void AmdEmitter::fail(IrBuilder &ir, const Failure &failure) {
  llvm::CallInst *call =
      callPrintf(ir,
                 escaped(failure.file) + ":" + std::to_string(failure.line) + ": " + escaped(failure.function) +
                     ": assertion failed: " + escaped(failure.message) + "\n",
                 {});
  // The simulated GPU reports the failure itself.
  llvm::LLVMContext &context = ir.getContext();
  const auto text = [&](llvm::StringRef part) { return llvm::MDString::get(context, part); };
  call->setMetadata(kFailureMetadata,
                    llvm::MDNode::get(context, {text(failure.message), text(failure.file),
                                                text(std::to_string(failure.line)), text(failure.function)}));
  ir.CreateIntrinsic(llvm::Intrinsic::trap, llvm::ArrayRef<llvm::Value *>());
}
