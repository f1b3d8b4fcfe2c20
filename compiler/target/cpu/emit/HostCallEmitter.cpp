// Emits print, assert, the checks of a sanitizer and the calls of programs that wait: calls into the process that
// launched the kernel, as declared in runtime/cpu/HostCalls.h.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/HostCallEmitter.h"

#include "compiler/dialect/check/Dialect.h"
#include "compiler/target/cpu/emit/AmxEmitter.h"
#include "compiler/target/cpu/emit/ControlFlow.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"
#include "compiler/target/cpu/plan/WaitLoops.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

HostCallEmitter::HostCallEmitter(EmitContext &context, tt::FuncOp kernel) : context(context), ir(context.ir) {
  kernel.walk([&](scf::WhileOp loop) { mayWait |= cpu::waitKind(loop).has_value(); });
}

/// The address of a host function, or null where the host does not provide it.
llvm::Value *HostCallEmitter::hostCall(HostCall call) {
  constexpr llvm::StringLiteral name = "nereid_host_calls";
  llvm::Module &module = context.frame.module();
  llvm::GlobalVariable *variable = module.getNamedGlobal(name);
  if (!variable) {
    auto *null = llvm::ConstantPointerNull::get(ir.getPtrTy());
    variable = new llvm::GlobalVariable(module, ir.getPtrTy(), false, llvm::GlobalValue::ExternalLinkage, null, name);
    variable->setVisibility(llvm::GlobalValue::ProtectedVisibility);
  }
  llvm::Value *table = ir.CreateLoad(ir.getPtrTy(), variable);
  return emitWhereOr(ir, ir.CreateIsNotNull(table), llvm::ConstantPointerNull::get(ir.getPtrTy()), [&] {
    return ir.CreateLoad(ir.getPtrTy(), ir.CreateConstGEP1_64(ir.getPtrTy(), table, static_cast<unsigned>(call)));
  });
}

llvm::Value *HostCallEmitter::programIds() {
  auto *type = llvm::ArrayType::get(ir.getInt32Ty(), 3);
  llvm::AllocaInst *ids = context.frame.local(type, "ids");
  for (unsigned axis = 0; axis < 3; ++axis)
    ir.CreateStore(context.program.id[axis], ir.CreateConstGEP2_64(type, ids, 0, axis));
  return ids;
}

static llvm::FunctionCallee declareDprintf(llvm::IRBuilder<> &ir, llvm::Module &module) {
  auto *type = llvm::FunctionType::get(ir.getInt32Ty(), {ir.getInt32Ty(), ir.getPtrTy()}, /*isVarArg=*/true);
  return module.getOrInsertFunction("dprintf", type);
}

void HostCallEmitter::emitPrint(tt::PrintOp op) {
  llvm::Module &module = context.frame.module();
  const unsigned count = op.getArgs().size();
  llvm::Value *addresses = addressesOf(op, op.getArgs());
  llvm::Value *ids = programIds(), *prefix = ir.CreateGlobalString(op.getPrefix());
  llvm::Value *host = hostCall(HostCall::Print);
  llvm::BasicBlock *hosted = context.frame.newBlock("print"), *alone = context.frame.newBlock("print.alone"),
                   *after = context.frame.newBlock("printed");
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
  ir.CreateCall(declareDprintf(ir, module), {ir.getInt32(1), ir.CreateGlobalString(format), context.program.id[0],
                                             context.program.id[1], context.program.id[2], prefix});
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
}

//--- assert --------------------------------------------------------------------------------

/// "file.py:12:5" of the user's text, of the call for library code; empty where it is unknown.
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

llvm::Value *HostCallEmitter::allTrue(Value condition, std::optional<BufferId> tile) {
  if (!tile)
    return context.scalars.of(condition);
  const int64_t count = cast<RankedTensorType>(condition.getType()).getNumElements();
  const unsigned width = lanesDividing(count, 64);
  auto *type = llvm::FixedVectorType::get(ir.getInt8Ty(), width);
  llvm::BasicBlock *before = ir.GetInsertBlock(), *loop = context.frame.newBlock("all"),
                   *after = context.frame.newBlock("all.known");
  ir.CreateBr(loop);
  ir.SetInsertPoint(loop);
  llvm::PHINode *index = ir.CreatePHI(ir.getInt64Ty(), 2), *all = ir.CreatePHI(type, 2);
  index->addIncoming(ir.getInt64(0), before);
  all->addIncoming(llvm::ConstantInt::get(type, 1), before);
  llvm::Value *next = ir.CreateAdd(index, ir.getInt64(width));
  llvm::Value *address = ir.CreateGEP(ir.getInt8Ty(), context.buffers.at(*tile), index);
  llvm::Value *both = ir.CreateAnd(all, ir.CreateAlignedLoad(type, address, llvm::Align(1)));
  index->addIncoming(next, loop);
  all->addIncoming(both, loop);
  ir.CreateCondBr(ir.CreateICmpULT(next, ir.getInt64(count)), loop, after);
  ir.SetInsertPoint(after);
  return ir.CreateICmpNE(ir.CreateAndReduce(both), ir.getInt8(0));
}

/// Ends the program, and with it the launch, where `holds` is false.
void HostCallEmitter::failUnless(llvm::Value *holds, llvm::StringRef text) {
  llvm::BasicBlock *failed = context.frame.newBlock("failed"), *hosted = context.frame.newBlock("fail"),
                   *alone = context.frame.newBlock("fail.alone"), *after = context.frame.newBlock("holds");
  ir.CreateCondBr(holds, after, failed);
  ir.SetInsertPoint(failed);
  llvm::Value *ids = programIds(), *message = ir.CreateGlobalString(text);
  llvm::Value *host = hostCall(HostCall::Fail);
  ir.CreateCondBr(ir.CreateIsNotNull(host), hosted, alone);
  ir.SetInsertPoint(hosted);
  ir.CreateCall(llvm::FunctionType::get(ir.getVoidTy(), {ir.getPtrTy(), ir.getPtrTy()}, false), host, {message, ids});
  ir.CreateBr(context.program.done);
  ir.SetInsertPoint(alone);
  llvm::Module &module = context.frame.module();
  ir.CreateCall(declareDprintf(ir, module),
                {ir.getInt32(2), ir.CreateGlobalString("%s; in program (%d, %d, %d)\n"), message, context.program.id[0],
                 context.program.id[1], context.program.id[2]});
  ir.CreateCall(module.getOrInsertFunction("abort", ir.getVoidTy()));
  ir.CreateUnreachable();
  ir.SetInsertPoint(after);
}

void HostCallEmitter::emitAssert(tt::AssertOp op) {
  const auto buffers = context.plan.operandsOf.lookup(op);
  const std::optional<BufferId> tile = buffers.empty() ? std::nullopt : buffers.front();
  const std::string location = locationText(op.getLoc(), /*hasColumn=*/false);
  const std::string text =
      location + (location.empty() ? "" : ": ") + "device-side assertion failed: " + op.getMessage().str();
  failUnless(allTrue(op.getCondition(), tile), text);
}

//--- checks --------------------------------------------------------------------------------

/// The size in bytes of what the first value points to; 0 where it is no pointer.
static uint64_t bytesAfter(check::ValuesOp op) {
  auto pointer = dyn_cast<tt::PointerType>(tt::elementOf(op.getValues().front().getType()));
  return pointer ? storageBytes(pointer.getPointee()) : 0;
}

/// A CheckSite as runtime/cpu/HostCalls.h declares it.
llvm::Constant *HostCallEmitter::checkSite(check::ValuesOp op) {
  const SmallVector<int32_t> isSigned(op.getValues().size(), !op.getIsUnsigned());
  const std::string text = checkText ? checkText(op) : "{found}";
  llvm::Constant *fields[] = {ir.getInt32(static_cast<uint32_t>(op.getKind())),
                              ir.getInt32(op.getArgument()),
                              ir.getInt32(op.getAxis()),
                              ir.getInt32(op.getHasMask()),
                              ir.getInt32(bytesAfter(op)),
                              ir.getInt32(op.getValues().size()),
                              typesOf(op.getValues(), isSigned),
                              ir.CreateGlobalString(op.getWhat()),
                              ir.CreateGlobalString(text)};
  return constantGlobal(llvm::ConstantStruct::getAnon(fields));
}

/// Emits nothing where the host has no function for checks.
void HostCallEmitter::emitCheck(check::ValuesOp op) {
  llvm::Value *addresses = addressesOf(op, op.getValues()), *ids = programIds();
  llvm::Value *host = hostCall(HostCall::Check);
  llvm::BasicBlock *hosted = context.frame.newBlock("check"), *after = context.frame.newBlock("checked");
  ir.CreateCondBr(ir.CreateIsNotNull(host), hosted, after);
  ir.SetInsertPoint(hosted);
  auto *type = llvm::FunctionType::get(ir.getInt8Ty(), {ir.getPtrTy(), ir.getPtrTy(), ir.getPtrTy()}, false);
  llvm::CallInst *holds = ir.CreateCall(type, host, {checkSite(op), ids, addresses});
  ir.CreateCondBr(ir.CreateIsNotNull(holds), after, context.program.done);
  ir.SetInsertPoint(after);
}

//--- waiting -------------------------------------------------------------------------------

/// Tells the loader of the kernel that its programs may wait; runtime/cpu/HostCalls.h.
static void declareWaits(llvm::Module &module) {
  constexpr llvm::StringLiteral name = "nereid_waits";
  if (module.getNamedGlobal(name))
    return;
  auto *isTrue = llvm::ConstantInt::get(llvm::Type::getInt8Ty(module.getContext()), 1);
  auto *variable = new llvm::GlobalVariable(module, isTrue->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::ExternalLinkage, isTrue, name);
  variable->setVisibility(llvm::GlobalValue::ProtectedVisibility);
}

/// Without a host, the program goes on alone.
void HostCallEmitter::letOthersRun(HostCall call, ArrayRef<llvm::Value *> arguments) {
  llvm::Value *host = hostCall(call);
  llvm::BasicBlock *hosted = context.frame.newBlock("wait"), *resumed = context.frame.newBlock("wait.resumed"),
                   *after = context.frame.newBlock("waited");
  ir.CreateCondBr(ir.CreateIsNotNull(host), hosted, after);
  ir.SetInsertPoint(hosted);
  SmallVector<llvm::Type *> types;
  for (llvm::Value *argument : arguments)
    types.push_back(argument->getType());
  const bool mayEnd = call == HostCall::Wait;
  auto *type = llvm::FunctionType::get(mayEnd ? ir.getInt8Ty() : ir.getVoidTy(), types, false);
  llvm::CallInst *goesOn = ir.CreateCall(type, host, arguments);
  mayEnd ? ir.CreateCondBr(ir.CreateIsNotNull(goesOn), resumed, context.program.done) : ir.CreateBr(resumed);
  ir.SetInsertPoint(resumed);
  if (usesTiles(context.plan)) // other programs of the thread have ended theirs
    emitBeginOfTiles(ir);
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
}

void HostCallEmitter::emitWait(scf::WhileOp loop, llvm::Value *isFirst) {
  declareWaits(context.frame.module());
  llvm::Constant *fields[] = {ir.getInt32(static_cast<uint32_t>(*waitKind(loop))),
                              ir.CreateGlobalString(locationText(loop.getLoc(), /*hasColumn=*/true))};
  letOthersRun(HostCall::Wait, {constantGlobal(llvm::ConstantStruct::getAnon(fields)), isFirst});
}

/// Where programs wait for each other, all of them may have to execute such an operation before one executes the next.
void HostCallEmitter::emitArrival(Operation *atomic) {
  if (mayWait && context.program.loopDepth == 0 && !atomic->use_empty())
    letOthersRun(HostCall::Arrive, {});
}
