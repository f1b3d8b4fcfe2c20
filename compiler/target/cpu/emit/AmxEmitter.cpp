// Emits a dot of matrices of bf16 or bytes with the matrix tiles of AMX: 16 rows of 64 bytes each, eight of them.
// SPDX-License-Identifier: MIT
//
// A block of the result is in up to four tile registers over the loop along K. Wide blocks are one tile high: each tile
// of `a`, which may lie in memory with rows that conflict in the first-level cache, is then loaded once. Registers are
// chosen here, since those that LLVM chooses are configured anew in each function, which takes as long as ten products.
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
constexpr unsigned registers = 8, accumulators = 4;

struct AmxEmitter {
  KernelEmitter &function;
  llvm::IRBuilder<> &ir;
  const AmxDot &work;

  AmxEmitter(KernelEmitter &function, const AmxDot &work) : function(function), ir(function.ir), work(work) {}

  llvm::Value *at(llvm::Value *base, llvm::Value *row, llvm::Value *column, int64_t width) {
    llvm::Value *index = ir.CreateAdd(ir.CreateMul(row, ir.getInt64(width)), column);
    return ir.CreatePtrAdd(base, ir.CreateMul(index, ir.getInt64(unitBytes)));
  }
  llvm::Value *tile(llvm::Value *base, int64_t row, int64_t column) {
    return ir.CreateConstGEP1_64(ir.getInt8Ty(), base, (row * work.columns + column) * unitBytes);
  }
  llvm::Value *rowOfA(llvm::Value *a, llvm::Value *row) { return ir.CreatePtrAdd(a, ir.CreateMul(row, work.rowBytes)); }
  llvm::Value *denseRow() { return ir.getInt64(work.columns * unitBytes); }
  llvm::Value *number(unsigned tileRegister) { return ir.getInt8(tileRegister); }
  void load(unsigned to, llvm::Value *from, llvm::Value *stride) {
    ir.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64, {}, {number(to), from, stride});
  }
  void multiplyAdd(unsigned accumulator, unsigned a, unsigned b) {
    ir.CreateIntrinsic(work.ofBytes ? llvm::Intrinsic::x86_tdpbssd : llvm::Intrinsic::x86_tdpbf16ps, {},
                       {number(accumulator), number(a), number(b)});
  }

  void run();
  void emitBlock(llvm::Value *a, llvm::Value *b, llvm::Value *d, unsigned down, unsigned across);
  void emitProducts(llvm::Value *a, llvm::Value *b, unsigned down, unsigned across);
};

} // namespace

/// Adds the products of one tile along K. The tiles of the shorter side of the block stay loaded; those of the other
/// one take turns in the registers that are left.
void AmxEmitter::emitProducts(llvm::Value *a, llvm::Value *b, unsigned down, unsigned across) {
  auto loadA = [&](unsigned to, unsigned row) { load(to, rowOfA(a, ir.getInt64(row * edge)), work.rowBytes); };
  auto loadB = [&](unsigned to, unsigned column) { load(to, tile(b, 0, column * edge), denseRow()); };
  const bool isWide = across > down;
  const unsigned shorter = isWide ? down : across, longer = isWide ? across : down;
  for (unsigned index = 0; index < shorter; ++index)
    isWide ? loadA(accumulators + index, index) : loadB(accumulators + index, index);
  const unsigned firstTurn = accumulators + shorter;
  for (unsigned turn = 0; turn < longer; ++turn) {
    const unsigned loaded = firstTurn + turn % (registers - firstTurn);
    isWide ? loadB(loaded, turn) : loadA(loaded, turn);
    for (unsigned index = 0; index < shorter; ++index) {
      const unsigned stays = accumulators + index;
      isWide ? multiplyAdd(index * across + turn, stays, loaded) : multiplyAdd(turn * across + index, loaded, stays);
    }
  }
}

/// One block of down x across tiles.
void AmxEmitter::emitBlock(llvm::Value *a, llvm::Value *b, llvm::Value *d, unsigned down, unsigned across) {
  auto address = [&](unsigned index) { return tile(d, index / across * edge, index % across * edge); };
  for (unsigned index = 0; index < down * across; ++index)
    if (work.startsAtZero)
      ir.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {}, ArrayRef(number(index)));
    else
      load(index, address(index), denseRow());
  emitCounted(ir, work.depth, edge, [&](llvm::Value *k) {
    emitProducts(ir.CreatePtrAdd(a, ir.CreateMul(k, ir.getInt64(unitBytes))), at(b, k, ir.getInt64(0), work.columns),
                 down, across);
  });
  for (unsigned index = 0; index < down * across; ++index)
    ir.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64, {}, {number(index), address(index), denseRow()});
}

/// Strips of `across` tiles of columns, of blocks that are `down` tiles high. Extents are powers of two.
void AmxEmitter::run() {
  const int64_t across = std::min<int64_t>(work.columns / edge, accumulators);
  const int64_t down = std::min<int64_t>(work.rows / edge, accumulators / across);
  llvm::Value *zero = ir.getInt64(0);
  emitCounted(ir, work.columns, work.endOfColumns, across * edge, [&](llvm::Value *column) {
    llvm::Value *b = at(work.b, zero, column, work.columns), *d = at(work.d, zero, column, work.columns);
    emitCounted(ir, work.rows, work.endOfRows, down * edge, [&](llvm::Value *row) {
      emitBlock(rowOfA(work.a, row), b, at(d, row, zero, work.columns), down, across);
    });
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

void cpu::emitBeginOfTiles(llvm::IRBuilder<> &ir) {
  llvm::Module &module = *ir.GetInsertBlock()->getModule();
  askForTiles(module);
  SmallVector<uint8_t> bytes(64, 0);
  constexpr unsigned palette = 0, firstWidth = 16, firstHeight = 48;
  bytes[palette] = 1;
  for (unsigned index = 0; index < registers; ++index) {
    bytes[firstWidth + 2 * index] = edge * unitBytes;
    bytes[firstHeight + index] = edge;
  }
  llvm::Constant *shapes = llvm::ConstantDataArray::get(ir.getContext(), bytes);
  auto *table = new llvm::GlobalVariable(module, shapes->getType(), /*isConstant=*/true,
                                         llvm::GlobalValue::PrivateLinkage, shapes, "tiles");
  ir.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, ArrayRef<llvm::Value *>(table));
}

void cpu::emitEndOfTiles(llvm::IRBuilder<> &ir) { ir.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}); }

void cpu::emitAmx(KernelEmitter &function, const AmxDot &work) { AmxEmitter(function, work).run(); }
