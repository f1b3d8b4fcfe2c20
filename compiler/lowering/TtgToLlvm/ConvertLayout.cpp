// Executes plans that move a tile's elements between threads: register renames, shuffles, a buffer in shared memory.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/dialect/ttg/TargetInterface.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

llvm::Value *TtgFunctionEmitter::wordwise(llvm::Value *value, llvm::function_ref<llvm::Value *(llvm::Value *)> move) {
  llvm::Type *type = value->getType();
  const unsigned bits = type->isPointerTy() ? 64 : type->getPrimitiveSizeInBits();
  llvm::Type *integer = ir.getIntNTy(bits);
  llvm::Value *whole = type->isPointerTy() ? ir.CreatePtrToInt(value, integer) : ir.CreateBitCast(value, integer);
  llvm::Value *moved;
  if (bits <= 32) {
    moved = ir.CreateTrunc(move(ir.CreateZExt(whole, ir.getInt32Ty())), integer);
  } else {
    llvm::Value *halves = ir.CreateBitCast(whole, llvm::FixedVectorType::get(ir.getInt32Ty(), 2));
    for (uint64_t half : {0, 1})
      halves = ir.CreateInsertElement(halves, move(ir.CreateExtractElement(halves, half)), half);
    moved = ir.CreateBitCast(halves, integer);
  }
  return type->isPointerTy() ? ir.CreateIntToPtr(moved, type) : ir.CreateBitCast(moved, type);
}

static void selectWords(TtgFunctionEmitter &emitter, ArrayRef<layout::SelectStage> stages, Tile &words) {
  for (const layout::SelectStage &stage : stages) {
    llvm::Value *changes = emitter.threadIsOdd(stage.laneMask, stage.warpMask);
    const Tile before = words;
    for (unsigned index = 0; index < words.size(); ++index)
      words[index] = emitter.ir.CreateSelect(changes, before[index ^ stage.xorIndex], before[index]);
  }
}

static Tile shuffleTile(TtgFunctionEmitter &emitter, const layout::ShufflePlan &plan, ArrayRef<llvm::Value *> registers,
                        Type element) {
  IrBuilder &ir = emitter.ir;
  Tile words;
  for (ArrayRef<uint32_t> sources : plan.words) {
    Tile parts;
    for (uint32_t index : sources)
      parts.push_back(registers[index]);
    words.push_back(emitter.pack(parts).front());
  }
  selectWords(emitter, plan.before, words);
  const bool isButterfly = plan.isButterfly();
  llvm::Value *lane = isButterfly ? nullptr : emitter.threadBits(plan.laneBases, plan.warpBases);
  Tile received;
  for (const layout::ShuffleRound &round : plan.rounds) {
    llvm::Value *word = words[round.word];
    if (round.moves)
      word = emitter.wordwise(word, [&](llvm::Value *part) {
        if (isButterfly)
          return emitter.target.shuffleXor(ir, part, round.laneXor);
        return emitter.target.shuffleIndex(ir, part, ir.CreateXor(lane, ir.getInt32(round.laneXor)));
      });
    received.push_back(word);
  }
  selectWords(emitter, plan.after, received);
  SmallVector<Tile> subwords;
  for (llvm::Value *word : received)
    subwords.push_back(emitter.unpack({word}, element, plan.words.front().size()));
  Tile result;
  for (const layout::ShuffleResult &from : plan.results)
    result.push_back(subwords[from.round][from.subword]);
  return result;
}

/// Warps that exchange nothing with others wait for their own lanes alone, also for those that still read what the op
/// stored when it ran before.
Tile lowering::passThroughShared(TtgFunctionEmitter &emitter, Operation *op, const layout::SharedPlan &plan,
                                 ArrayRef<llvm::Value *> registers) {
  auto to = cast<RankedTensorType>(op->getResult(0).getType());
  auto sync = [&] { plan.isWithinWarps ? emitter.target.syncWarp(emitter.ir) : emitter.barrier(); };
  llvm::Value *buffer = emitter.sharedScratch(op);
  Tile loaded(numRegisters(to), nullptr), result;
  for (unsigned repetition = 0; repetition < plan.repetitions; ++repetition) {
    if (repetition > 0 || plan.isWithinWarps)
      sync();
    emitter.storeShared(buffer, plan.store, repetition, registers);
    sync();
    emitter.loadShared(buffer, plan.load, repetition, to.getElementType(), loaded);
  }
  for (uint32_t index : plan.loadedAs)
    result.push_back(loaded[index]);
  return result;
}

static LogicalResult emitConvertLayout(TtgFunctionEmitter &emitter, ttg::ConvertLayoutOp op) {
  auto to = cast<RankedTensorType>(op.getType());
  const Type element = to.getElementType();
  const layout::ConversionPlan plan = ttg::planConversion(op);
  const Tile registers = emitter.tile(op.getSrc());
  Tile result;
  switch (plan.kind) {
  case layout::ConversionKind::None:
  case layout::ConversionKind::Registers:
    for (uint32_t index : plan.sourceRegister)
      result.push_back(registers[index]);
    break;
  case layout::ConversionKind::Shuffle:
    result = shuffleTile(emitter, plan.shuffle, registers, element);
    break;
  case layout::ConversionKind::Shared:
    result = passThroughShared(emitter, op, plan.shared, registers);
    break;
  }
  emitter.define(op, std::move(result));
  return success();
}

void lowering::addConvertLayoutEmitters(OpEmitters &table) { table.add<emitConvertLayout, ttg::ConvertLayoutOp>(); }
