// Emits a dot: loops over register blocks of the result, each with a loop over K inside.
// SPDX-License-Identifier: MIT
//
// Operands and result are dense in buffers, so that every address is a base plus a constant. One block keeps rows x
// vectors accumulators in registers; for each k it reads `vectors` vectors of b and one element of a per row, which the
// load itself broadcasts to the lanes. So `a` may have either order; `b` is packed first where its columns are not
// adjacent.
#include "compiler/target/cpu/emit/DotEmitter.h"

#include "compiler/target/cpu/emit/AmxEmitter.h"
#include "compiler/target/cpu/emit/ControlFlow.h"
#include "compiler/target/cpu/emit/DotPrefetcher.h"
#include "compiler/target/cpu/emit/KeptOperandEmitter.h"
#include "compiler/target/cpu/emit/Transpose.h"

#include "llvm/IR/IntrinsicsX86.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

struct RegisterBlock {
  unsigned rows = 1;
  unsigned vectors = 1;
  unsigned lanes = 1;
};

class DotEmitter {
public:
  DotEmitter(EmitContext &context, const Step &step);
  void run();

private:
  std::string name() const;
  void callProduct();
  void addEnds(SmallVectorImpl<llvm::Value **> &values);
  void emitProduct();
  AmxDot tileProduct(const AnyAmxOperands &operands, llvm::Value *d);
  llvm::Value *leavesLeft();
  void runPostponed(llvm::Value *leaves);
  void packUnlessKept();
  void packB();
  void makeAUnsigned(llvm::Value *&a);
  void sumColumns(llvm::Value *b);
  void emitColumns(llvm::Value *a, llvm::Value *b, llvm::Value *d);
  void emitRows(llvm::Value *a, llvm::Value *b, llvm::Value *d, llvm::Value *column, unsigned vectors, unsigned lanes);
  void emitBlock(llvm::Value *a, llvm::Value *b, llvm::Value *d, RegisterBlock block);
  void accumulate(llvm::Value *a, llvm::Value *b, RegisterBlock block, MutableArrayRef<llvm::Value *> accumulators);
  unsigned rowsFor(unsigned vectors) const;
  /// Lanes of a register, or fewer, so that vectors of them fill the extent.
  unsigned lanesDividing(uint64_t extent) const {
    return cpu::lanesDividing(extent, context.machine.registerBits / (8 * size));
  }
  unsigned unroll() const { return depth % 2 == 0 ? 2 : 1; } ///< factor of the loop over K
  llvm::Value *addGroups(llvm::Value *x, llvm::Value *y, llvm::Value *accumulator);
  llvm::Value *multiplyAdd(llvm::Value *x, llvm::Value *y, llvm::Value *accumulator);
  llvm::Value *at(llvm::Value *base, int64_t element) {
    return ir.CreateConstGEP1_64(ir.getInt8Ty(), base, element * size);
  }
  llvm::Value *rowOf(llvm::Value *a, llvm::Value *row) { return ir.CreatePtrAdd(a, ir.CreateMul(row, rowBytes)); }
  llvm::Value *at(llvm::Value *base, llvm::Value *index, int64_t stride) {
    return ir.CreatePtrAdd(base, ir.CreateMul(index, ir.getInt64(stride * size), "", true, true));
  }
  void forEach(int64_t end, int64_t step, llvm::function_ref<void(llvm::Value *)> body) {
    emitCounted(ir, end, step, body);
  }

  EmitContext &context;
  llvm::IRBuilder<> &ir;
  const TileDot &dot;
  DotPrefetcher prefetcher;
  tt::DotOp op;
  Type operandElement;
  llvm::Value *firstA, *firstB, *firstD;
  llvm::Value *unsignedA = nullptr;  ///< the buffer of a plus 128; null unless a is made unsigned
  llvm::Value *columnSums = nullptr; ///< 128 times the sums of columns of b; null likewise
  llvm::Value *sums = nullptr;       ///< the sums of the strip's columns
  Type element;
  int64_t batch = 1, rows, columns, depth;
  llvm::Value *rowBytes;                                     ///< stride of rows of a, in bytes
  llvm::Value *endOfRows = nullptr, *endOfColumns = nullptr; ///< of what is used; null: all
  int64_t depthStride;                                       ///< of a, in elements
  int64_t size;                                              ///< of an element
};

} // namespace

DotEmitter::DotEmitter(EmitContext &context, const Step &step)
    : context(context), ir(context.ir), dot(*step.dot), prefetcher(context, step), op(cast<tt::DotOp>(step.op)) {
  ArrayRef<int64_t> a = tt::shapeOf(op.getA().getType()), d = tt::shapeOf(op.getType());
  if (d.size() == 3)
    batch = d.front();
  rows = d[d.size() - 2];
  columns = d.back();
  depth = a.back();
  element = tt::elementOf(op.getType());
  operandElement = tt::elementOf(op.getA().getType());
  size = storageBytes(element);
  auto operand = [&](const TileDot::Operand &operand) {
    return operand.value ? context.buffers.of(operand.value) : context.buffers.at(operand.buffer);
  };
  firstA = operand(dot.a);
  firstB = operand(dot.b);
  firstD = context.buffers.nextAt(dot.d);
  if (dot.form.needsUnsignedA()) {
    unsignedA = context.buffers.at(*dot.unsignedA);
    columnSums = context.buffers.at(*dot.columnSums);
  }
  depth /= dot.form.group; // counted in groups, which are as wide as accumulators
  rowBytes = ir.getInt64((dot.a.isTransposed ? 1 : depth) * size);
  depthStride = dot.a.isTransposed ? rows : 1;
  if (const Redirect *source = dot.a.value ? nullptr : context.buffers.operandSource(dot.a.buffer)) {
    firstA = source->base;
    rowBytes = source->strides[0];
  }
  if (dot.stored.rows)
    endOfRows = context.scalars.clamped(*dot.stored.rows, rows);
  if (dot.stored.columns)
    endOfColumns = context.scalars.clamped(*dot.stored.columns, columns);
}

/// Names what the product's code depends on, besides its values.
std::string DotEmitter::name() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "dot." << batch << "x" << rows << "x" << columns << "x" << depth << "." << operandElement << "." << element;
  out << (dot.a.isTransposed ? ".t" : "") << (dot.startsAtZero ? ".zero" : "") << ".by" << dot.form.group;
  prefetcher.describe(out);
  out << (endOfRows ? ".rows" : "") << (endOfColumns ? ".columns" : "");
  return text;
}

void DotEmitter::run() {
  if (dot.packed)
    packUnlessKept();
  if (llvm::Value *leaves = dot.iterations > 1 ? leavesLeft() : nullptr)
    return runPostponed(leaves);
  prefetcher.findTiles();
  callProduct();
}

/// Calls the code for the operands of this iteration.
void DotEmitter::callProduct() {
  SmallVector<llvm::Value **> values{&firstA, &firstB, &firstD, &rowBytes};
  if (unsignedA)
    values.append({&unsignedA, &columnSums});
  prefetcher.addValues(values);
  addEnds(values);
  context.frame.callShared(name(), values, [&] { emitProduct(); });
}

void DotEmitter::addEnds(SmallVectorImpl<llvm::Value **> &values) {
  for (llvm::Value **end : {&endOfRows, &endOfColumns})
    if (*end)
      values.push_back(end);
}

/// Whether the next iteration overwrites the left operand; null where it always does.
llvm::Value *DotEmitter::leavesLeft() {
  if (const Redirect *source = context.buffers.operandSource(dot.a.buffer))
    return source->isCopied;
  const KeptTiles *operand = context.keptOperands.tilesIn(dot.a.buffer);
  return operand ? ir.CreateNot(operand->isOwn) : nullptr;
}

/// Adds the operands to the list of postponed ones, and multiplies the whole list where they cannot wait longer.
void DotEmitter::runPostponed(llvm::Value *leaves) {
  llvm::Value *waiting = context.frame.local(ir.getInt64(0), "waiting");
  auto *type = AmxOperandList::typeOf(ir.getContext(), dot.iterations);
  AmxOperandList list{context.frame.local(type, "operands"), nullptr, dot.iterations};
  llvm::Value *before = ir.CreateLoad(ir.getInt64Ty(), waiting);
  list.store(ir, {firstA, firstB, rowBytes}, before);
  list.count = ir.CreateAdd(before, ir.getInt64(1));
  llvm::Value *isNow = ir.CreateOr(leaves, ir.CreateNot(context.keptOperands.tilesIn(*dot.packed)->isOwn));
  isNow = ir.CreateOr(isNow, ir.CreateICmpEQ(list.count, ir.getInt64(dot.iterations)));
  isNow = ir.CreateOr(isNow, context.scalars.isLastIteration(cast<scf::ForOp>(op->getParentOp())));
  ir.CreateStore(ir.CreateSelect(isNow, ir.getInt64(0), list.count), waiting);
  llvm::Value *isAlone = ir.CreateICmpEQ(before, ir.getInt64(0));
  emitConditional(ir, ir.CreateAnd(isNow, isAlone), [&] { callProduct(); });
  emitConditional(ir, ir.CreateAnd(isNow, ir.CreateNot(isAlone)), [&] {
    SmallVector<llvm::Value **> values{&list.first, &list.count, &firstD};
    addEnds(values);
    context.frame.callShared(name() + ".most" + std::to_string(list.most), values,
                             [&] { emitAmx(ir, tileProduct(list, firstD)); });
  });
}

AmxDot DotEmitter::tileProduct(const AnyAmxOperands &operands, llvm::Value *d) {
  return {.operands = operands,
          .d = d,
          .rows = rows,
          .columns = columns,
          .depth = depth,
          .startsAtZero = dot.startsAtZero,
          .ofBytes = element.isInteger(32),
          .endOfRows = endOfRows,
          .endOfColumns = endOfColumns};
}

void DotEmitter::emitProduct() {
  forEach(batch, 1, [&](llvm::Value *index) {
    llvm::Value *a = at(firstA, index, rows * depth), *b = at(firstB, index, depth * columns);
    llvm::Value *d = at(firstD, index, rows * columns);
    if (dot.form.usesTiles)
      return emitAmx(ir, tileProduct(AmxOperands{a, b, rowBytes}, d));
    if (dot.form.needsUnsignedA()) {
      makeAUnsigned(a);
      sumColumns(b);
    }
    emitColumns(a, b, d);
  });
}

/// Packs `b`, unless an earlier program has.
void DotEmitter::packUnlessKept() {
  const KeptTiles *operand = context.keptOperands.tilesIn(*dot.packed);
  if (!operand)
    return packB();
  emitConditional(ir, ir.CreateNot(operand->isKept), [&] { packB(); });
}

/// Packs `b` so that its columns, or groups of them, are adjacent.
void DotEmitter::packB() {
  llvm::Value *source = firstB;
  firstB = context.buffers.at(*dot.packed);
  forEach(batch, 1, [&](llvm::Value *index) {
    llvm::Value *from = at(source, index, depth * columns), *to = at(firstB, index, depth * columns);
    if (dot.b.isTransposed) // a group moves as one element
      emitTranspose(context, {from, to, columns, depth, element});
    else
      emitGrouping(context, {from, to, depth * dot.form.group, columns, operandElement}, dot.form.group);
  });
}

/// Adds 128 to the bytes of `a`, in a buffer of its own, where rows are dense.
void DotEmitter::makeAUnsigned(llvm::Value *&a) {
  const unsigned lanes = lanesDividing(depth);
  llvm::Type *type = context.lanes.typeOf(element, lanes);
  llvm::Value *signs = llvm::ConstantInt::get(type, 0x80808080);
  forEach(rows, 1, [&](llvm::Value *row) {
    llvm::Value *source = rowOf(a, row), *target = at(unsignedA, row, depth);
    forEach(depth, lanes, [&](llvm::Value *k) {
      llvm::Value *bytes = ir.CreateAlignedLoad(type, at(source, k, 1), llvm::Align(1));
      ir.CreateAlignedStore(ir.CreateXor(bytes, signs), at(target, k, 1), llvm::Align(size));
    });
  });
  a = unsignedA;
  rowBytes = ir.getInt64(depth * size);
}

/// Computes what the 128 added to `a` contribute to each column of the result.
void DotEmitter::sumColumns(llvm::Value *b) {
  const unsigned lanes = lanesDividing(columns);
  llvm::Type *type = context.lanes.typeOf(element, lanes);
  forEach(columns, lanes, [&](llvm::Value *column) {
    llvm::BasicBlock *before = ir.GetInsertBlock();
    llvm::Value *sum = llvm::Constant::getNullValue(type);
    forEach(depth, 1, [&](llvm::Value *k) {
      llvm::PHINode *phi = nullptr;
      if (depth > 1) {
        sum = phi = ir.CreatePHI(type, 2);
        phi->addIncoming(llvm::Constant::getNullValue(type), before);
      }
      llvm::Value *bytes = ir.CreateAlignedLoad(type, at(at(b, k, columns), column, 1), llvm::Align(size));
      sum = addGroups(llvm::ConstantInt::get(type, 0x80808080), bytes, sum);
      if (phi)
        phi->addIncoming(sum, ir.GetInsertBlock());
    });
    ir.CreateAlignedStore(sum, at(columnSums, column, 1), llvm::Align(size));
  });
}

/// Strips of a few vectors; the remainder in narrower ones.
void DotEmitter::emitColumns(llvm::Value *a, llvm::Value *b, llvm::Value *d) {
  const unsigned widest = context.machine.registerBits / (8 * size);
  const unsigned most = context.machine.hasAvx512 ? 4 : 2;
  for (int64_t begin = 0; begin < columns;) {
    const uint64_t left = columns - begin;
    const unsigned lanes = std::min<uint64_t>(widest, llvm::bit_floor(left));
    const unsigned vectors = lanes < widest ? 1 : std::min<uint64_t>(most, left / lanes);
    const int64_t width = lanes * vectors, count = left / width;
    llvm::Value *end = endOfColumns ? ir.CreateSub(endOfColumns, ir.getInt64(begin)) : nullptr;
    emitCounted(ir, count * width, end, width, [&](llvm::Value *column) {
      sums = columnSums ? at(at(columnSums, begin), column, 1) : nullptr;
      emitRows(a, at(at(b, begin), column, 1), at(at(d, begin), column, 1), begin == 0 ? column : nullptr, vectors,
               lanes);
    });
    begin += count * width;
  }
}

/// Enough accumulators to hide the latency of two multiply-adds a cycle, no more than the register file holds.
unsigned DotEmitter::rowsFor(unsigned vectors) const {
  constexpr unsigned enough = 10;
  const unsigned registers = context.machine.hasAvx512 ? 32 : 16;
  const unsigned most = std::min<int64_t>({(registers - 2 - vectors) / vectors, 16, rows});
  for (unsigned count = most; count * vectors >= enough; --count)
    if (rows % count == 0)
      return count;
  return most;
}

/// `column` counts the strips that prefetch the next iteration's tiles; null where these strips prefetch nothing.
void DotEmitter::emitRows(llvm::Value *a, llvm::Value *b, llvm::Value *d, llvm::Value *column, unsigned vectors,
                          unsigned lanes) {
  RegisterBlock block{rowsFor(vectors), vectors, lanes};
  const int64_t whole = rows - rows % block.rows, width = vectors * lanes;
  emitCounted(ir, whole, endOfRows, block.rows, [&](llvm::Value *row) {
    if (column && batch == 1) {
      llvm::Value *strip = ir.CreateMul(ir.CreateUDiv(column, ir.getInt64(width)), ir.getInt64(whole / block.rows));
      prefetcher.beginBlock(ir.CreateAdd(strip, ir.CreateUDiv(row, ir.getInt64(block.rows))),
                            columns / width * (whole / block.rows), depth / unroll());
    }
    emitBlock(rowOf(a, row), b, at(d, row, columns), block);
    prefetcher.endBlock();
  });
  if (whole == rows)
    return;
  block.rows = rows - whole;
  emitBlock(rowOf(a, ir.getInt64(whole)), b, at(d, whole * columns), block);
}

/// Adds the products of a group to each lane of the accumulator. Of bytes those of `x` are unsigned.
llvm::Value *DotEmitter::addGroups(llvm::Value *x, llvm::Value *y, llvm::Value *accumulator) {
  using namespace llvm::Intrinsic;
  const unsigned bits = accumulator->getType()->getPrimitiveSizeInBits();
  auto ofWidth = [bits](ID narrow, ID middle, ID wide) { return bits == 512 ? wide : bits == 256 ? middle : narrow; };
  ID id = not_intrinsic;
  llvm::Type *factor = ir.getInt16Ty();
  bool accumulates = true;
  if (operandElement.isBF16()) {
    id = ofWidth(x86_avx512bf16_dpbf16ps_128, x86_avx512bf16_dpbf16ps_256, x86_avx512bf16_dpbf16ps_512);
    factor = ir.getBFloatTy();
  } else if (dot.form.group == 4) {
    id = ofWidth(x86_avx512_vpdpbusd_128, x86_avx512_vpdpbusd_256, x86_avx512_vpdpbusd_512);
    factor = ir.getInt8Ty();
  } else if (context.machine.hasVnni) {
    id = ofWidth(x86_avx512_vpdpwssd_128, x86_avx512_vpdpwssd_256, x86_avx512_vpdpwssd_512);
  } else {
    id = ofWidth(x86_sse2_pmadd_wd, x86_avx2_pmadd_wd, x86_avx512_pmaddw_d_512);
    accumulates = false;
  }
  auto *type = llvm::FixedVectorType::get(factor, bits / factor->getScalarSizeInBits());
  llvm::Value *left = ir.CreateBitCast(x, type), *right = ir.CreateBitCast(y, type);
  if (accumulates)
    return ir.CreateIntrinsic(id, {}, {accumulator, left, right});
  return ir.CreateAdd(accumulator, ir.CreateIntrinsic(id, {}, {left, right}));
}

llvm::Value *DotEmitter::multiplyAdd(llvm::Value *x, llvm::Value *y, llvm::Value *accumulator) {
  if (dot.form.group > 1)
    return addGroups(x, y, accumulator);
  if (!isa<FloatType>(element))
    return ir.CreateAdd(ir.CreateMul(x, y), accumulator);
  if (context.machine.hasFma)
    return ir.CreateIntrinsic(llvm::Intrinsic::fma, {accumulator->getType()}, {x, y, accumulator});
  return ir.CreateFAdd(ir.CreateFMul(x, y), accumulator);
}

/// Emits one step along K.
void DotEmitter::accumulate(llvm::Value *a, llvm::Value *b, RegisterBlock block,
                            MutableArrayRef<llvm::Value *> accumulators) {
  llvm::Type *scalar = context.lanes.typeOf(element, 1), *vector = context.lanes.typeOf(element, block.lanes);
  SmallVector<llvm::Value *> right;
  for (unsigned index = 0; index < block.vectors; ++index)
    right.push_back(ir.CreateAlignedLoad(vector, at(b, index * block.lanes), llvm::Align(size)));
  for (unsigned row = 0; row < block.rows; ++row) {
    // The left operand may be the user's memory, where a group is aligned as its elements are.
    const llvm::Align align(storageBytes(operandElement));
    llvm::Value *left = ir.CreateAlignedLoad(scalar, rowOf(a, ir.getInt64(row)), align);
    if (block.lanes > 1)
      left = ir.CreateVectorSplat(block.lanes, left);
    for (unsigned index = 0; index < block.vectors; ++index) {
      llvm::Value *&accumulator = accumulators[row * block.vectors + index];
      accumulator = multiplyAdd(left, right[index], accumulator);
    }
  }
}

void DotEmitter::emitBlock(llvm::Value *a, llvm::Value *b, llvm::Value *d, RegisterBlock block) {
  llvm::Type *vector = context.lanes.typeOf(element, block.lanes);
  SmallVector<llvm::Value *> accumulators;
  auto address = [&](unsigned index) {
    return at(d, index / block.vectors * columns + index % block.vectors * block.lanes);
  };
  for (unsigned index = 0; index < block.rows * block.vectors; ++index) {
    llvm::Value *first = llvm::Constant::getNullValue(vector);
    if (!dot.startsAtZero)
      first = ir.CreateAlignedLoad(vector, address(index), llvm::Align(size));
    if (sums)
      first = ir.CreateSub(
          first, ir.CreateAlignedLoad(vector, at(sums, index % block.vectors * block.lanes), llvm::Align(size)));
    accumulators.push_back(first);
  }
  const unsigned unroll = this->unroll();
  llvm::BasicBlock *before = ir.GetInsertBlock();
  SmallVector<llvm::PHINode *> phis;
  forEach(depth, unroll, [&](llvm::Value *k) {
    if (depth > unroll) {
      for (llvm::Value *&accumulator : accumulators) {
        phis.push_back(ir.CreatePHI(vector, 2));
        phis.back()->addIncoming(accumulator, before);
        accumulator = phis.back();
      }
    }
    prefetcher.prefetch(ir.CreateUDiv(k, ir.getInt64(unroll)));
    llvm::Value *left = at(a, k, depthStride), *right = at(b, k, columns);
    for (unsigned step = 0; step < unroll; ++step)
      accumulate(at(left, step * depthStride), at(right, step * columns), block, accumulators);
    for (auto [phi, accumulator] : llvm::zip(phis, accumulators))
      phi->addIncoming(accumulator, ir.GetInsertBlock());
  });
  for (auto [index, accumulator] : llvm::enumerate(accumulators))
    ir.CreateAlignedStore(accumulator, address(index), llvm::Align(size));
}

void cpu::emitDot(EmitContext &context, const Step &step) { DotEmitter(context, step).run(); }
