// Emits scf loops and branches: basic blocks, and one phi for each carried register.
// SPDX-License-Identifier: MIT
//
// A loop is entered only if its body runs: there is one branch per iteration, and hoisted code runs only where the body
// does. Registers that are copies share a phi; so do registers of an index tile that differ by constants and advance
// together, and elements of one word.
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/lowering/LoopHints.h"
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/PackedBytes.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

/// The registers from `index` on that are the elements of one word, none of them a copy; else one.
static ArrayRef<llvm::Value *> wordFrom(const Tile &tile, unsigned index, uint32_t copies) {
  const unsigned bits = tile[index]->getType()->getPrimitiveSizeInBits();
  const unsigned count = bits == 8 || bits == 16 ? 32 / bits : 1;
  const auto one = ArrayRef<llvm::Value *>(tile).slice(index, 1);
  if (count == 1 || index % count || index + count > tile.size() || (copies & (count - 1)))
    return one;
  const auto elements = ArrayRef<llvm::Value *>(tile).slice(index, count);
  return wordOf(elements) ? elements : one;
}

/// The vector of a word's elements.
static llvm::Value *joinWord(IrBuilder &ir, ArrayRef<llvm::Value *> elements, llvm::Type *type) {
  if (llvm::Value *word = wordOf(elements); word && word->getType() == type)
    return word;
  llvm::Value *word = llvm::PoisonValue::get(type);
  for (auto [index, element] : llvm::enumerate(elements))
    word = ir.CreateInsertElement(word, element, uint64_t{index});
  return word;
}

/// Whether `next` is `carried` plus the same amount in each register.
static bool movesTogether(Value next, Value carried) {
  while (next != carried) {
    Operation *op = next.getDefiningOp();
    if (auto hint = dyn_cast_or_null<tt::BitcastOp>(op); hint && hint.isHint()) {
      next = hint.getSrc();
      continue;
    }
    if (!isa_and_nonnull<tt::AddPtrOp, arith::AddIOp>(op))
      return false;
    auto isUniform = [](Value value) {
      return value.getDefiningOp<tt::SplatOp>() || matchPattern(value, m_Constant());
    };
    if (isUniform(op->getOperand(1)))
      next = op->getOperand(0);
    else if (isa<arith::AddIOp>(op) && isUniform(op->getOperand(0)))
      next = op->getOperand(1);
    else
      return false;
  }
  return true;
}

namespace {

/// The values that merge in a basic block, one phi per register.
class TilePhis {
public:
  /// Makes the phis at the start of the current basic block and defines `values`. In a loop header, `next` is the
  /// yielded values.
  TilePhis(TtgFunctionEmitter &emitter, ValueRange values, ArrayRef<Tile> inits, ValueRange next = {});
  void add(ArrayRef<Tile> incoming, llvm::BasicBlock *from);

private:
  struct Phi {
    llvm::PHINode *node;
    unsigned index;     ///< the first register that provides its values
    int64_t offset;     ///< that register's offset from the phi
    unsigned count = 1; ///< registers, all of one word
  };
  /// A register as a phi plus a constant, or as an element of a phi of words; registers without a phi of their own are
  /// copies.
  struct PhiOffset {
    llvm::PHINode *node = nullptr;
    int64_t offset = 0;
    unsigned elementOfWord = 0;
  };
  SmallVector<PhiOffset> makePhis(const Tile &init, uint32_t copies, bool sharesBases);
  void defineValue(Value value, ArrayRef<PhiOffset> phiOffsets, uint32_t copies);

  TtgFunctionEmitter &emitter;
  SmallVector<SmallVector<Phi>> phis; ///< of each value
};

} // namespace

TilePhis::TilePhis(TtgFunctionEmitter &emitter, ValueRange values, ArrayRef<Tile> inits, ValueRange next)
    : emitter(emitter) {
  SmallVector<SmallVector<PhiOffset>> phiOffsets;
  for (auto [index, value] : llvm::enumerate(values)) {
    const bool sharesBases = !next.empty() && movesTogether(next[index], value);
    phiOffsets.push_back(makePhis(inits[index], copyMask(value.getType()), sharesBases));
  }
  // Phis precede everything else in their basic block.
  for (auto [index, value] : llvm::enumerate(values))
    defineValue(value, phiOffsets[index], copyMask(value.getType()));
}

SmallVector<TilePhis::PhiOffset> TilePhis::makePhis(const Tile &init, uint32_t copies, bool sharesBases) {
  llvm::DenseMap<llvm::Value *, llvm::PHINode *> nodeOfBase;
  SmallVector<Phi> phisOfValue;
  SmallVector<PhiOffset> phiOffsets(init.size());
  for (unsigned index = 0; index < init.size(); ++index) {
    if (index & copies || phiOffsets[index].node)
      continue;
    if (ArrayRef<llvm::Value *> word = wordFrom(init, index, copies); word.size() > 1) {
      llvm::PHINode *node = emitter.ir.CreatePHI(wordOf(word)->getType(), 2);
      phisOfValue.push_back({node, index, 0, unsigned(word.size())});
      for (unsigned element = 0; element < word.size(); ++element)
        phiOffsets[index + element] = {node, 0, element};
      continue;
    }
    BaseOffset baseOffset = emitter.baseOffsets.of(init[index]);
    if (!sharesBases || !baseOffset.base)
      baseOffset = {init[index], 0, true};
    llvm::PHINode *&node = nodeOfBase[baseOffset.base];
    if (!node || !sharesBases) {
      node = emitter.ir.CreatePHI(init[index]->getType(), 2);
      phisOfValue.push_back({node, index, baseOffset.offset});
    }
    phiOffsets[index] = {node, baseOffset.offset};
  }
  phis.push_back(std::move(phisOfValue));
  return phiOffsets;
}

void TilePhis::defineValue(Value value, ArrayRef<PhiOffset> phiOffsets, uint32_t copies) {
  Tile registers;
  for (unsigned index = 0; index < phiOffsets.size(); ++index) {
    if (index & copies) {
      registers.push_back(registers[index & ~copies]);
      continue;
    }
    const auto [node, offset, elementOfWord] = phiOffsets[index];
    if (node->getType()->isVectorTy()) {
      registers.push_back(emitter.ir.CreateExtractElement(node, uint64_t{elementOfWord}));
      continue;
    }
    // A carried integer may overflow where its first value did not.
    registers.push_back(emitter.materialise({node, offset, node->getType()->isPointerTy()}, node->getType()));
  }
  emitter.define(value, std::move(registers));
}

void TilePhis::add(ArrayRef<Tile> incoming, llvm::BasicBlock *from) {
  IrBuilder::InsertPointGuard guard(emitter.ir);
  if (llvm::Instruction *end = from->getTerminator())
    emitter.ir.SetInsertPoint(end);
  for (auto [tile, phisOfValue] : llvm::zip_equal(incoming, phis))
    for (const Phi &phi : phisOfValue) {
      if (phi.count > 1) {
        const auto word = ArrayRef<llvm::Value *>(tile).slice(phi.index, phi.count);
        phi.node->addIncoming(joinWord(emitter.ir, word, phi.node->getType()), from);
        continue;
      }
      BaseOffset baseOffset = emitter.baseOffsets.of(tile[phi.index]);
      llvm::Value *value = tile[phi.index];
      if (phi.offset != 0)
        value = emitter.materialise({baseOffset.base, baseOffset.offset - phi.offset, false}, value->getType());
      phi.node->addIncoming(value, from);
    }
}

/// The emitted operands of a terminator.
template <typename Range> static SmallVector<Tile> tilesOf(Range &&values, llvm::function_ref<Tile(Value)> tile) {
  return llvm::map_to_vector(values, [&](Value value) { return tile(value); });
}

static LogicalResult emitFor(TtgFunctionEmitter &emitter, scf::ForOp op) {
  IrBuilder &ir = emitter.ir;
  auto valueTile = [&](Value value) { return emitter.tile(value); };
  llvm::Value *lower = emitter.scalar(op.getLowerBound()), *upper = emitter.scalar(op.getUpperBound()),
              *step = emitter.scalar(op.getStep());
  auto runs = [&](llvm::Value *index) {
    return op.getUnsignedCmp() ? ir.CreateICmpULT(index, upper) : ir.CreateICmpSLT(index, upper);
  };
  const SmallVector<Tile> inits = tilesOf(op.getInitArgs(), valueTile);
  llvm::BasicBlock *before = ir.GetInsertBlock(), *body = emitter.newBlock("for"), *after = emitter.newBlock("for.end");
  ir.CreateCondBr(runs(lower), body, after);

  ir.SetInsertPoint(body);
  // The phis get their values after the body is emitted: whatever is derived from them before must hold in every
  // iteration.
  llvm::PHINode *index = ir.CreatePHI(lower->getType(), 2);
  emitter.define(op.getInductionVar(), {index});
  Operation *yield = op.getBody()->getTerminator();
  TilePhis carried(emitter, op.getRegionIterArgs(), inits, yield->getOperands());
  if (failed(emitter.emitBlock(*op.getBody())))
    return failure();
  index->addIncoming(lower, before);
  carried.add(inits, before);
  emitter.module.debug.setLocation(ir, op.getLoc());
  llvm::Value *nextIndex = ir.CreateAdd(index, step);
  const SmallVector<Tile> yields = tilesOf(yield->getOperands(), valueTile);
  llvm::BasicBlock *latch = ir.GetInsertBlock();
  // With a step above one the next index may overflow; the distance to the bound cannot.
  auto *constantStep = dyn_cast<llvm::ConstantInt>(step);
  const bool isPlain = constantStep && constantStep->isOne();
  llvm::Value *goesOn = isPlain ? runs(nextIndex) : ir.CreateICmpUGT(ir.CreateSub(upper, index), step);
  attachLoopHints(op, ir.CreateCondBr(goesOn, body, after));
  carried.add(yields, latch);
  index->addIncoming(nextIndex, latch);

  ir.SetInsertPoint(after);
  TilePhis results(emitter, op.getResults(), yields);
  results.add(inits, before);
  results.add(yields, latch);
  return success();
}

static LogicalResult emitWhile(TtgFunctionEmitter &emitter, scf::WhileOp op) {
  IrBuilder &ir = emitter.ir;
  auto valueTile = [&](Value value) { return emitter.tile(value); };
  const SmallVector<Tile> inits = tilesOf(op.getInits(), valueTile);
  llvm::BasicBlock *entry = ir.GetInsertBlock();
  llvm::BasicBlock *head = emitter.newBlock("while"), *body = emitter.newBlock("while.body"),
                   *after = emitter.newBlock("while.end");
  ir.CreateBr(head);

  ir.SetInsertPoint(head);
  TilePhis carried(emitter, op.getBeforeArguments(), inits);
  if (failed(emitter.emitBlock(*op.getBeforeBody())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  for (auto [inside, outside, value] : llvm::zip_equal(op.getAfterArguments(), op.getResults(), condition.getArgs())) {
    emitter.define(inside, Tile(emitter.tile(value)));
    emitter.define(outside, Tile(emitter.tile(value)));
  }
  emitter.module.debug.setLocation(ir, condition.getLoc());
  ir.CreateCondBr(emitter.scalar(condition.getCondition()), body, after);

  ir.SetInsertPoint(body);
  if (failed(emitter.emitBlock(*op.getAfterBody())))
    return failure();
  emitter.module.debug.setLocation(ir, op.getLoc());
  const SmallVector<Tile> yields = tilesOf(op.getYieldOp()->getOperands(), valueTile);
  llvm::BasicBlock *latch = ir.GetInsertBlock();
  attachLoopHints(op, ir.CreateBr(head));
  carried.add(inits, entry);
  carried.add(yields, latch);
  ir.SetInsertPoint(after);
  return success();
}

namespace {
/// How a side of a branch ends.
struct Side {
  SmallVector<Tile> values;
  llvm::BasicBlock *end;
};
} // namespace

/// Defines the results of a branch where its sides join.
static void mergeSides(TtgFunctionEmitter &emitter, ValueRange results, ArrayRef<Side> sides) {
  if (results.empty())
    return;
  TilePhis merged(emitter, results, sides.front().values);
  for (const Side &side : sides)
    merged.add(side.values, side.end);
}

static LogicalResult emitIf(TtgFunctionEmitter &emitter, scf::IfOp op) {
  IrBuilder &ir = emitter.ir;
  auto valueTile = [&](Value value) { return emitter.tile(value); };
  llvm::BasicBlock *blocks[] = {emitter.newBlock("then"), emitter.newBlock("else")}, *after = emitter.newBlock("endif");
  ir.CreateCondBr(emitter.scalar(op.getCondition()), blocks[0], blocks[1]);
  SmallVector<Side, 2> sides;
  for (unsigned index = 0; index < 2; ++index) {
    ir.SetInsertPoint(blocks[index]);
    SmallVector<Tile> values;
    if (Region &region = op->getRegion(index); !region.empty()) {
      const bool isOfFirstWarp = index == 0 && op.getCondition().getDefiningOp<ttg::IsFirstWarpOp>();
      llvm::SaveAndRestore ofOneWarp(emitter.isOneWarp, emitter.isOneWarp || isOfFirstWarp);
      if (failed(emitter.emitBlock(region.front())))
        return failure();
      values = tilesOf(region.front().getTerminator()->getOperands(), valueTile);
    }
    emitter.module.debug.setLocation(ir, op.getLoc());
    sides.push_back({std::move(values), ir.GetInsertBlock()});
    ir.CreateBr(after);
  }
  ir.SetInsertPoint(after);
  mergeSides(emitter, op.getResults(), sides);
  return success();
}

static LogicalResult emitSwitch(TtgFunctionEmitter &emitter, scf::IndexSwitchOp op) {
  IrBuilder &ir = emitter.ir;
  auto valueTile = [&](Value value) { return emitter.tile(value); };
  llvm::BasicBlock *otherwise = emitter.newBlock("default"), *after = emitter.newBlock("endswitch");
  llvm::SwitchInst *branch = ir.CreateSwitch(emitter.scalar(op.getArg()), otherwise, op.getNumCases());
  SmallVector<Side> sides;
  for (auto [index, region] : llvm::enumerate(op->getRegions())) { // the default region comes first
    llvm::BasicBlock *block = index == 0 ? otherwise : emitter.newBlock("case");
    if (index > 0)
      branch->addCase(ir.getInt64(op.getCases()[index - 1]), block);
    ir.SetInsertPoint(block);
    if (failed(emitter.emitBlock(region.front())))
      return failure();
    emitter.module.debug.setLocation(ir, op.getLoc());
    sides.push_back({tilesOf(region.front().getTerminator()->getOperands(), valueTile), ir.GetInsertBlock()});
    ir.CreateBr(after);
  }
  ir.SetInsertPoint(after);
  mergeSides(emitter, op.getResults(), sides);
  return success();
}

static LogicalResult emitAssume(TtgFunctionEmitter &emitter, Operation *op) {
  emitter.ir.CreateAssumption(emitter.scalar(op->getOperand(0)));
  return success();
}

void lowering::addControlEmitters(OpEmitters &table) {
  table.add<emitFor, scf::ForOp>();
  table.add<emitWhile, scf::WhileOp>();
  table.add<emitIf, scf::IfOp>();
  table.add<emitSwitch, scf::IndexSwitchOp>();
  table.add<emitAssume, imported::AssumeOp>();
}
