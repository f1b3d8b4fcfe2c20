// Emits copies of a matrix in a different order: transposed, in square blocks of as many rows as a register has lanes,
// or with rows interleaved.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/Transpose.h"

#include "compiler/target/cpu/emit/ControlFlow.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

void cpu::emitPrefetch(llvm::IRBuilder<> &ir, llvm::Value *address, bool isWrite) {
  // Kept in the second-level cache, data: the first level is needed for what runs now.
  ir.CreateIntrinsic(llvm::Intrinsic::prefetch, {ir.getPtrTy()},
                     {address, ir.getInt32(isWrite), ir.getInt32(2), ir.getInt32(1)});
}

/// Swaps the off-diagonal halves of ever smaller blocks: after the last step row i holds column i.
static void transposeInRegisters(llvm::IRBuilder<> &ir, SmallVectorImpl<llvm::Value *> &rows) {
  const unsigned count = rows.size();
  for (unsigned half = count / 2; half >= 1; half /= 2) {
    SmallVector<int> upper, lower;
    for (unsigned lane = 0; lane < count; ++lane) {
      const bool isSecond = lane & half;
      upper.push_back(isSecond ? lane - half + count : lane);
      lower.push_back(isSecond ? lane + count : lane + half);
    }
    for (unsigned row = 0; row < count; ++row) {
      if (row & half)
        continue;
      llvm::Value *first = rows[row], *second = rows[row + half];
      rows[row] = ir.CreateShuffleVector(first, second, upper);
      rows[row + half] = ir.CreateShuffleVector(first, second, lower);
    }
  }
}

static void emitTransposition(EmitContext &context, const Transposition &work) {
  llvm::IRBuilder<> &ir = context.ir;
  const uint64_t size = storageBytes(work.element);
  const unsigned lanes =
      lanesDividing(work.rows, lanesDividing(work.columns, context.machine.registerBits / (8 * size)));
  llvm::Type *type = context.lanes.typeOf(work.element, lanes);
  llvm::Value *fromStride = work.rowStride ? work.rowStride : ir.getInt64(work.columns * size);
  auto at = [&](llvm::Value *base, llvm::Value *row, llvm::Value *column, llvm::Value *stride) {
    llvm::Value *begin = ir.CreatePtrAdd(base, ir.CreateMul(row, stride));
    return ir.CreatePtrAdd(begin, ir.CreateMul(column, ir.getInt64(size)));
  };
  emitCounted(ir, work.rows, lanes, [&](llvm::Value *row) {
    emitCounted(ir, work.columns, lanes, [&](llvm::Value *column) {
      llvm::Value *from = at(work.from, row, column, fromStride);
      llvm::Value *to = at(work.to, column, row, ir.getInt64(work.rows * size));
      SmallVector<llvm::Value *> block;
      for (unsigned index = 0; index < lanes; ++index) {
        llvm::Value *address = ir.CreatePtrAdd(from, ir.CreateMul(ir.getInt64(index), fromStride));
        block.push_back(ir.CreateAlignedLoad(type, address, llvm::Align(size)));
      }
      if (lanes > 1)
        transposeInRegisters(ir, block);
      for (auto [index, value] : llvm::enumerate(block))
        ir.CreateAlignedStore(value, ir.CreateConstGEP1_64(ir.getInt8Ty(), to, index * work.rows * size),
                              llvm::Align(size));
    });
  });
}

void cpu::emitTranspose(EmitContext &context, Transposition work) {
  std::string name;
  llvm::raw_string_ostream(name) << "transpose." << work.rows << "x" << work.columns << "." << work.element;
  SmallVector<llvm::Value **> values{&work.from, &work.to};
  if (work.rowStride) {
    values.push_back(&work.rowStride);
    name += ".rows";
  }
  context.frame.callShared(name, values, [&] { emitTransposition(context, work); });
}

void cpu::emitGrouping(EmitContext &context, const Transposition &work, unsigned group) {
  llvm::IRBuilder<> &ir = context.ir;
  const int64_t size = storageBytes(work.element), rowBytes = work.columns * size;
  const unsigned lanes = lanesDividing(work.columns, context.machine.registerBits / (8 * group * size));
  auto *type = llvm::FixedVectorType::get(context.lanes.typeOf(work.element, 1), lanes);
  /// One vector of the elements of all rows by turns.
  auto interleaved = [&](SmallVector<llvm::Value *, 4> rows) {
    for (unsigned together = 1; rows.size() > 1; together *= 2) {
      SmallVector<int> order;
      for (unsigned lane = 0; lane < lanes; ++lane)
        for (unsigned index = 0; index < 2 * together; ++index)
          order.push_back(lane * together + index % together + (index < together ? 0 : lanes * together));
      SmallVector<llvm::Value *, 4> merged;
      for (unsigned row = 0; row < rows.size(); row += 2)
        merged.push_back(ir.CreateShuffleVector(rows[row], rows[row + 1], order));
      rows = std::move(merged);
    }
    return rows.front();
  };
  emitCounted(ir, work.rows, group, [&](llvm::Value *row) {
    emitCounted(ir, work.columns, lanes, [&](llvm::Value *column) {
      llvm::Value *begin = ir.CreateMul(row, ir.getInt64(rowBytes));
      llvm::Value *from = ir.CreatePtrAdd(work.from, ir.CreateAdd(begin, ir.CreateMul(column, ir.getInt64(size))));
      llvm::Value *to = ir.CreatePtrAdd(work.to, ir.CreateAdd(begin, ir.CreateMul(column, ir.getInt64(group * size))));
      SmallVector<llvm::Value *, 4> rows;
      for (unsigned index = 0; index < group; ++index)
        rows.push_back(ir.CreateAlignedLoad(type, ir.CreateConstGEP1_64(ir.getInt8Ty(), from, index * rowBytes),
                                            llvm::Align(size)));
      ir.CreateAlignedStore(interleaved(std::move(rows)), to, llvm::Align(size));
    });
  });
}
