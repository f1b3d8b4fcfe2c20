// Emits a product of tiles: loops over register blocks of the result, each with a loop over K inside.
// SPDX-License-Identifier: MIT
//
// Operands and result lie densely in buffers, so that every address is a base and a constant. One block keeps
// rows x vectors sums in registers; for each k it reads `vectors` vectors of b and one number of a per row, which
// is spread over the lanes by the load itself. So `a` may lie in either order; `b` is turned first where its columns
// are not neighbours.
#include "compiler/target/cpu/ProductEmitter.h"

#include "compiler/target/cpu/Transpose.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

struct Block {
  unsigned rows = 1;
  unsigned vectors = 1;
  unsigned lanes = 1;
};

class ProductEmitter {
public:
  ProductEmitter(FunctionEmitter &function, const Step &step);
  void run();

private:
  void emitColumns(llvm::Value *a, llvm::Value *b, llvm::Value *d);
  void emitRows(llvm::Value *a, llvm::Value *b, llvm::Value *d, unsigned vectors, unsigned lanes);
  void emitBlock(llvm::Value *a, llvm::Value *b, llvm::Value *d, Block block);
  void accumulate(llvm::Value *a, llvm::Value *b, Block block, MutableArrayRef<llvm::Value *> sums);
  unsigned rowsFor(unsigned vectors) const;
  llvm::Value *multiplyAdd(llvm::Value *x, llvm::Value *y, llvm::Value *sum);
  llvm::Value *at(llvm::Value *base, int64_t element) {
    return ir.CreateConstGEP1_64(ir.getInt8Ty(), base, element * size);
  }
  llvm::Value *at(llvm::Value *base, llvm::Value *index, int64_t stride) {
    return ir.CreatePtrAdd(base, ir.CreateMul(index, ir.getInt64(stride * size), "", true, true));
  }
  void forEach(int64_t end, int64_t step, llvm::function_ref<void(llvm::Value *)> body) {
    emitCounted(ir, end, step, body);
  }

  FunctionEmitter &function;
  llvm::IRBuilder<> &ir;
  const Product &product;
  llvm::Value *firstA, *firstB, *firstD;
  Type element;
  int64_t batch = 1, rows, columns, depth;
  int64_t rowStride, depthStride; ///< of a, in elements
  int64_t size; ///< of an element
};

} // namespace

ProductEmitter::ProductEmitter(FunctionEmitter &function, const Step &step)
    : function(function), ir(function.ir), product(*step.product) {
  auto dot = cast<tt::DotOp>(step.op);
  ArrayRef<int64_t> a = tt::shapeOf(dot.getA().getType()), d = tt::shapeOf(dot.getType());
  if (d.size() == 3)
    batch = d.front();
  rows = d[d.size() - 2];
  columns = d.back();
  depth = a.back();
  element = tt::elementOf(dot.getType());
  size = storageBytes(element);
  auto operand = [&](const Product::Operand &operand) {
    return operand.value ? function.bufferOf(operand.value) : function.buffer(operand.buffer);
  };
  firstA = operand(product.a);
  firstB = operand(product.b);
  firstD = function.nextBuffer(product.d);
  rowStride = product.a.isTransposed ? 1 : depth;
  depthStride = product.a.isTransposed ? rows : 1;
}

void ProductEmitter::run() {
  if (product.turned) {
    llvm::Value *source = firstB;
    firstB = function.buffer(*product.turned);
    forEach(batch, 1, [&](llvm::Value *index) {
      emitTranspose(function, {at(source, index, depth * columns), at(firstB, index, depth * columns), columns, depth, element});
    });
  }
  forEach(batch, 1, [&](llvm::Value *index) {
    emitColumns(at(firstA, index, rows * depth), at(firstB, index, depth * columns), at(firstD, index, rows * columns));
  });
}

/// Strips of a few vectors; what is left over in narrower ones.
void ProductEmitter::emitColumns(llvm::Value *a, llvm::Value *b, llvm::Value *d) {
  const unsigned widest = function.machine.registerBits / (8 * size);
  const unsigned most = function.machine.hasAvx512 ? 4 : 2;
  for (int64_t begin = 0; begin < columns;) {
    const uint64_t left = columns - begin;
    const unsigned lanes = std::min<uint64_t>(widest, llvm::bit_floor(left));
    const unsigned vectors = lanes < widest ? 1 : std::min<uint64_t>(most, left / lanes);
    const int64_t width = lanes * vectors, count = left / width;
    forEach(count * width, width, [&](llvm::Value *column) {
      emitRows(a, at(at(b, begin), column, 1), at(at(d, begin), column, 1), vectors, lanes);
    });
    begin += count * width;
  }
}

/// Enough sums to hide the latency of two multiply-adds a cycle, no more than the register file holds.
unsigned ProductEmitter::rowsFor(unsigned vectors) const {
  constexpr unsigned enough = 10;
  const unsigned registers = function.machine.hasAvx512 ? 32 : 16;
  const unsigned most = std::min<int64_t>({(registers - 2 - vectors) / vectors, 16, rows});
  for (unsigned count = most; count * vectors >= enough; --count)
    if (rows % count == 0)
      return count;
  return most;
}

void ProductEmitter::emitRows(llvm::Value *a, llvm::Value *b, llvm::Value *d, unsigned vectors, unsigned lanes) {
  Block block{rowsFor(vectors), vectors, lanes};
  const int64_t whole = rows - rows % block.rows;
  forEach(whole, block.rows, [&](llvm::Value *row) { emitBlock(at(a, row, rowStride), b, at(d, row, columns), block); });
  if (whole == rows)
    return;
  block.rows = rows - whole;
  emitBlock(at(a, whole * rowStride), b, at(d, whole * columns), block);
}

llvm::Value *ProductEmitter::multiplyAdd(llvm::Value *x, llvm::Value *y, llvm::Value *sum) {
  if (!isa<FloatType>(element))
    return ir.CreateAdd(ir.CreateMul(x, y), sum);
  if (function.machine.hasFma)
    return ir.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {x, y, sum});
  return ir.CreateFAdd(ir.CreateFMul(x, y), sum);
}

/// One k.
void ProductEmitter::accumulate(llvm::Value *a, llvm::Value *b, Block block, MutableArrayRef<llvm::Value *> sums) {
  llvm::Type *scalar = function.lanes.typeOf(element, 1), *vector = function.lanes.typeOf(element, block.lanes);
  SmallVector<llvm::Value *> right;
  for (unsigned index = 0; index < block.vectors; ++index)
    right.push_back(ir.CreateAlignedLoad(vector, at(b, index * block.lanes), llvm::Align(size)));
  for (unsigned row = 0; row < block.rows; ++row) {
    llvm::Value *left = ir.CreateLoad(scalar, at(a, row * rowStride));
    if (block.lanes > 1)
      left = ir.CreateVectorSplat(block.lanes, left);
    for (unsigned index = 0; index < block.vectors; ++index) {
      llvm::Value *&sum = sums[row * block.vectors + index];
      sum = multiplyAdd(left, right[index], sum);
    }
  }
}

void ProductEmitter::emitBlock(llvm::Value *a, llvm::Value *b, llvm::Value *d, Block block) {
  llvm::Type *vector = function.lanes.typeOf(element, block.lanes);
  SmallVector<llvm::Value *> sums;
  auto place = [&](unsigned index) {
    return at(d, index / block.vectors * columns + index % block.vectors * block.lanes);
  };
  for (unsigned index = 0; index < block.rows * block.vectors; ++index)
    sums.push_back(product.startsAtZero ? llvm::Constant::getNullValue(vector)
                                        : static_cast<llvm::Value *>(ir.CreateAlignedLoad(vector, place(index), llvm::Align(size))));
  unsigned unroll = depth % 4 == 0 ? 4 : depth % 2 == 0 ? 2 : 1;
  llvm::BasicBlock *before = ir.GetInsertBlock();
  SmallVector<llvm::PHINode *> phis;
  forEach(depth, unroll, [&](llvm::Value *k) {
    if (depth > unroll) {
      for (llvm::Value *&sum : sums) {
        phis.push_back(ir.CreatePHI(vector, 2));
        phis.back()->addIncoming(sum, before);
        sum = phis.back();
      }
    }
    llvm::Value *left = at(a, k, depthStride), *right = at(b, k, columns);
    for (unsigned step = 0; step < unroll; ++step)
      accumulate(at(left, step * depthStride), at(right, step * columns), block, sums);
    for (auto [phi, sum] : llvm::zip(phis, sums))
      phi->addIncoming(sum, ir.GetInsertBlock());
  });
  for (auto [index, sum] : llvm::enumerate(sums))
    ir.CreateAlignedStore(sum, place(index), llvm::Align(size));
}

void cpu::emitProduct(FunctionEmitter &function, const Step &step) { ProductEmitter(function, step).run(); }
