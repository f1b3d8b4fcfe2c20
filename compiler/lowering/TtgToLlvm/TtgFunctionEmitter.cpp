// Emits one function: keeps its values and dispatches each op to its method.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/ttng/HostTensorMaps.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

BaseOffset BaseOffsetTable::of(llvm::Value *value) const {
  if (auto found = baseOffsets.find(value); found != baseOffsets.end())
    return found->second;
  if (auto *constant = dyn_cast<llvm::ConstantInt>(value); constant && constant->getBitWidth() <= 64)
    return {nullptr, constant->getSExtValue(), true};
  return {value, 0, true};
}

TtgFunctionEmitter::TtgFunctionEmitter(TtgModuleEmitter &module, tt::FuncOp source, llvm::Function &function)
    : module(module), target(module.target), source(source), function(function), ir(function.getContext()),
      prologue(function.getContext()), elements(ir, target, module.options.canFuse),
      barriers(analysis::planBarriers(source, module.shared)) {}

llvm::BasicBlock *TtgFunctionEmitter::newBlock(const char *name) {
  return llvm::BasicBlock::Create(ir.getContext(), name, &function);
}

LogicalResult TtgFunctionEmitter::run() {
  module.debug.begin(function, source.getLoc());
  module.debug.setLocation(ir, source.getLoc());
  module.debug.setLocation(prologue, source.getLoc());
  prologue.SetInsertPoint(newBlock("entry"));
  llvm::BasicBlock *body = newBlock("body");
  ir.SetInsertPoint(body);
  unsigned next = 0;
  for (BlockArgument argument : source.getArguments()) {
    Tile parts;
    if (source.getArgAttr(argument.getArgNumber(), ttng::kTensorMap)) // TMA takes the address as a number
      parts.push_back(ir.CreateIntToPtr(ir.CreatePtrToInt(function.getArg(next++), ir.getInt64Ty()),
                                        elements.typeOf(argument.getType())));
    else
      for (unsigned part = 0; part < numRegisters(argument.getType()); ++part)
        parts.push_back(elements.fromMemory(function.getArg(next++), tt::elementOf(argument.getType())));
    define(argument, std::move(parts));
  }
  for (Operation &op : source.getBody().front())
    if (failed(emit(op)))
      return failure();
  prologue.CreateBr(body);
  return success();
}

const Tile &TtgFunctionEmitter::tile(Value value) const {
  auto found = tiles.find(value);
  assert(found != tiles.end() && "a value is emitted before its uses");
  return found->second;
}

llvm::Value *TtgFunctionEmitter::materialise(const BaseOffset &baseOffset, llvm::Type *type) {
  if (!baseOffset.base)
    return llvm::ConstantInt::getSigned(type, baseOffset.offset);
  if (baseOffset.offset == 0)
    return baseOffset.base;
  llvm::Value *value;
  if (type->isPointerTy())
    value = ir.CreatePtrAdd(baseOffset.base, ir.getInt64(baseOffset.offset));
  else
    value = ir.CreateAdd(baseOffset.base, llvm::ConstantInt::getSigned(type, baseOffset.offset), "", /*HasNUW=*/false,
                         baseOffset.isExact);
  baseOffsets.set(value, baseOffset);
  return value;
}

LogicalResult TtgFunctionEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emit(op)))
      return failure();
  return success();
}

LogicalResult TtgFunctionEmitter::emit(Operation &op) {
  module.debug.setLocation(ir, op.getLoc());
  if (barriers.needsBarrierBefore.contains(&op))
    barrier();
  basesOfOp.clear();
  return emitOp(&op);
}

LogicalResult TtgFunctionEmitter::emitOp(Operation *op) {
  if (op->getName().getStringRef() == "llvm.intr.assume") {
    ir.CreateAssumption(tile(op->getOperand(0)).front());
    return success();
  }
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<arith::ConstantOp>([&](auto typed) { return emitConstant(typed); })
      .Case<tt::MakeRangeOp>([&](auto typed) { return emitMakeRange(typed); })
      .Case<tt::SplatOp>([&](auto typed) { return emitSplat(typed); })
      .Case<tt::AddPtrOp>([&](auto typed) { return emitAddPtr(typed); })
      .Case<tt::LoadOp>([&](auto typed) { return emitLoad(typed); })
      .Case<tt::StoreOp>([&](auto typed) { return emitStore(typed); })
      .Case<tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicLoadOp, tt::AtomicStoreOp>(
          [&](auto typed) { return emitAtomic(typed); })
      .Case<tt::ElementwiseInlineAsmOp>([&](auto typed) { return emitInlineAsm(typed); })
      .Case<tt::ReduceOp>([&](auto typed) { return emitReduce(typed); })
      .Case<tt::ScanOp>([&](auto typed) { return emitScan(typed); })
      .Case<tt::MapElementwiseOp>([&](auto typed) { return emitMap(typed); })
      .Case<tt::GatherOp>([&](auto typed) { return emitGather(typed); })
      .Case<tt::HistogramOp>([&](auto typed) { return emitHistogram(typed); })
      .Case<tt::JoinOp, tt::CatOp>([&](auto typed) { return emitJoin(typed); })
      .Case<tt::SplitOp>([&](auto typed) { return emitSplit(typed); })
      .Case<tt::DotOp>([&](auto typed) { return emitDot(typed); })
      .Case<ttng::WarpGroupDotOp>([&](auto typed) { return emitWarpGroupDot(typed); })
      .Case<ttng::WarpGroupDotWaitOp>([&](auto typed) { return emitWarpGroupDotWait(typed); })
      .Case<ttng::FenceAsyncSharedOp>([&](auto) {
        target.fenceAsyncShared(ir);
        return success();
      })
      .Case<ttng::MakeTensorMapOp>([&](auto typed) { return emitMakeTensorMap(typed); })
      .Case<ttng::InitBarrierOp, ttng::InvalBarrierOp, ttng::BarrierExpectOp, ttng::WaitBarrierOp>(
          [&](auto typed) { return emitBarriers(typed); })
      .Case<ttng::AsyncTmaCopyGlobalToLocalOp, ttng::AsyncTmaCopyLocalToGlobalOp, ttng::AsyncTmaStoreWaitOp>(
          [&](auto typed) { return emitTmaCopy(typed); })
      .Case<tt::CallOp>([&](auto typed) { return emitCall(typed); })
      .Case<tt::ReturnOp>([&](auto typed) { return emitReturn(typed); })
      .Case<ttg::ConvertLayoutOp>([&](auto typed) { return emitConvertLayout(typed); })
      .Case<ttg::LocalAllocOp>([&](auto typed) { return emitLocalAlloc(typed); })
      .Case<ttg::LocalLoadOp>([&](auto typed) { return emitLocalLoad(typed); })
      .Case<ttg::LocalStoreOp>([&](auto typed) { return emitLocalStore(typed); })
      .Case<ttg::MemDescTransOp>([&](auto typed) {
        define(typed, {scalar(typed.getSrc())});
        return success();
      })
      .Case<ttg::MemDescIndexOp>([&](auto typed) { return emitMemDescIndex(typed); })
      .Case<ttg::AsyncCopyGlobalToLocalOp>([&](auto typed) { return emitAsyncCopy(typed); })
      .Case<ttg::AsyncCommitGroupOp>([&](auto typed) {
        target.commitCopies(ir);
        define(typed, {});
        return success();
      })
      .Case<ttg::AsyncWaitOp>([&](auto typed) {
        target.waitForCopies(ir, typed.getNum());
        define(typed, {});
        return success();
      })
      .Case<scf::ForOp>([&](auto typed) { return emitFor(typed); })
      .Case<scf::WhileOp>([&](auto typed) { return emitWhile(typed); })
      .Case<scf::IfOp>([&](auto typed) { return emitIf(typed); })
      .Case<scf::IndexSwitchOp>([&](auto typed) { return emitSwitch(typed); })
      .Case<tt::UnsplatOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::ReshapeOp, tt::TransOp>(
          [&](auto typed) { return emitReordered(typed); })
      .Case<tt::GetProgramIdOp>([&](auto typed) {
        define(typed, {target.programId(ir, static_cast<unsigned>(typed.getAxis()))});
        return success();
      })
      .Case<tt::GetNumProgramsOp>([&](auto typed) {
        define(typed, {target.numPrograms(ir, static_cast<unsigned>(typed.getAxis()))});
        return success();
      })
      .Case<ub::PoisonOp>([&](auto typed) {
        llvm::Constant *value = elements.constant({}, tt::elementOf(typed.getType()));
        define(typed, Tile(numRegisters(typed.getType()), value));
        return success();
      })
      .Case<ttg::BarrierOp, imported::BarrierOp>([&](auto) {
        barrier();
        return success();
      })
      .Case<tt::PrintOp>([&](auto typed) { return emitPrint(typed); })
      .Case<tt::AssertOp>([&](auto typed) { return emitAssert(typed); })
      .Case<imported::AssumeOp>([&](auto typed) {
        ir.CreateAssumption(scalar(typed.getCondition()));
        return success();
      })
      .Case<ttg::LocalDeallocOp>([](auto) { return success(); })
      .Default([&](Operation *other) { return emitElementwise(other); });
}
