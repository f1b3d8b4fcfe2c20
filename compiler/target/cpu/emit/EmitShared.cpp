// Keeps operands of dots for following programs: in each iteration of their loop, makes the tile only where the one
// that an earlier program has made there has another key. SPDX-License-Identifier: MIT
//
// A loop may have more iterations than there are tiles: the last tile then serves all that follow. It also serves all
// iterations once several programs in succession found nothing kept: spread over many tiles, copies take longer.
#include "compiler/target/cpu/emit/KernelEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// So many programs in succession may find nothing kept.
static constexpr int64_t mostMisses = 2;

static constexpr int64_t wordBytes = 8;

/// Before the first program of a call: nothing is kept. A call of one program keeps nothing.
void KernelEmitter::beginSharing(llvm::Value *isOneProgram) {
  for (const SharedOperand &operand : plan.sharedOperands) {
    SharedState &state = shared.emplace_back();
    state.tiles = current[operand.tiles];
    state.misses = local(ir.getInt64Ty(), "misses");
    ir.CreateStore(ir.CreateSelect(isOneProgram, ir.getInt64(mostMisses + 1), ir.getInt64(0)), state.misses);
    const int64_t words = plan.buffers[operand.keys].shape.back();
    emitCounted(ir, plan.buffers[operand.tiles].tiles, 1, [&](llvm::Value *tile) {
      llvm::Value *key = ir.CreateMul(tile, ir.getInt64(words * wordBytes));
      ir.CreateStore(ir.getInt64(0), ir.CreatePtrAdd(current[operand.keys], key));
    });
  }
}

/// Chooses the tiles of an iteration of the loop.
void KernelEmitter::beginIteration(scf::ForOp loop, llvm::Value *iteration) {
  for (auto [operand, state] : llvm::zip_equal(plan.sharedOperands, shared)) {
    if (operand.loop != loop)
      continue;
    const Buffer &tiles = plan.buffers[operand.tiles];
    llvm::Value *last = ir.getInt64(tiles.tiles - 1);
    llvm::Value *isKept = ir.CreateICmpULE(ir.CreateLoad(ir.getInt64Ty(), state.misses), ir.getInt64(mostMisses));
    state.isFirst = ir.CreateICmpEQ(iteration, ir.getInt64(0));
    state.tile = ir.CreateSelect(isKept, ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, iteration, last), last);
    state.next = nullptr;
    current[operand.tiles] = ir.CreatePtrAdd(state.tiles, ir.CreateMul(state.tile, ir.getInt64(tiles.bytes)));
  }
}

void KernelEmitter::endIteration(scf::ForOp loop) {
  for (auto [operand, state] : llvm::zip_equal(plan.sharedOperands, shared))
    if (operand.loop == loop)
      current[operand.tiles] = state.tiles;
}

/// The bits of a scalar as a word.
static llvm::Value *wordOf(llvm::IRBuilder<> &ir, llvm::Value *scalar) {
  if (scalar->getType()->isPointerTy())
    return ir.CreatePtrToInt(scalar, ir.getInt64Ty());
  if (!scalar->getType()->isIntegerTy())
    scalar = ir.CreateBitCast(scalar, ir.getIntNTy(scalar->getType()->getScalarSizeInBits()));
  return ir.CreateZExt(scalar, ir.getInt64Ty());
}

/// Emits the nest under the condition that its tile is not kept.
LogicalResult KernelEmitter::emitShared(Nest &nest) {
  const SharedOperand &operand = plan.sharedOperands[*nest.shared];
  SharedState &state = shared[*nest.shared];
  setLocation(nest.roots.front().op->getLoc());
  const int64_t words = plan.buffers[operand.keys].shape.back();
  llvm::Value *key = ir.CreateMul(state.tile, ir.getInt64(words * wordBytes));
  key = ir.CreatePtrAdd(current[operand.keys], key);
  auto word = [&](unsigned index) { return ir.CreateConstGEP1_64(ir.getInt64Ty(), key, index); };
  SmallVector<llvm::Value *> scalars{ir.getInt64(1)};
  for (Value value : operand.scalars)
    scalars.push_back(wordOf(ir, scalar(value)));
  llvm::Value *isKept = ir.getTrue();
  for (auto [index, value] : llvm::enumerate(scalars))
    isKept = ir.CreateAnd(isKept, ir.CreateICmpEQ(ir.CreateLoad(ir.getInt64Ty(), word(index)), value));
  llvm::Value *misses = ir.CreateLoad(ir.getInt64Ty(), state.misses);
  llvm::Value *missesNow = ir.CreateSelect(isKept, ir.getInt64(0), ir.CreateAdd(misses, ir.getInt64(1)));
  ir.CreateStore(ir.CreateSelect(state.isFirst, missesNow, misses), state.misses);
  state.isKept = isKept;
  const Buffer &tiles = plan.buffers[operand.tiles];
  llvm::Value *isLast = ir.CreateICmpEQ(state.tile, ir.getInt64(tiles.tiles - 1));
  llvm::Value *distance = ir.CreateSelect(isLast, ir.getInt64(0), ir.getInt64(tiles.bytes));
  state.next = ir.CreatePtrAdd(current[operand.tiles], distance);

  llvm::BasicBlock *missing = newBlock("operand"), *after = newBlock("operand.end");
  ir.CreateCondBr(isKept, after, missing);
  ir.SetInsertPoint(missing);
  for (auto [index, value] : llvm::enumerate(scalars))
    ir.CreateStore(value, word(index));
  if (failed(emitExactOrNot(nest, anyWraps(nest))))
    return failure();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  return success();
}

const SharedState *KernelEmitter::sharedTiles(BufferId tiles) const {
  for (auto [operand, state] : llvm::zip_equal(plan.sharedOperands, shared))
    if (operand.tiles == tiles)
      return &state;
  return nullptr;
}

const SharedState *KernelEmitter::sharedTilesOf(Operation *load) const {
  for (auto [operand, state] : llvm::zip_equal(plan.sharedOperands, shared))
    if (llvm::is_contained(operand.loads, load))
      return &state;
  return nullptr;
}
