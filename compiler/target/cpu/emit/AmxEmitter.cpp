// Emits a dot of matrices of bf16 or bytes with the matrix tiles of AMX: 16 rows of 64 bytes each, eight of them.
// SPDX-License-Identifier: MIT
//
// Four accumulator tiles, two of `a`, two of `b`: each loaded tile is multiplied twice. LLVM chooses tile registers and
// configures them; accumulators stay in them over the loop along K.
#include "compiler/target/cpu/emit/AmxEmitter.h"

#include "compiler/target/cpu/emit/Transpose.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

constexpr int64_t edge = 16, unitBytes = 4;

struct AmxEmitter {
  KernelEmitter &function;
  llvm::IRBuilder<> &ir;
  const AmxDot &work;
  llvm::Value *sixteen, *rowBytes;

  AmxEmitter(KernelEmitter &function, const AmxDot &work)
      : function(function), ir(function.ir), work(work), sixteen(ir.getInt16(edge)),
        rowBytes(ir.getInt16(edge * unitBytes)) {}

  llvm::Value *at(llvm::Value *base, llvm::Value *row, llvm::Value *column, int64_t width) {
    llvm::Value *index = ir.CreateAdd(ir.CreateMul(row, ir.getInt64(width)), column);
    return ir.CreatePtrAdd(base, ir.CreateMul(index, ir.getInt64(unitBytes)));
  }
  llvm::Value *tile(llvm::Value *base, int64_t row, int64_t column, int64_t width) {
    return ir.CreateConstGEP1_64(ir.getInt8Ty(), base, (row * width + column) * unitBytes);
  }
  llvm::Value *load(llvm::Value *from, llvm::Value *stride) {
    return ir.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64_internal, {}, {sixteen, rowBytes, from, stride});
  }
  llvm::Value *load(llvm::Value *from, int64_t width) { return load(from, ir.getInt64(width * unitBytes)); }
  llvm::Value *rowOfA(llvm::Value *a, llvm::Value *row) { return ir.CreatePtrAdd(a, ir.CreateMul(row, work.rowBytes)); }
  llvm::Value *multiplyAdd(llvm::Value *accumulator, llvm::Value *a, llvm::Value *b) {
    return ir.CreateIntrinsic(work.ofBytes ? llvm::Intrinsic::x86_tdpbssd_internal
                                           : llvm::Intrinsic::x86_tdpbf16ps_internal,
                              {}, {sixteen, rowBytes, rowBytes, accumulator, a, b});
  }

  void emitRows(int64_t firstColumn, int64_t columnCount, unsigned across);
  void emitBlock(llvm::Value *a, llvm::Value *b, llvm::Value *d, unsigned down, unsigned across);
};

} // namespace

/// One register block of down x across tiles.
void AmxEmitter::emitBlock(llvm::Value *a, llvm::Value *b, llvm::Value *d, unsigned down, unsigned across) {
  SmallVector<llvm::Value *> accumulators;
  auto address = [&](unsigned index) { return tile(d, index / across * edge, index % across * edge, work.columns); };
  for (unsigned index = 0; index < down * across; ++index)
    accumulators.push_back(work.startsAtZero
                               ? ir.CreateIntrinsic(llvm::Intrinsic::x86_tilezero_internal, {}, {sixteen, rowBytes})
                               : load(address(index), work.columns));
  llvm::BasicBlock *before = ir.GetInsertBlock();
  SmallVector<llvm::PHINode *> phis;
  emitCounted(ir, work.depth, edge, [&](llvm::Value *k) {
    if (work.depth > edge)
      for (llvm::Value *&accumulator : accumulators) {
        phis.push_back(ir.CreatePHI(llvm::Type::getX86_AMXTy(ir.getContext()), 2));
        phis.back()->addIncoming(accumulator, before);
        accumulator = phis.back();
      }
    llvm::Value *zero = ir.getInt64(0);
    llvm::Value *left = ir.CreatePtrAdd(a, ir.CreateMul(k, ir.getInt64(unitBytes))),
                *right = at(b, k, zero, work.columns);
    SmallVector<llvm::Value *, 2> columns;
    for (unsigned index = 0; index < across; ++index)
      columns.push_back(load(tile(right, 0, index * edge, work.columns), work.columns));
    for (unsigned row = 0; row < down; ++row) {
      llvm::Value *rows = load(rowOfA(left, ir.getInt64(row * edge)), work.rowBytes);
      for (unsigned index = 0; index < across; ++index) {
        llvm::Value *&accumulator = accumulators[row * across + index];
        accumulator = multiplyAdd(accumulator, rows, columns[index]);
      }
    }
    for (auto [phi, accumulator] : llvm::zip(phis, accumulators))
      phi->addIncoming(accumulator, ir.GetInsertBlock());
  });
  for (auto [index, accumulator] : llvm::enumerate(accumulators))
    ir.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64_internal, {},
                       {sixteen, rowBytes, address(index), ir.getInt64(work.columns * unitBytes), accumulator});
}

/// Emits `columnCount` columns from `firstColumn` on, in strips of `across` tiles.
void AmxEmitter::emitRows(int64_t firstColumn, int64_t columnCount, unsigned across) {
  const int64_t even = work.rows - work.rows % (2 * edge);
  llvm::Value *end = work.endOfColumns ? ir.CreateSub(work.endOfColumns, ir.getInt64(firstColumn)) : nullptr;
  emitCounted(ir, columnCount, end, across * edge, [&](llvm::Value *strip) {
    llvm::Value *column = ir.CreateAdd(strip, ir.getInt64(firstColumn)), *zero = ir.getInt64(0);
    llvm::Value *b = at(work.b, zero, column, work.columns), *d = at(work.d, zero, column, work.columns);
    if (even)
      emitCounted(ir, even, work.endOfRows, 2 * edge, [&](llvm::Value *row) {
        emitBlock(rowOfA(work.a, row), b, at(d, row, zero, work.columns), 2, across);
      });
    if (even < work.rows)
      emitBlock(rowOfA(work.a, ir.getInt64(even)), b, tile(d, even, 0, work.columns), 1, across);
  });
}

/// Linux gives a process the state of matrix tiles on request: the object makes the request when it is loaded, once for
/// all threads.
static void askForTiles(llvm::Module &module) {
  constexpr const char *name = "nereid_ask_for_tiles";
  if (module.getFunction(name))
    return;
  constexpr int64_t archPrctl = 158, requestPermission = 0x1023, tileData = 18;
  llvm::LLVMContext &context = module.getContext();
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto *function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(context, "entry", function));
  llvm::Type *word = ir.getInt64Ty();
  auto *call = llvm::InlineAsm::get(llvm::FunctionType::get(word, {word, word, word}, false), "syscall",
                                    "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory}", /*hasSideEffects=*/true);
  ir.CreateCall(call, {ir.getInt64(archPrctl), ir.getInt64(requestPermission), ir.getInt64(tileData)});
  ir.CreateRetVoid();
  llvm::appendToGlobalCtors(module, function, /*Priority=*/0);
}

void cpu::emitAmx(KernelEmitter &function, const AmxDot &work) {
  askForTiles(*function.ir.GetInsertBlock()->getModule());
  AmxEmitter emitter(function, work);
  const int64_t even = work.columns - work.columns % (2 * edge);
  if (even)
    emitter.emitRows(0, even, 2);
  if (even < work.columns)
    emitter.emitRows(even, edge, 1);
}
