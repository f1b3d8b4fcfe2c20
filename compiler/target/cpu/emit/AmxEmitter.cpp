// Emits a dot of matrices of bf16 or bytes with the matrix tiles of AMX: 16 rows of 64 bytes each, eight of them.
// SPDX-License-Identifier: MIT
//
// A block of the result is in up to four tile registers over the loop along K. Wide blocks are one tile high: a strip
// of four tiles then loads each tile of `a`, which may lie in memory with rows that conflict in the first-level cache,
// once. Registers are chosen here: those that LLVM chooses are configured anew in each function, which takes as long as
// ten multiplications.
#include "compiler/target/cpu/emit/AmxEmitter.h"

#include "compiler/target/cpu/emit/ControlFlow.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <array>

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

constexpr int64_t edge = 16, unitBytes = 4;
constexpr unsigned registers = 8, accumulators = 4, firstOperand = accumulators;

struct AmxEmitter {
  llvm::IRBuilder<> &ir;
  const AmxDot &work;

  llvm::Value *at(llvm::Value *base, llvm::Value *row, llvm::Value *column) {
    llvm::Value *index = ir.CreateAdd(ir.CreateMul(row, ir.getInt64(work.columns)), column);
    return ir.CreatePtrAdd(base, ir.CreateMul(index, ir.getInt64(unitBytes)));
  }
  llvm::Value *at(llvm::Value *base, int64_t row, int64_t column) {
    return ir.CreateConstGEP1_64(ir.getInt8Ty(), base, (row * work.columns + column) * unitBytes);
  }
  llvm::Value *rowOfA(const AmxOperands &operands, llvm::Value *row) {
    return ir.CreatePtrAdd(operands.a, ir.CreateMul(row, operands.rowBytes));
  }
  llvm::Value *denseRow() { return ir.getInt64(work.columns * unitBytes); }
  llvm::Value *number(unsigned tileRegister) { return ir.getInt8(tileRegister); }
  void load(unsigned to, llvm::Value *from, llvm::Value *stride) {
    ir.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64, {}, {number(to), from, stride});
  }
  void multiplyAdd(unsigned accumulator, unsigned a, unsigned b) {
    ir.CreateIntrinsic(work.ofBytes ? llvm::Intrinsic::x86_tdpbssd : llvm::Intrinsic::x86_tdpbf16ps, {},
                       {number(accumulator), number(a), number(b)});
  }

  void emitStrips(int64_t firstColumn, int64_t columnCount, unsigned across);
  void emitBlock(llvm::Value *row, llvm::Value *column, llvm::Value *d, unsigned down, unsigned across);
  void emitTileDots(const AmxOperands &operands, unsigned down, unsigned across);
  void forEachPair(llvm::function_ref<void(const AmxOperands &)> body);
};

} // namespace

/// Multiplies one tile along K. The operands of the block's shorter side stay loaded, those of the other one follow
/// each other in the registers that are left.
void AmxEmitter::emitTileDots(const AmxOperands &operands, unsigned down, unsigned across) {
  const bool isWide = across > down;
  const unsigned shorter = isWide ? down : across, longer = isWide ? across : down;
  auto loadOf = [&](bool isA, unsigned to, unsigned index) {
    if (isA)
      load(to, rowOfA(operands, ir.getInt64(index * edge)), operands.rowBytes);
    else
      load(to, at(operands.b, 0, index * edge), denseRow());
  };
  for (unsigned index = 0; index < shorter; ++index)
    loadOf(isWide, firstOperand + index, index);
  const unsigned firstFollowing = firstOperand + shorter;
  for (unsigned outer = 0; outer < longer; ++outer) {
    const unsigned following = firstFollowing + outer % (registers - firstFollowing);
    loadOf(!isWide, following, outer);
    for (unsigned inner = 0; inner < shorter; ++inner) {
      if (isWide)
        multiplyAdd(inner * across + outer, firstOperand + inner, following);
      else
        multiplyAdd(outer * across + inner, following, firstOperand + inner);
    }
  }
}

/// Visits the operands whose products are added.
void AmxEmitter::forEachPair(llvm::function_ref<void(const AmxOperands &)> body) {
  if (const auto *one = std::get_if<AmxOperands>(&work.operands))
    return body(*one);
  const auto &list = std::get<AmxOperandList>(work.operands);
  emitCounted(ir, list.most, list.count, 1, [&](llvm::Value *index) { body(list.load(ir, index)); });
}

/// One block of down x across tiles, from a row and a column of the operands on.
void AmxEmitter::emitBlock(llvm::Value *row, llvm::Value *column, llvm::Value *d, unsigned down, unsigned across) {
  auto address = [&](unsigned index) { return at(d, index / across * edge, index % across * edge); };
  for (unsigned index = 0; index < down * across; ++index)
    if (work.startsAtZero)
      ir.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {}, ArrayRef(number(index)));
    else
      load(index, address(index), denseRow());
  forEachPair([&](const AmxOperands &operands) {
    llvm::Value *a = rowOfA(operands, row), *b = at(operands.b, ir.getInt64(0), column);
    emitCounted(ir, work.depth, edge, [&](llvm::Value *k) {
      emitTileDots(
          {ir.CreatePtrAdd(a, ir.CreateMul(k, ir.getInt64(unitBytes))), at(b, k, ir.getInt64(0)), operands.rowBytes},
          down, across);
    });
  });
  for (unsigned index = 0; index < down * across; ++index)
    ir.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64, {}, {number(index), address(index), denseRow()});
}

/// Emits `columnCount` columns from `firstColumn` on, in strips of `across` tiles.
void AmxEmitter::emitStrips(int64_t firstColumn, int64_t columnCount, unsigned across) {
  const int64_t height = accumulators / across * edge, rest = work.rows % height, whole = work.rows - rest;
  llvm::Value *end = work.endOfColumns ? ir.CreateSub(work.endOfColumns, ir.getInt64(firstColumn)) : nullptr;
  emitCounted(ir, columnCount, end, across * edge, [&](llvm::Value *strip) {
    llvm::Value *column = ir.CreateAdd(strip, ir.getInt64(firstColumn)), *zero = ir.getInt64(0);
    llvm::Value *d = at(work.d, zero, column);
    if (whole)
      emitCounted(ir, whole, work.endOfRows, height,
                  [&](llvm::Value *row) { emitBlock(row, column, at(d, row, zero), height / edge, across); });
    if (rest)
      emitBlock(ir.getInt64(whole), column, at(d, whole, 0), rest / edge, across);
  });
}

static llvm::StructType *operandsType(llvm::LLVMContext &context) {
  auto *pointer = llvm::PointerType::get(context, 0);
  return llvm::StructType::get(context, {pointer, pointer, llvm::Type::getInt64Ty(context)});
}

llvm::ArrayType *AmxOperandList::typeOf(llvm::LLVMContext &context, unsigned most) {
  return llvm::ArrayType::get(operandsType(context), most);
}

void AmxOperandList::store(llvm::IRBuilder<> &ir, const AmxOperands &operands, llvm::Value *index) const {
  llvm::StructType *type = operandsType(ir.getContext());
  llvm::Value *entry = ir.CreateGEP(type, first, index);
  for (auto [field, value] : llvm::enumerate(std::array{operands.a, operands.b, operands.rowBytes}))
    ir.CreateStore(value, ir.CreateStructGEP(type, entry, field));
}

AmxOperands AmxOperandList::load(llvm::IRBuilder<> &ir, llvm::Value *index) const {
  llvm::StructType *type = operandsType(ir.getContext());
  llvm::Value *entry = ir.CreateGEP(type, first, index);
  auto field = [&](unsigned number) {
    return ir.CreateLoad(type->getElementType(number), ir.CreateStructGEP(type, entry, number));
  };
  return {field(0), field(1), field(2)};
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

void cpu::emitAmx(llvm::IRBuilder<> &ir, const AmxDot &work) {
  AmxEmitter emitter{ir, work};
  constexpr int64_t width = accumulators * edge;
  const int64_t rest = work.columns % width, whole = work.columns - rest;
  if (whole)
    emitter.emitStrips(0, whole, accumulators);
  if (rest)
    emitter.emitStrips(whole, rest, rest / edge);
}
