// Keeps copies of operands of dots: an iteration of their loop makes its tile only where the one that is there, mostly
// from an earlier program, has another key.
// SPDX-License-Identifier: MIT
//
// The tiles of a program, one for each iteration of its loop, are a set. Programs that follow each other may multiply
// the same tiles, as those of a column of a matrix do: one set is enough, and is made anew for the next column. Or they
// may come back to tiles after a few programs, as those of rows in a group do: the programs find nothing, one after
// another, and each makes a set of its own, as long as there is room. The rules in chooseSet() tell these cases apart.
//
// Where several programs more than there is room for found nothing, they all use the last tile, since copies that are
// spread over many tiles take longer. It also serves iterations that have no tile of their own.
#include "compiler/target/cpu/emit/ControlFlow.h"
#include "compiler/target/cpu/emit/KernelEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

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
    auto number = [&](const char *name, llvm::Value *value) {
      llvm::AllocaInst *address = local(value->getType(), name);
      ir.CreateStore(value, address);
      return address;
    };
    state.tilesOfSet = number("tiles", ir.getInt64(0));
    state.sets = number("sets", ir.getInt64(1));
    state.set = number("set", ir.getInt64(0));
    state.misses = number("misses", ir.getInt64(0));
    state.wasFound = number("found", ir.getFalse());
    state.isOff = number("off", isOneProgram);
    ir.CreateStore(ir.getInt64(0), keyOf(operand, ir.getInt64(plan.buffers[operand.tiles].tiles - 1)));
  }
}

void KernelEmitter::beginIteration(scf::ForOp loop, llvm::Value *iteration) {
  for (auto [operand, state] : llvm::zip_equal(plan.keptOperands, keptTiles))
    if (operand.loop == loop)
      state.iteration = iteration;
}

void KernelEmitter::endIteration(scf::ForOp loop) {
  for (auto [operand, state] : llvm::zip_equal(plan.keptOperands, keptTiles)) {
    if (operand.loop != loop)
      continue;
    current[operand.tiles] = state.first;
    state.iteration = state.isKept = state.isOwn = state.next = nullptr;
  }
}

/// Whether the tile is there and has the key.
llvm::Value *KernelEmitter::hasKey(const KeptOperand &operand, llvm::Value *tile, ArrayRef<llvm::Value *> key) {
  llvm::Value *address = keyOf(operand, tile), *isEqual = ir.getTrue();
  for (auto [index, value] : llvm::enumerate(key)) {
    llvm::Value *word = ir.CreateConstGEP1_64(ir.getInt64Ty(), address, index);
    isEqual = ir.CreateAnd(isEqual, ir.CreateICmpEQ(ir.CreateLoad(ir.getInt64Ty(), word), value));
  }
  return isEqual;
}

/// In the first iteration of a program, with the key of its tile: the set that has it, or else one to make. That is the
/// set of the program before, if that was found again: its programs are over. If it was not, it may still be: the next
/// set is taken.
void KernelEmitter::chooseSet(const KeptOperand &operand, KeptTiles &state, ArrayRef<llvm::Value *> key) {
  auto get = [&](llvm::Value *address) { return ir.CreateLoad(ir.getInt64Ty(), address); };
  const int64_t tiles = plan.buffers[operand.tiles].tiles;
  llvm::Value *tilesOfSet = get(state.tilesOfSet), *sets = get(state.sets), *before = get(state.set);
  ir.CreateStore(sets, state.set);
  emitCounted(ir, KeptOperand::mostSets, sets, 1, [&](llvm::Value *set) {
    llvm::Value *isThis = hasKey(operand, ir.CreateMul(set, tilesOfSet), key);
    ir.CreateStore(ir.CreateSelect(isThis, set, get(state.set)), state.set);
  });
  llvm::Value *isFound = ir.CreateICmpNE(get(state.set), sets);
  llvm::Value *wasFound = ir.CreateLoad(ir.getInt1Ty(), state.wasFound);
  ir.CreateStore(isFound, state.wasFound);
  ir.CreateStore(ir.CreateSelect(isFound, ir.getInt64(0), ir.CreateAdd(get(state.misses), ir.getInt64(1))),
                 state.misses);
  emitConditional(ir, ir.CreateNot(isFound), [&] {
    llvm::Value *most = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, ir.CreateUDiv(ir.getInt64(tiles), tilesOfSet),
                                                 ir.getInt64(KeptOperand::mostSets));
    ir.CreateStore(ir.CreateICmpUGT(get(state.misses), ir.CreateAdd(most, ir.getInt64(1))), state.isOff);
    llvm::Value *after = ir.CreateAdd(before, ir.getInt64(1));
    after = ir.CreateSelect(ir.CreateICmpEQ(after, most), ir.getInt64(0), after);
    llvm::Value *set = ir.CreateSelect(wasFound, before, after);
    ir.CreateStore(set, state.set);
    emitConditional(ir, ir.CreateICmpEQ(set, sets), [&] {
      ir.CreateStore(ir.CreateAdd(sets, ir.getInt64(1)), state.sets);
      llvm::Value *first = ir.CreateMul(set, tilesOfSet);
      emitCounted(ir, tiles, tilesOfSet, 1, [&](llvm::Value *index) {
        ir.CreateStore(ir.getInt64(0), keyOf(operand, ir.CreateAdd(first, index)));
      });
    });
  });
}

/// The index of the tile of this iteration.
llvm::Value *KernelEmitter::chooseTile(const KeptOperand &operand, KeptTiles &state, ArrayRef<llvm::Value *> key) {
  auto get = [&](llvm::Value *address) { return ir.CreateLoad(ir.getInt64Ty(), address); };
  const int64_t tiles = plan.buffers[operand.tiles].tiles;
  llvm::Value *last = ir.getInt64(tiles - 1);
  llvm::Value *isOn = ir.CreateNot(ir.CreateLoad(ir.getInt1Ty(), state.isOff));
  llvm::Value *isFirst = ir.CreateICmpEQ(state.iteration, ir.getInt64(0));
  llvm::Value *hasSet = ir.CreateICmpNE(get(state.tilesOfSet), ir.getInt64(0));
  emitConditional(ir, ir.CreateAnd(isOn, ir.CreateAnd(isFirst, hasSet)), [&] { chooseSet(operand, state, key); });

  // While there is one set, it grows with the iterations.
  llvm::Value *tilesOfSet = get(state.tilesOfSet);
  llvm::Value *isNew =
      ir.CreateAnd(ir.CreateICmpEQ(state.iteration, tilesOfSet), ir.CreateICmpEQ(get(state.sets), ir.getInt64(1)));
  isNew = ir.CreateAnd(ir.CreateAnd(isNew, isOn), ir.CreateICmpULT(tilesOfSet, last));
  emitConditional(ir, isNew, [&] {
    ir.CreateStore(ir.CreateAdd(tilesOfSet, ir.getInt64(1)), state.tilesOfSet);
    ir.CreateStore(ir.getInt64(0), keyOf(operand, tilesOfSet));
  });
  tilesOfSet = get(state.tilesOfSet);
  llvm::Value *own = ir.CreateAdd(ir.CreateMul(get(state.set), tilesOfSet), state.iteration);
  llvm::Value *hasOwn = ir.CreateAnd(ir.CreateICmpULT(state.iteration, tilesOfSet),
                                     ir.CreateNot(ir.CreateLoad(ir.getInt1Ty(), state.isOff)));
  return ir.CreateSelect(hasOwn, own, last);
}

/// Emits the nest under the condition that its tile is not kept.
LogicalResult KernelEmitter::emitUnlessKept(Nest &nest) {
  const KeptOperand &operand = plan.keptOperands[*nest.kept];
  KeptTiles &state = keptTiles[*nest.kept];
  setLocation(nest.roots.front().op->getLoc());
  SmallVector<llvm::Value *> key{ir.getInt64(1)};
  for (Value value : operand.scalars)
    key.push_back(ir.CreateZExt(lanes.bitsOf(scalar(value)), ir.getInt64Ty()));
  llvm::Value *tile = chooseTile(operand, state, key);
  const Buffer &tiles = plan.buffers[operand.tiles];
  current[operand.tiles] = ir.CreatePtrAdd(state.first, ir.CreateMul(tile, ir.getInt64(tiles.bytes)));
  llvm::Value *isLast = ir.CreateICmpEQ(tile, ir.getInt64(tiles.tiles - 1));
  state.isKept = hasKey(operand, tile, key);
  state.isOwn = ir.CreateNot(isLast);
  state.next =
      ir.CreatePtrAdd(current[operand.tiles], ir.CreateSelect(isLast, ir.getInt64(0), ir.getInt64(tiles.bytes)));

  LogicalResult result = success();
  emitConditional(ir, ir.CreateNot(state.isKept), [&] {
    llvm::Value *address = keyOf(operand, tile);
    for (auto [index, value] : llvm::enumerate(key))
      ir.CreateStore(value, ir.CreateConstGEP1_64(ir.getInt64Ty(), address, index));
    result = emitTransposedOrNot(nest);
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
