// Emits one function: keeps its values and looks up the emitter of each op.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/lowering/Diagnostics.h"

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
    : module(module), numThreads(module.numThreads), target(module.target), source(source), function(function),
      ir(function.getContext()), elements(ir, target, module.options.canFuse), prologue(function.getContext()),
      barriers(analysis::planBarriers(source, module.shared)) {}

TtgFunctionEmitter::TtgFunctionEmitter(const TtgFunctionEmitter &outer, const RegionWarps &warps)
    : module(outer.module), firstThread(warps.first * outer.target.threadsPerWarp()),
      numThreads(warps.count * outer.target.threadsPerWarp()), target(outer.target), source(outer.source),
      function(outer.function), ir(function.getContext()), elements(ir, target, module.options.canFuse),
      baseOffsets(outer.baseOffsets), prologue(function.getContext()), barriers(outer.barriers),
      barrierScope{warps.barrierId, numThreads}, tiles(outer.tiles) {}

llvm::BasicBlock *TtgFunctionEmitter::newBlock(const char *name) {
  return llvm::BasicBlock::Create(ir.getContext(), name, &function);
}

LogicalResult TtgFunctionEmitter::run() {
  module.debug.begin(function, source.getLoc());
  module.debug.setLocation(ir, source.getLoc());
  module.debug.setLocation(prologue, source.getLoc());
  prologue.SetInsertPoint(newBlock("entry"));
  if (source.isPublic() && dispatchesWarps(source))
    beginDispatch(*this, prologue);
  llvm::BasicBlock *body = newBlock("body");
  ir.SetInsertPoint(body);
  unsigned next = 0;
  for (BlockArgument argument : source.getArguments()) {
    Tile parts;
    if (ttg::parameterByValue(source, argument.getArgNumber())) // ops take its address as a number
      parts.push_back(ir.CreateIntToPtr(ir.CreatePtrToInt(function.getArg(next++), ir.getInt64Ty()),
                                        elements.typeOf(argument.getType())));
    else
      for (unsigned part = 0; part < numRegisters(argument.getType()); ++part)
        parts.push_back(elements.fromMemory(function.getArg(next++), tt::elementOf(argument.getType())));
    define(argument, std::move(parts));
  }
  for (Operation &op : source.getBody().front()) {
    if (dispatch && isa<tt::ReturnOp>(op))
      stopWorkers(*this);
    if (failed(emit(op)))
      return failure();
  }
  prologue.CreateBr(body);
  return dispatch ? emitWorkers(*this) : success();
}

void TtgFunctionEmitter::useWarps(unsigned count, unsigned barrierId) {
  numThreads = count * target.threadsPerWarp();
  barrierScope = {barrierId, numThreads};
}

LogicalResult TtgFunctionEmitter::runRegion(Block &block, const RegionWarps &warps, llvm::BasicBlock *entry,
                                            llvm::BasicBlock *end,
                                            llvm::function_ref<void(TtgFunctionEmitter &)> prepare) {
  TtgFunctionEmitter region(*this, warps);
  module.debug.setLocation(region.ir, block.getParentOp()->getLoc());
  module.debug.setLocation(region.prologue, block.getParentOp()->getLoc());
  region.prologue.SetInsertPoint(entry);
  if (warps.registers && !target.setRegisters(region.prologue, warps.registers, warps.gainsRegisters))
    return tt::report(block.getParentOp()->getLoc(), diag::OpUnsupported, "warp_specialize", " with `actualRegisters`");
  llvm::BasicBlock *body = newBlock("region.body");
  region.ir.SetInsertPoint(body);
  if (prepare)
    prepare(region);
  if (failed(region.emitBlock(block)))
    return failure();
  region.ir.CreateBr(end);
  region.prologue.CreateBr(body);
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
  return module.emitters.of(&op)(*this, &op);
}

FailureOr<Tile> TtgFunctionEmitter::emitRegion(Block &block, ArrayRef<llvm::Value *> arguments) {
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    define(argument, {value});
  if (failed(emitBlock(block)))
    return failure();
  Tile results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(scalar(value));
  return results;
}

void TtgFunctionEmitter::runWhere(llvm::Value *condition, llvm::function_ref<void()> emit) {
  if (!condition)
    return emit();
  llvm::BasicBlock *inside = newBlock("where"), *after = newBlock("where.end");
  ir.CreateCondBr(condition, inside, after);
  ir.SetInsertPoint(inside);
  emit();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
}
