// Creates the LLVM function of a kernel, its basic blocks, local variables and shared code.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/FunctionFrame.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

FunctionFrame::FunctionFrame(llvm::IRBuilder<> &ir, llvm::Module &module, tt::FuncOp kernel, const CpuFeatures &machine)
    : ir(ir), machine(machine), debug(module) {
  llvm::Type *pointer = ir.getPtrTy(), *count = ir.getInt64Ty();
  auto *type = llvm::FunctionType::get(ir.getVoidTy(), {pointer, pointer, count, count, pointer}, false);
  function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, kernel.getSymName(), module);
  // The arena aliases no other memory, and no program writes its own parameters.
  for (unsigned index : {0u, 1u, 4u})
    function->addParamAttr(index, llvm::Attribute::NoAlias);
  for (unsigned index : {0u, 1u})
    function->addParamAttr(index, llvm::Attribute::ReadOnly);
  function->addParamAttr(4, llvm::Attribute::getWithAlignment(module.getContext(), llvm::Align(64)));
  addAttributes(*function);
  debug.begin(*function, kernel.getLoc());
}

void FunctionFrame::addAttributes(llvm::Function &function) const {
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.addFnAttr("no-trapping-math", "true");
  if (machine.hasAvx512)
    function.addFnAttr("prefer-vector-width", "512");
}

void FunctionFrame::callShared(const llvm::Twine &name, ArrayRef<llvm::Value **> values,
                               llvm::function_ref<void()> body) {
  std::string key = name.str();
  SmallVector<llvm::Value *> arguments;
  SmallVector<llvm::Value **> parameters;
  for (auto [index, value] : llvm::enumerate(values)) {
    if (auto *constant = dyn_cast<llvm::ConstantInt>(*value)) {
      key += ".arg" + std::to_string(index) + "." + llvm::toString(constant->getValue(), 10, /*Signed=*/true);
      continue;
    }
    arguments.push_back(*value);
    parameters.push_back(value);
  }
  llvm::Function *&shared = sharedFunctions[key];
  if (!shared) {
    SmallVector<llvm::Type *> types;
    for (llvm::Value *argument : arguments)
      types.push_back(argument->getType());
    shared = llvm::Function::Create(llvm::FunctionType::get(ir.getVoidTy(), types, false),
                                    llvm::Function::InternalLinkage, key, module());
    addAttributes(*shared);
    const llvm::IRBuilder<>::InsertPointGuard guard(ir);
    ir.SetInsertPoint(llvm::BasicBlock::Create(ir.getContext(), "entry", shared));
    ir.SetCurrentDebugLocation({});
    for (auto [index, parameter] : llvm::enumerate(parameters))
      *parameter = shared->getArg(index);
    body();
    ir.CreateRetVoid();
    for (auto [parameter, argument] : llvm::zip_equal(parameters, arguments))
      *parameter = argument;
  }
  ir.CreateCall(shared, arguments);
}

llvm::BasicBlock *FunctionFrame::newBlock(const char *name) {
  return llvm::BasicBlock::Create(ir.getContext(), name, function);
}

llvm::AllocaInst *FunctionFrame::local(llvm::Type *type, const llvm::Twine &name) {
  llvm::BasicBlock &entry = function->getEntryBlock();
  llvm::IRBuilder<> start(&entry, entry.begin());
  return start.CreateAlloca(type, nullptr, name);
}

llvm::AllocaInst *FunctionFrame::local(llvm::Constant *initial, const llvm::Twine &name) {
  llvm::AllocaInst *variable = local(initial->getType(), name);
  llvm::IRBuilder<> start(variable->getParent(), std::next(variable->getIterator()));
  start.CreateStore(initial, variable);
  return variable;
}
