// Keeps copies of operands of dots: an iteration of their loop makes its tile only where the one that is there, mostly
// from an earlier program, has another key.
// SPDX-License-Identifier: MIT
//
// A loop may have more iterations than there are tiles: the last tile then serves all that follow. It also serves all
// iterations once several programs in succession found nothing kept: spread over many tiles, copies take longer.
#include "compiler/target/cpu/emit/ControlFlow.h"
#include "compiler/target/cpu/emit/KernelEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// So many programs in succession may find nothing kept.
static constexpr int64_t mostMisses = 2;

/// The address of a tile's key.
llvm::Value *KernelEmitter::keyOf(const KeptOperand &operand, llvm::Value *tile) {
  constexpr int64_t wordBytes = 8;
  return ir.CreatePtrAdd(current[operand.keys], ir.CreateMul(tile, ir.getInt64(operand.wordsOfKey() * wordBytes)));
}

/// Before the first program of a call: nothing is kept. A call of one program keeps nothing.
void KernelEmitter::beginKeeping(llvm::Value *isOneProgram) {
  for (const KeptOperand &operand : plan.keptOperands) {
    KeptTiles &state = keptTiles.emplace_back();
    state.first = current[operand.tiles];
    state.misses = local(ir.getInt64Ty(), "misses");
    ir.CreateStore(ir.CreateSelect(isOneProgram, ir.getInt64(mostMisses + 1), ir.getInt64(0)), state.misses);
    emitCounted(ir, plan.buffers[operand.tiles].tiles, 1,
                [&](llvm::Value *tile) { ir.CreateStore(ir.getInt64(0), keyOf(operand, tile)); });
  }
}

/// Chooses the tiles of an iteration of the loop.
void KernelEmitter::beginIteration(scf::ForOp loop, llvm::Value *iteration) {
  for (auto [operand, state] : llvm::zip_equal(plan.keptOperands, keptTiles)) {
    if (operand.loop != loop)
      continue;
    const Buffer &tiles = plan.buffers[operand.tiles];
    llvm::Value *last = ir.getInt64(tiles.tiles - 1);
    llvm::Value *isWorthwhile = ir.CreateICmpULE(ir.CreateLoad(ir.getInt64Ty(), state.misses), ir.getInt64(mostMisses));
    llvm::Value *own = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, iteration, last);
    state.isFirstIteration = ir.CreateICmpEQ(iteration, ir.getInt64(0));
    state.tile = ir.CreateSelect(isWorthwhile, own, last);
    current[operand.tiles] = ir.CreatePtrAdd(state.first, ir.CreateMul(state.tile, ir.getInt64(tiles.bytes)));
  }
}

void KernelEmitter::endIteration(scf::ForOp loop) {
  for (auto [operand, state] : llvm::zip_equal(plan.keptOperands, keptTiles)) {
    if (operand.loop != loop)
      continue;
    current[operand.tiles] = state.first;
    state.isKept = state.next = nullptr;
  }
}

/// Emits the nest under the condition that its tile is not kept.
LogicalResult KernelEmitter::emitUnlessKept(Nest &nest) {
  const KeptOperand &operand = plan.keptOperands[*nest.kept];
  KeptTiles &state = keptTiles[*nest.kept];
  setLocation(nest.roots.front().op->getLoc());
  llvm::Value *key = keyOf(operand, state.tile);
  auto word = [&](unsigned index) { return ir.CreateConstGEP1_64(ir.getInt64Ty(), key, index); };
  SmallVector<llvm::Value *> scalars{ir.getInt64(1)};
  for (Value value : operand.scalars)
    scalars.push_back(ir.CreateZExt(lanes.bitsOf(scalar(value)), ir.getInt64Ty()));
  llvm::Value *isKept = ir.getTrue();
  for (auto [index, value] : llvm::enumerate(scalars))
    isKept = ir.CreateAnd(isKept, ir.CreateICmpEQ(ir.CreateLoad(ir.getInt64Ty(), word(index)), value));
  llvm::Value *misses = ir.CreateLoad(ir.getInt64Ty(), state.misses);
  llvm::Value *missesNow = ir.CreateSelect(isKept, ir.getInt64(0), ir.CreateAdd(misses, ir.getInt64(1)));
  ir.CreateStore(ir.CreateSelect(state.isFirstIteration, missesNow, misses), state.misses);
  const Buffer &tiles = plan.buffers[operand.tiles];
  llvm::Value *isLast = ir.CreateICmpEQ(state.tile, ir.getInt64(tiles.tiles - 1));
  llvm::Value *distance = ir.CreateSelect(isLast, ir.getInt64(0), ir.getInt64(tiles.bytes));
  state.isKept = isKept;
  state.next = ir.CreatePtrAdd(current[operand.tiles], distance);

  LogicalResult result = success();
  emitConditional(ir, ir.CreateNot(isKept), [&] {
    for (auto [index, value] : llvm::enumerate(scalars))
      ir.CreateStore(value, word(index));
    result = emitExactOrNot(nest, anyWraps(nest));
  });
  return result;
}

const KeptTiles *KernelEmitter::keptIn(BufferId tiles) const {
  for (auto [operand, state] : llvm::zip_equal(plan.keptOperands, keptTiles))
    if (operand.tiles == tiles)
      return &state;
  return nullptr;
}

const KeptTiles *KernelEmitter::keptOf(Operation *load, Operation *dot) const {
  for (auto [operand, state] : llvm::zip_equal(plan.keptOperands, keptTiles))
    if (state.isKept && operand.loop == dot->getParentOp() && llvm::is_contained(operand.loads, load))
      return &state;
  return nullptr;
}
