// Emits the launcher as LLVM IR: it packs the arguments, allocates an arena and runs all programs in order.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/codegen/AotLauncher.h"

#include "compiler/lowering/llvm/Link.h"
#include "compiler/target/cpu/codegen/Codegen.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"

using namespace nereid;
using llvm::IRBuilder;

/// Reads one argument slot as AOTInductor fills it and stores it at its offset in the packed arguments.
static void packArgument(IRBuilder<> &builder, const artifact::Parameter &parameter, llvm::Value *args,
                         llvm::Value *packed) {
  llvm::Value *slot = builder.CreateConstInBoundsGEP1_64(builder.getPtrTy(), args, parameter.position);
  llvm::Value *argument = builder.CreateLoad(builder.getPtrTy(), slot);
  llvm::Value *place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), packed, parameter.offset);
  llvm::Value *value = argument;
  switch (parameter.kind) {
  case artifact::ParameterKind::Pointer:
  case artifact::ParameterKind::Descriptor:
    break;
  case artifact::ParameterKind::Bool:
    value = builder.CreateLoad(builder.getInt8Ty(), argument);
    break;
  case artifact::ParameterKind::Int:
    value = builder.CreateLoad(builder.getInt64Ty(), argument);
    value = builder.CreateTrunc(value, builder.getIntNTy(parameter.size * 8));
    break;
  case artifact::ParameterKind::Float: {
    llvm::Type *type = parameter.size == 8        ? builder.getDoubleTy()
                       : parameter.type == "bf16" ? builder.getBFloatTy()
                       : parameter.size == 2      ? builder.getHalfTy()
                                                  : builder.getFloatTy();
    value = builder.CreateFPCast(builder.CreateLoad(builder.getFloatTy(), argument), type);
    break;
  }
  }
  builder.CreateAlignedStore(value, place, llvm::Align(1));
}

/// Ends the process with a message where `memory` is null: the launcher's interface has no way to return an error.
static void leaveWithoutMemory(IRBuilder<> &builder, llvm::Value *memory, llvm::StringRef kernel) {
  llvm::Function *function = builder.GetInsertBlock()->getParent();
  llvm::Module &module = *function->getParent();
  auto *lost = llvm::BasicBlock::Create(builder.getContext(), "no_memory", function);
  auto *hasMemory = llvm::BasicBlock::Create(builder.getContext(), "memory", function);
  builder.CreateCondBr(builder.CreateIsNull(memory), lost, hasMemory);
  builder.SetInsertPoint(lost);
  auto say = module.getOrInsertFunction("perror", builder.getVoidTy(), builder.getPtrTy());
  auto end = module.getOrInsertFunction("abort", builder.getVoidTy());
  builder.CreateCall(say, {builder.CreateGlobalString(("no memory for the arena of kernel `" + kernel + "`").str())});
  builder.CreateCall(end);
  builder.CreateUnreachable();
  builder.SetInsertPoint(hasMemory);
}

static void emitLauncher(llvm::Module &module, const artifact::Artifact &artifact) {
  llvm::LLVMContext &context = module.getContext();
  IRBuilder<> builder(context);
  llvm::Type *i32 = builder.getInt32Ty(), *i64 = builder.getInt64Ty(), *ptr = builder.getPtrTy();
  auto *type = llvm::FunctionType::get(builder.getVoidTy(), {i32, i32, i32, i32, ptr, ptr}, false);
  auto *function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, "run_from_nativert", module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));

  llvm::Value *args = function->getArg(4), *kernel = function->getArg(5);
  auto *packed = builder.CreateAlloca(builder.getInt8Ty(), builder.getInt64(artifact::packedBytes(artifact)));
  packed->setAlignment(llvm::Align(16));
  builder.CreateMemSet(packed, builder.getInt8(0), artifact::packedBytes(artifact), llvm::Align(16));
  for (const artifact::Parameter &parameter : artifact.parameters)
    packArgument(builder, parameter, args, packed);

  llvm::Value *grid = builder.CreateAlloca(i32, builder.getInt64(3));
  llvm::Value *total = builder.getInt64(1);
  for (unsigned axis = 0; axis < 3; ++axis) {
    builder.CreateStore(function->getArg(axis), builder.CreateConstInBoundsGEP1_64(i32, grid, axis));
    total = builder.CreateMul(total, builder.CreateZExt(function->getArg(axis), i64));
  }
  const uint64_t bytes = llvm::alignTo(std::max<uint64_t>(artifact.arenaBytes, 8), artifact.arenaAlign);
  auto allocate = module.getOrInsertFunction("aligned_alloc", ptr, i64, i64);
  auto release = module.getOrInsertFunction("free", builder.getVoidTy(), ptr);
  llvm::Value *arena = builder.CreateCall(allocate, {builder.getInt64(artifact.arenaAlign), builder.getInt64(bytes)});
  leaveWithoutMemory(builder, arena, artifact.name);
  builder.CreateStore(builder.getInt64(0), arena);
  auto *entry = llvm::FunctionType::get(builder.getVoidTy(), {ptr, ptr, i64, i64, ptr}, false);
  builder.CreateCall(entry, kernel, {packed, grid, builder.getInt64(0), total, arena});
  builder.CreateCall(release, {arena});
  builder.CreateRetVoid();
}

std::optional<std::string> cpu::compileAotLauncher(const artifact::Artifact &artifact,
                                                   const support::TargetSpec &target) {
  auto machine = createMachine(target);
  if (!machine) {
    llvm::consumeError(machine.takeError());
    return std::nullopt;
  }
  llvm::LLVMContext context;
  llvm::Module module("launcher", context);
  module.setTargetTriple((*machine)->getTargetTriple());
  module.setDataLayout((*machine)->createDataLayout());
  emitLauncher(module, artifact);
  auto object = emitObject(module, **machine);
  if (!object) {
    llvm::consumeError(object.takeError());
    return std::nullopt;
  }
  auto linked = lowering::linkShared(*object, artifact.name + ".launcher.so");
  if (!linked) {
    llvm::consumeError(linked.takeError());
    return std::nullopt;
  }
  return std::string(linked->begin(), linked->end());
}
