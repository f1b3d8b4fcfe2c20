// Divides the prefetches of the next iteration's tiles among the register blocks of a dot.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/DotPrefetcher.h"

#include "compiler/target/cpu/emit/ControlFlow.h"
#include "compiler/target/cpu/emit/KeptOperandEmitter.h"
#include "compiler/target/cpu/emit/Prefetches.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

static constexpr int64_t lineBytes = 64; ///< of the caches

/// The tile of an access with contiguous rows, `distance` bytes after it; of a kept operand, the next tile.
DotPrefetcher::Tile DotPrefetcher::tileOf(Operation *access, llvm::Value *distance) {
  Value pointer = cast<tt::MemoryAccessOpInterface>(access).getAccessedPointer();
  const AffineForm form = *context.affineInfo.assumed(pointer);
  ArrayRef<int64_t> shape = tt::shapeOf(pointer.getType());
  const int64_t bytes = bytesOfPointee(pointer);
  const unsigned inner = isContiguous(form, 1, pointer) ? 1 : 0;
  Tile tile;
  tile.first = ir.CreatePtrAdd(context.scalars.firstAddress(form), distance);
  tile.stride = context.scalars.poly(form.steps[1 - inner]);
  tile.rows = shape[1 - inner];
  tile.logLines = llvm::Log2_64_Ceil(llvm::divideCeil(shape[inner] * bytes, lineBytes));
  tile.isNear = ir.getFalse();
  if (const KeptTiles *operand = context.keptOperands.tilesOf(access, step.op)) {
    tile.isNear = operand->isKept;
    tile.first = ir.CreateSelect(operand->isKept, operand->next, tile.first);
    tile.stride = ir.CreateSelect(operand->isKept, ir.getInt64(shape[inner] * bytes), tile.stride);
    mayBeNear = true;
  }
  return tile;
}

void DotPrefetcher::findTiles() {
  const DotPrefetches prefetches = context.prefetches.of(step.op);
  for (auto [load, distance] : prefetches.loads)
    tiles.push_back(tileOf(load, distance));
  if (Operation *store = prefetches.store) {
    storedTile = tileOf(store, ir.getInt64(0));
    isLast = prefetches.isLast;
  }
}

void DotPrefetcher::describe(llvm::raw_ostream &out) const {
  for (const Tile &tile : tiles)
    out << ".ahead" << tile.rows << "x" << (1 << tile.logLines);
  if (storedTile)
    out << ".stored" << storedTile->rows << "x" << (1 << storedTile->logLines);
}

void DotPrefetcher::addValues(SmallVectorImpl<llvm::Value **> &values) {
  for (Tile &tile : tiles)
    values.append({&tile.first, &tile.stride, &tile.isNear});
  if (storedTile)
    values.append({&storedTile->first, &storedTile->stride, &isLast});
}

/// One tile for each block. All lines of a tile pass through few buffers between the caches: prefetched at once, they
/// would delay the loads of the dot itself.
void DotPrefetcher::beginBlock(llvm::Value *block, int64_t blocks, int64_t iterations) {
  int64_t groups = 0, begin = 0, most = 0;
  for (const Tile &tile : tiles)
    groups += tile.groups();
  auto blocksOf = [&](const Tile &tile) { return std::max<int64_t>(blocks * tile.groups() / groups, 1); };
  for (const Tile &tile : tiles)
    most = std::max<int64_t>(most, llvm::divideCeil(tile.groups(), blocksOf(tile)));
  share = Share();
  if (most == 0 || most > iterations)
    return;
  share.iterationsPerGroup = llvm::bit_floor<uint64_t>(iterations / most);
  const int64_t groupsPerBlock = llvm::divideCeil(iterations, share.iterationsPerGroup);
  // The share of the tile's block `index`, where the condition holds.
  auto choose = [&](const Tile &tile, llvm::Value *index, llvm::Value *condition) {
    auto chooseField = [&](llvm::Value *&chosen, llvm::Value *value) {
      chosen = chosen ? ir.CreateSelect(condition, value, chosen) : value;
    };
    chooseField(share.first, tile.first);
    chooseField(share.stride, tile.stride);
    chooseField(share.isNear, tile.isNear);
    chooseField(share.logLines, ir.getInt64(tile.logLines));
    chooseField(share.lastGroup, ir.getInt64(tile.groups() - 1));
    chooseField(share.lastRow, ir.getInt64(tile.rows - 1));
    chooseField(share.begin, ir.CreateMul(index, ir.getInt64(groupsPerBlock)));
  };
  for (const Tile &tile : tiles) {
    llvm::Value *firstBlock = ir.getInt64(begin);
    choose(tile, ir.CreateSub(block, firstBlock), ir.CreateICmpUGE(block, firstBlock));
    begin += blocksOf(tile);
  }
  if (storedTile)
    choose(*storedTile, block, isLast);
}

void DotPrefetcher::prefetch(llvm::Value *iteration) {
  if (share.iterationsPerGroup == 0)
    return;
  llvm::Value *rest = ir.CreateAnd(iteration, ir.getInt64(share.iterationsPerGroup - 1));
  emitConditional(ir, ir.CreateICmpEQ(rest, ir.getInt64(0)), [&] {
    prefetchGroup(ir.CreateAdd(share.begin, ir.CreateUDiv(iteration, ir.getInt64(share.iterationsPerGroup))));
  });
}

/// Prefetches a group's lines into the second-level cache, or from it into the first.
void DotPrefetcher::prefetchGroup(llvm::Value *group) {
  group = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, group, share.lastGroup);
  llvm::Value *rows = ir.CreateLShr(group, share.logLines);
  llvm::Value *column = ir.CreateMul(ir.CreateSub(group, ir.CreateShl(rows, share.logLines)), ir.getInt64(lineBytes));
  llvm::Value *firstRow = ir.CreateMul(rows, ir.getInt64(groupRows));
  llvm::Value *first = ir.CreatePtrAdd(share.first, column);
  SmallVector<llvm::Value *> lines;
  for (int64_t index = 0; index < groupRows; ++index) {
    llvm::Value *row = ir.CreateAdd(firstRow, ir.getInt64(index));
    row = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, row, share.lastRow);
    lines.push_back(ir.CreatePtrAdd(first, ir.CreateMul(row, share.stride)));
  }
  auto prefetchTo = [&](int locality) {
    for (llvm::Value *line : lines)
      ir.CreateIntrinsic(llvm::Intrinsic::prefetch, {ir.getPtrTy()},
                         {line, ir.getInt32(0), ir.getInt32(locality), ir.getInt32(1)});
  };
  constexpr int firstLevel = 3, secondLevel = 2;
  if (!mayBeNear)
    return prefetchTo(secondLevel);
  llvm::Function *parent = ir.GetInsertBlock()->getParent();
  auto *near = llvm::BasicBlock::Create(ir.getContext(), "near", parent);
  auto *far = llvm::BasicBlock::Create(ir.getContext(), "far", parent);
  auto *after = llvm::BasicBlock::Create(ir.getContext(), "fetched", parent);
  ir.CreateCondBr(share.isNear, near, far);
  for (auto [block, locality] : {std::pair(near, firstLevel), std::pair(far, secondLevel)}) {
    ir.SetInsertPoint(block);
    prefetchTo(locality);
    ir.CreateBr(after);
  }
  ir.SetInsertPoint(after);
}
