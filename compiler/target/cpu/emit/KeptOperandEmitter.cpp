// Keeps copies of operands of dots: an iteration of their loop makes its tile only where the one that is there, mostly
// from an earlier program, has another key.
// SPDX-License-Identifier: MIT
//
// The tiles of a program, one for each iteration of its loop, are a set. Programs that follow each other may multiply
// the same tiles, as those of a column of a matrix do: one set is enough, and is made anew for the next column. Or they
// come back to tiles after a few programs, as those of rows in a group do: that is seen by the keys of their first
// tiles, and from then on each makes a set of its own, as long as there is room.
//
// Where several programs in succession found nothing, they all use the last tile, since copies that are spread over
// many tiles take longer. It also serves iterations that have no tile of their own.
#include "compiler/target/cpu/emit/KeptOperandEmitter.h"

#include "compiler/target/cpu/emit/ControlFlow.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The address of a tile's key.
llvm::Value *KeptOperandEmitter::keyOf(const KeptOperand &operand, llvm::Value *tile) {
  constexpr int64_t wordBytes = 8;
  return ir.CreatePtrAdd(context.buffers.at(operand.keys),
                         ir.CreateMul(tile, ir.getInt64(operand.wordsOfKey() * wordBytes)));
}

void KeptOperandEmitter::begin(llvm::Value *isOneProgram) {
  if (context.plan.keptOperands.empty())
    return;
  llvm::Value *word = context.frame.arena();
  llvm::Value *isLeft = ir.CreateICmpNE(ir.CreateLoad(ir.getInt64Ty(), word), ir.getInt64(0));
  ir.CreateStore(ir.getInt64(0), word); // until the call ends: a failing program leaves it midway
  for (const KeptOperand &operand : context.plan.keptOperands) {
    KeptTiles &state = keptTiles.emplace_back();
    state.first = context.buffers.at(operand.tiles);
    auto variable = [&](const char *name, llvm::Value *initial) {
      word = ir.CreateConstGEP1_64(ir.getInt64Ty(), word, 1);
      llvm::AllocaInst *address = context.frame.local(initial->getType(), name);
      llvm::Value *left = ir.CreateTrunc(ir.CreateLoad(ir.getInt64Ty(), word), initial->getType());
      ir.CreateStore(ir.CreateSelect(isLeft, left, initial), address);
      state.variables.push_back(address);
      return address;
    };
    state.tilesOfSet = variable("tiles", ir.getInt64(0));
    state.sets = variable("sets", ir.getInt64(1));
    state.set = variable("set", ir.getInt64(0));
    state.misses = variable("misses", ir.getInt64(0));
    state.seen = variable("seen", ir.getInt64(0));
    state.wasFound = variable("found", ir.getFalse());
    state.comesBack = variable("comes.back", ir.getFalse());
    state.isOff = variable("off", isOneProgram);
    assert(state.variables.size() == KeptOperand::stateWords);
    const int64_t tiles = context.plan.buffers[operand.tiles].tiles;
    emitConditional(ir, ir.CreateNot(isLeft), [&] {
      for (int64_t index : {tiles - 1, tiles}) // the last tile, and the first key that is noted
        ir.CreateStore(ir.getInt64(0), keyOf(operand, ir.getInt64(index)));
    });
  }
}

void KeptOperandEmitter::end() {
  if (context.plan.keptOperands.empty())
    return;
  llvm::Value *word = context.frame.arena();
  ir.CreateStore(ir.getInt64(1), word);
  for (const KeptTiles &state : keptTiles)
    for (llvm::AllocaInst *variable : state.variables) {
      word = ir.CreateConstGEP1_64(ir.getInt64Ty(), word, 1);
      llvm::Value *value = ir.CreateLoad(variable->getAllocatedType(), variable);
      ir.CreateStore(ir.CreateZExt(value, ir.getInt64Ty()), word);
    }
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

/// Whether the tile is there and has the key.
llvm::Value *KeptOperandEmitter::hasKey(const KeptOperand &operand, llvm::Value *tile, Key key) {
  llvm::Value *address = keyOf(operand, tile), *isEqual = ir.getTrue();
  for (auto [index, value] : llvm::enumerate(key)) {
    llvm::Value *word = ir.CreateConstGEP1_64(ir.getInt64Ty(), address, index);
    isEqual = ir.CreateAnd(isEqual, ir.CreateICmpEQ(ir.CreateLoad(ir.getInt64Ty(), word), value));
  }
  return isEqual;
}

void KeptOperandEmitter::storeKey(const KeptOperand &operand, llvm::Value *tile, Key key) {
  llvm::Value *address = keyOf(operand, tile);
  for (auto [index, value] : llvm::enumerate(key))
    ir.CreateStore(value, ir.CreateConstGEP1_64(ir.getInt64Ty(), address, index));
}

/// The index among `count` tiles, so far apart, of one that has the key; `count` where none has. The first is compared
/// in any case.
llvm::Value *KeptOperandEmitter::findKey(const KeptOperand &operand, llvm::Value *first, llvm::Value *distance,
                                         llvm::Value *count, Key key) {
  llvm::AllocaInst *found = context.frame.local(ir.getInt64Ty(), "found.at");
  ir.CreateStore(count, found);
  emitCounted(ir, KeptOperand::mostSets, count, 1, [&](llvm::Value *index) {
    llvm::Value *isThis = hasKey(operand, ir.CreateAdd(first, ir.CreateMul(index, distance)), key);
    ir.CreateStore(ir.CreateSelect(isThis, index, ir.CreateLoad(ir.getInt64Ty(), found)), found);
  });
  return ir.CreateLoad(ir.getInt64Ty(), found);
}

/// Compares the first key of a program with those noted, and notes it. After too many programs it is over.
void KeptOperandEmitter::noteKey(const KeptOperand &operand, KeptTiles &state, Key key) {
  llvm::Value *seen = ir.CreateLoad(ir.getInt64Ty(), state.seen), *most = ir.getInt64(KeptOperand::mostSets);
  llvm::Value *isOver = ir.CreateOr(ir.CreateLoad(ir.getInt1Ty(), state.comesBack), ir.CreateICmpUGT(seen, most));
  emitConditional(ir, ir.CreateNot(isOver), [&] {
    llvm::Value *notes = ir.getInt64(context.plan.buffers[operand.tiles].tiles);
    llvm::Value *comesBack = ir.CreateICmpNE(findKey(operand, notes, ir.getInt64(1), seen, key), seen);
    ir.CreateStore(comesBack, state.comesBack);
    ir.CreateStore(ir.CreateSelect(comesBack, ir.getInt64(0), ir.CreateLoad(ir.getInt64Ty(), state.misses)),
                   state.misses);
    emitConditional(ir, ir.CreateICmpULT(seen, most), [&] { storeKey(operand, ir.CreateAdd(notes, seen), key); });
    ir.CreateStore(ir.CreateAdd(seen, ir.getInt64(1)), state.seen);
  });
}

/// Takes a set for a program that found none: that of the program before, if it was found again, as its programs are
/// over, else the next one.
void KeptOperandEmitter::makeSet(const KeptOperand &operand, KeptTiles &state, llvm::Value *most,
                                 llvm::Value *wasFound) {
  llvm::Value *before = ir.CreateLoad(ir.getInt64Ty(), state.set), *sets = ir.CreateLoad(ir.getInt64Ty(), state.sets);
  llvm::Value *after = ir.CreateAdd(before, ir.getInt64(1));
  after = ir.CreateSelect(ir.CreateICmpEQ(after, most), ir.getInt64(0), after);
  llvm::Value *set = ir.CreateSelect(wasFound, before, after);
  ir.CreateStore(set, state.set);
  emitConditional(ir, ir.CreateICmpEQ(set, sets), [&] {
    ir.CreateStore(ir.CreateAdd(sets, ir.getInt64(1)), state.sets);
    llvm::Value *tilesOfSet = ir.CreateLoad(ir.getInt64Ty(), state.tilesOfSet);
    llvm::Value *first = ir.CreateMul(set, tilesOfSet);
    emitCounted(ir, context.plan.buffers[operand.tiles].tiles, tilesOfSet, 1, [&](llvm::Value *index) {
      ir.CreateStore(ir.getInt64(0), keyOf(operand, ir.CreateAdd(first, index)));
    });
  });
}

/// In the first iteration of a program, with the key of its tile: the set that has it, or else one to make.
void KeptOperandEmitter::chooseSet(const KeptOperand &operand, KeptTiles &state, Key key) {
  auto get = [&](llvm::Value *address) { return ir.CreateLoad(ir.getInt64Ty(), address); };
  llvm::Value *tilesOfSet = get(state.tilesOfSet), *sets = get(state.sets);
  llvm::Value *wasFound = ir.CreateLoad(ir.getInt1Ty(), state.wasFound);
  llvm::Value *found = findKey(operand, ir.getInt64(0), tilesOfSet, sets, key);
  llvm::Value *isFound = ir.CreateICmpNE(found, sets);
  ir.CreateStore(isFound, state.wasFound);
  ir.CreateStore(ir.CreateSelect(isFound, found, get(state.set)), state.set);
  ir.CreateStore(ir.CreateSelect(isFound, ir.getInt64(0), ir.CreateAdd(get(state.misses), ir.getInt64(1))),
                 state.misses);
  ir.CreateStore(ir.getFalse(), state.isOff);
  emitConditional(ir, ir.CreateNot(isFound), [&] {
    noteKey(operand, state, key);
    llvm::Value *comesBack = ir.CreateLoad(ir.getInt1Ty(), state.comesBack);
    llvm::Value *most = ir.CreateUDiv(ir.getInt64(context.plan.buffers[operand.tiles].tiles), tilesOfSet);
    most = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, most, ir.getInt64(KeptOperand::mostSets));
    llvm::Value *mostMisses = ir.CreateAdd(ir.CreateSelect(comesBack, most, ir.getInt64(1)), ir.getInt64(1));
    ir.CreateStore(ir.CreateICmpUGT(get(state.misses), mostMisses), state.isOff);
    emitConditional(ir, comesBack, [&] { makeSet(operand, state, most, wasFound); });
  });
}

/// The index of the tile of this iteration.
llvm::Value *KeptOperandEmitter::chooseTile(const KeptOperand &operand, KeptTiles &state, Key key) {
  auto get = [&](llvm::Value *address) { return ir.CreateLoad(ir.getInt64Ty(), address); };
  const int64_t tiles = context.plan.buffers[operand.tiles].tiles;
  llvm::Value *last = ir.getInt64(tiles - 1);
  llvm::Value *isFirst = ir.CreateICmpEQ(state.iteration, ir.getInt64(0));
  llvm::Value *hasSet = ir.CreateICmpNE(get(state.tilesOfSet), ir.getInt64(0));
  emitConditional(ir, ir.CreateAnd(isFirst, hasSet), [&] { chooseSet(operand, state, key); });
  llvm::Value *isOn = ir.CreateNot(ir.CreateLoad(ir.getInt1Ty(), state.isOff));

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
  return ir.CreateSelect(ir.CreateAnd(isOn, ir.CreateICmpULT(state.iteration, tilesOfSet)), own, last);
}

LogicalResult KeptOperandEmitter::emitUnlessKept(const Nest &nest, llvm::function_ref<LogicalResult()> makeTile) {
  const KeptOperand &operand = context.plan.keptOperands[*nest.kept];
  KeptTiles &state = keptTiles[*nest.kept];
  context.frame.setLocation(nest.roots.front().op->getLoc());
  SmallVector<llvm::Value *> key{ir.getInt64(1)};
  for (Value value : operand.scalars)
    key.push_back(ir.CreateZExt(context.lanes.bitsOf(context.scalars.of(value)), ir.getInt64Ty()));
  llvm::Value *tile = chooseTile(operand, state, key);
  const Buffer &tiles = context.plan.buffers[operand.tiles];
  llvm::Value *address = ir.CreatePtrAdd(state.first, ir.CreateMul(tile, ir.getInt64(tiles.bytes)));
  context.buffers.moveTo(operand.tiles, address);
  llvm::Value *isLast = ir.CreateICmpEQ(tile, ir.getInt64(tiles.tiles - 1));
  state.isKept = hasKey(operand, tile, key);
  state.isOwn = ir.CreateNot(isLast);
  state.next = ir.CreatePtrAdd(context.buffers.at(operand.tiles),
                               ir.CreateSelect(isLast, ir.getInt64(0), ir.getInt64(tiles.bytes)));

  LogicalResult result = success();
  emitConditional(ir, ir.CreateNot(state.isKept), [&] {
    storeKey(operand, tile, key);
    result = makeTile();
  });
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
