// Emits print and assert: calls into the process that launched the kernel, as declared in runtime/cpu/HostCalls.h.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/KernelEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The address of a host function, or null where the host does not provide it.
llvm::Value *KernelEmitter::hostCall(HostCall call) {
  constexpr llvm::StringLiteral name = "nereid_host_calls";
  llvm::Module &module = *function->getParent();
  llvm::GlobalVariable *variable = module.getNamedGlobal(name);
  if (!variable) {
    auto *null = llvm::ConstantPointerNull::get(ir.getPtrTy());
    variable = new llvm::GlobalVariable(module, ir.getPtrTy(), false, llvm::GlobalValue::ExternalLinkage, null, name);
    variable->setVisibility(llvm::GlobalValue::ProtectedVisibility);
  }
  llvm::Value *table = ir.CreateLoad(ir.getPtrTy(), variable);
  llvm::BasicBlock *known = newBlock("host"), *after = newBlock("host.known"), *before = ir.GetInsertBlock();
  ir.CreateCondBr(ir.CreateIsNotNull(table), known, after);
  ir.SetInsertPoint(known);
  llvm::Value *target =
      ir.CreateLoad(ir.getPtrTy(), ir.CreateConstGEP1_64(ir.getPtrTy(), table, static_cast<unsigned>(call)));
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  llvm::PHINode *result = ir.CreatePHI(ir.getPtrTy(), 2);
  result->addIncoming(llvm::ConstantPointerNull::get(ir.getPtrTy()), before);
  result->addIncoming(target, known);
  return result;
}

llvm::Value *KernelEmitter::programIds() {
  auto *type = llvm::ArrayType::get(ir.getInt32Ty(), 3);
  llvm::AllocaInst *ids = local(type, "ids");
  for (unsigned axis = 0; axis < 3; ++axis)
    ir.CreateStore(programId[axis], ir.CreateConstGEP2_64(type, ids, 0, axis));
  return ids;
}

static llvm::FunctionCallee declareDprintf(llvm::IRBuilder<> &ir, llvm::Module &module) {
  auto *type = llvm::FunctionType::get(ir.getInt32Ty(), {ir.getInt32Ty(), ir.getPtrTy()}, /*isVarArg=*/true);
  return module.getOrInsertFunction("dprintf", type);
}

void KernelEmitter::emitPrint(tt::PrintOp op) {
  llvm::Module &module = *function->getParent();
  const unsigned count = op.getArgs().size();
  llvm::Value *addresses = addressesOf(op, op.getArgs());
  llvm::Value *ids = programIds(), *prefix = ir.CreateGlobalString(op.getPrefix());
  llvm::Value *host = hostCall(HostCall::Print);
  llvm::BasicBlock *hosted = newBlock("print"), *alone = newBlock("print.alone"), *after = newBlock("printed");
  ir.CreateCondBr(ir.CreateIsNotNull(host), hosted, alone);
  ir.SetInsertPoint(hosted);
  llvm::Type *word = ir.getInt32Ty(), *pointer = ir.getPtrTy();
  auto *type = llvm::FunctionType::get(ir.getVoidTy(), {pointer, pointer, word, word, pointer, pointer}, false);
  ir.CreateCall(
      type, host,
      {prefix, ids, ir.getInt32(op.getHex()), ir.getInt32(count), typesOf(op.getArgs(), op.getIsSigned()), addresses});
  ir.CreateBr(after);
  ir.SetInsertPoint(alone);
  const std::string format =
      count == 0 ? "pid (%u, %u, %u)%s\n"
                 : "pid (%u, %u, %u)%s" + std::to_string(count) + " values, which only Nereid's runtime prints\n";
  ir.CreateCall(declareDprintf(ir, module),
                {ir.getInt32(1), ir.CreateGlobalString(format), programId[0], programId[1], programId[2], prefix});
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
}

//--- assert --------------------------------------------------------------------------------

/// The user's file and line; for library code, those of the call.
static std::string locationText(Location location, bool hasColumn) {
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    const std::string callee = locationText(call.getCallee(), hasColumn);
    return callee.empty() ? locationText(call.getCaller(), hasColumn) : callee;
  }
  if (auto named = dyn_cast<NameLoc>(location))
    return locationText(named.getChildLoc(), hasColumn);
  if (auto fused = dyn_cast<FusedLoc>(location))
    return fused.getLocations().empty() ? "" : locationText(fused.getLocations().front(), hasColumn);
  auto range = dyn_cast<FileLineColRange>(location);
  if (!range || range.getFilename().getValue().starts_with("<nereid>/"))
    return "";
  const unsigned column = hasColumn ? range.getStartColumn() : 0;
  const std::string line = (range.getFilename().getValue() + ":" + llvm::Twine(range.getStartLine())).str();
  return column ? line + ":" + std::to_string(column) : line;
}

std::string cpu::userLocation(Location location) { return locationText(location, /*hasColumn=*/true); }

llvm::Value *KernelEmitter::allTrue(Value condition, std::optional<BufferId> tile) {
  if (!tile)
    return scalar(condition);
  const int64_t count = cast<RankedTensorType>(condition.getType()).getNumElements();
  const unsigned width = lanesDividing(count, 64);
  auto *type = llvm::FixedVectorType::get(ir.getInt8Ty(), width);
  llvm::BasicBlock *before = ir.GetInsertBlock(), *loop = newBlock("all"), *after = newBlock("all.known");
  ir.CreateBr(loop);
  ir.SetInsertPoint(loop);
  llvm::PHINode *index = ir.CreatePHI(ir.getInt64Ty(), 2), *all = ir.CreatePHI(type, 2);
  index->addIncoming(ir.getInt64(0), before);
  all->addIncoming(llvm::ConstantInt::get(type, 1), before);
  llvm::Value *next = ir.CreateAdd(index, ir.getInt64(width));
  llvm::Value *address = ir.CreateGEP(ir.getInt8Ty(), buffer(*tile), index);
  llvm::Value *both = ir.CreateAnd(all, ir.CreateAlignedLoad(type, address, llvm::Align(1)));
  index->addIncoming(next, loop);
  all->addIncoming(both, loop);
  ir.CreateCondBr(ir.CreateICmpULT(next, ir.getInt64(count)), loop, after);
  ir.SetInsertPoint(after);
  return ir.CreateICmpNE(ir.CreateAndReduce(both), ir.getInt8(0));
}

/// Ends the program, and with it the launch, where `holds` is false.
void KernelEmitter::failUnless(llvm::Value *holds, llvm::StringRef text) {
  llvm::BasicBlock *failed = newBlock("failed"), *hosted = newBlock("fail"), *alone = newBlock("fail.alone"),
                   *after = newBlock("holds");
  ir.CreateCondBr(holds, after, failed);
  ir.SetInsertPoint(failed);
  llvm::Value *ids = programIds(), *message = ir.CreateGlobalString(text);
  llvm::Value *host = hostCall(HostCall::Fail);
  ir.CreateCondBr(ir.CreateIsNotNull(host), hosted, alone);
  ir.SetInsertPoint(hosted);
  ir.CreateCall(llvm::FunctionType::get(ir.getVoidTy(), {ir.getPtrTy(), ir.getPtrTy()}, false), host, {message, ids});
  ir.CreateBr(programsDone);
  ir.SetInsertPoint(alone);
  llvm::Module &module = *function->getParent();
  ir.CreateCall(declareDprintf(ir, module), {ir.getInt32(2), ir.CreateGlobalString("%s; in program (%d, %d, %d)\n"),
                                             message, programId[0], programId[1], programId[2]});
  ir.CreateCall(module.getOrInsertFunction("abort", ir.getVoidTy()));
  ir.CreateUnreachable();
  ir.SetInsertPoint(after);
}

void KernelEmitter::emitAssert(tt::AssertOp op) {
  const auto &buffers = plan.operandsOf[op];
  const std::optional<BufferId> tile = buffers.empty() ? std::nullopt : buffers.front();
  const std::string location = locationText(op.getLoc(), /*hasColumn=*/false);
  const std::string text =
      location + (location.empty() ? "" : ": ") + "device-side assertion failed: " + op.getMessage().str();
  failUnless(allTrue(op.getCondition(), tile), text);
}
