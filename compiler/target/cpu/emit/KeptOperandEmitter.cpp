// Keeps copies of operands of dots: an iteration of their loop makes its tile only where the one that is there, mostly
// from an earlier program, has another key. Which tile that is, library/KeptTiles.c decides.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/KeptOperandEmitter.h"

#include "compiler/target/cpu/emit/CLibrary.h"
#include "compiler/target/cpu/emit/ControlFlow.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Words of a `struct Kept` in library/KeptTiles.c.
enum : unsigned { kSetsWord = 1, kIsOffWord = 7 };

void KeptOperandEmitter::begin(llvm::Value *isOneProgram) {
  if (context.plan.keptOperands.empty())
    return;
  llvm::Type *word = ir.getInt64Ty();
  llvm::Value *arena = context.frame.arena();
  llvm::Value *isLeft = ir.CreateICmpNE(ir.CreateLoad(word, arena), ir.getInt64(0));
  ir.CreateStore(ir.getInt64(0), arena); // until the call ends: a failing program leaves the rest midway
  for (auto [index, operand] : llvm::enumerate(context.plan.keptOperands)) {
    KeptTiles &state = keptTiles.emplace_back();
    state.first = context.buffers.at(operand.tiles);
    state.state = ir.CreateConstGEP1_64(word, arena, 1 + index * KeptOperand::stateWords);
    state.key = context.frame.local(llvm::ArrayType::get(word, operand.wordsOfKey()), "key");
  }
  emitConditional(ir, ir.CreateNot(isLeft), [&] {
    for (const KeptTiles &state : keptTiles) {
      auto store = [&](unsigned index, llvm::Value *value) {
        ir.CreateStore(value, ir.CreateConstGEP1_64(word, state.state, index));
      };
      store(kSetsWord, ir.getInt64(0));
      store(kIsOffWord, ir.CreateZExt(isOneProgram, word));
    }
  });
}

void KeptOperandEmitter::end() {
  if (!context.plan.keptOperands.empty())
    ir.CreateStore(ir.getInt64(1), context.frame.arena());
}

void KeptOperandEmitter::beginIteration(scf::ForOp loop, llvm::Value *iteration) {
  for (auto [operand, state] : llvm::zip_equal(context.plan.keptOperands, keptTiles))
    if (operand.loop == loop)
      state.iteration = iteration;
}

void KeptOperandEmitter::endIteration(scf::ForOp loop) {
  for (auto [operand, state] : llvm::zip_equal(context.plan.keptOperands, keptTiles)) {
    if (operand.loop != loop)
      continue;
    context.buffers.moveTo(operand.tiles, state.first);
    state.iteration = state.isKept = state.isOwn = state.next = nullptr;
  }
}

/// Stores what the iteration's tile depends on.
void KeptOperandEmitter::storeKey(const KeptOperand &operand, const KeptTiles &state) {
  auto store = [&](unsigned index, llvm::Value *word) {
    ir.CreateStore(word, ir.CreateConstGEP1_64(ir.getInt64Ty(), state.key, index));
  };
  store(0, ir.getInt64(1));
  for (auto [index, value] : llvm::enumerate(operand.scalars))
    store(1 + index, ir.CreateZExt(context.lanes.bitsOf(context.scalars.of(value)), ir.getInt64Ty()));
}

llvm::Value *KeptOperandEmitter::callTile(ArrayRef<llvm::Value *> arguments) {
  llvm::Type *word = ir.getInt64Ty(), *pointer = ir.getPtrTy();
  auto *type = llvm::FunctionType::get(word, {pointer, pointer, word, word, pointer, word}, false);
  return ir.CreateCall(context.frame.module().getOrInsertFunction(kKeptTileFunction, type), arguments);
}

LogicalResult KeptOperandEmitter::emitUnlessKept(const Nest &nest, llvm::function_ref<LogicalResult()> makeTile) {
  const KeptOperand &operand = context.plan.keptOperands[*nest.keptOperand];
  KeptTiles &state = keptTiles[*nest.keptOperand];
  context.frame.setLocation(nest.roots.front().op->getLoc());
  storeKey(operand, state);
  const Buffer &tiles = context.plan.buffers[operand.tiles];
  llvm::Value *choice = callTile({state.state, context.buffers.at(operand.keys), ir.getInt64(operand.wordsOfKey()),
                                  ir.getInt64(tiles.tiles), state.key, state.iteration});
  state.isKept = ir.CreateTrunc(choice, ir.getInt1Ty());
  llvm::Value *tile = ir.CreateLShr(choice, 1);
  llvm::Value *address = ir.CreatePtrAdd(state.first, ir.CreateMul(tile, ir.getInt64(tiles.bytes)));
  context.buffers.moveTo(operand.tiles, address);
  llvm::Value *isLast = ir.CreateICmpEQ(tile, ir.getInt64(tiles.tiles - 1));
  state.isOwn = ir.CreateNot(isLast);
  state.next = ir.CreatePtrAdd(address, ir.CreateSelect(isLast, ir.getInt64(0), ir.getInt64(tiles.bytes)));
  LogicalResult result = success();
  emitConditional(ir, ir.CreateNot(state.isKept), [&] { result = makeTile(); });
  return result;
}

const KeptTiles *KeptOperandEmitter::tilesIn(BufferId buffer) const {
  for (auto [operand, state] : llvm::zip_equal(context.plan.keptOperands, keptTiles))
    if (operand.tiles == buffer)
      return &state;
  return nullptr;
}

const KeptTiles *KeptOperandEmitter::tilesOf(Operation *load, Operation *dot) const {
  for (auto [operand, state] : llvm::zip_equal(context.plan.keptOperands, keptTiles))
    if (state.isKept && operand.loop == dot->getParentOp() && llvm::is_contained(operand.loads, load))
      return &state;
  return nullptr;
}
