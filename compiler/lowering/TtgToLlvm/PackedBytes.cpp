// Computes on bytes four at a time, in words that hold consecutive registers of a tile.
// SPDX-License-Identifier: MIT
//
// A GPU has no arithmetic of bytes: each takes a register, and its conversion to a float runs at a quarter of the rate
// of other instructions or less. Weights of 4 and 8 bits arrive as words and are unpacked by shifts, masks and
// subtractions, which words do as well:
//
//   x - y   ((x | H) - (y & ~H)) ^ ((x ^ ~y) & H)     H: the upper bit of each byte; no borrow leaves a byte
//   x + y   ((x & ~H) + (y & ~H)) ^ ((x ^ y) & H)
//
// A conversion places bytes into the significands of floats with a known exponent and subtracts what that adds, which
// is exact: 1024 + u in f16, 2^23 + u in f32. A bf16 holds 7 bits of the byte below 128; its sign selects 128 or 256 to
// subtract.
#include "compiler/lowering/TtgToLlvm/PackedBytes.h"

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

static constexpr uint32_t kUpperBits = 0x80808080;

static uint32_t inEachByte(uint8_t byte) { return byte * 0x01010101u; }

//--- words ---------------------------------------------------------------------------------

/// The vector and index of an element of a vector of 32 bits; a null vector for other values.
static std::pair<llvm::Value *, unsigned> elementOfWord(llvm::Value *value) {
  auto *extract = dyn_cast<llvm::ExtractElementInst>(value);
  auto *index = extract ? dyn_cast<llvm::ConstantInt>(extract->getIndexOperand()) : nullptr;
  if (!index || extract->getVectorOperandType()->getPrimitiveSizeInBits() != 32)
    return {};
  return {extract->getVectorOperand(), unsigned(index->getZExtValue())};
}

llvm::Value *lowering::wordOf(ArrayRef<llvm::Value *> elements) {
  llvm::Value *word = elementOfWord(elements.front()).first;
  if (!word || cast<llvm::FixedVectorType>(word->getType())->getNumElements() != elements.size())
    return nullptr;
  for (auto [index, element] : llvm::enumerate(elements))
    if (elementOfWord(element) != std::pair(word, unsigned(index)))
      return nullptr;
  return word;
}

/// The i32 of constant bytes; null for others.
static llvm::Constant *constantWord(IrBuilder &ir, ArrayRef<llvm::Value *> bytes) {
  uint32_t word = 0;
  for (auto [index, byte] : llvm::enumerate(bytes)) {
    auto *constant = dyn_cast<llvm::ConstantInt>(byte);
    if (!constant)
      return nullptr;
    word |= uint32_t(constant->getZExtValue()) << (8 * index);
  }
  return ir.getInt32(word);
}

/// The word of bytes of at most two words, in any order; null for others.
static llvm::Value *shuffledWord(IrBuilder &ir, ArrayRef<llvm::Value *> bytes) {
  SmallVector<llvm::Value *, 2> words;
  SmallVector<int, kBytesOfWord> mask;
  for (llvm::Value *byte : bytes) {
    const auto [word, index] = elementOfWord(byte);
    if (!word || !cast<llvm::VectorType>(word->getType())->getElementType()->isIntegerTy(8))
      return nullptr;
    auto *found = llvm::find(words, word);
    mask.push_back((found - words.begin()) * kBytesOfWord + index);
    if (found == words.end())
      words.push_back(word);
    if (words.size() > 2)
      return nullptr;
  }
  return ir.CreateShuffleVector(words.front(), words.back(), mask);
}

/// The bytes as an i32; null where that takes more than one instruction.
static llvm::Value *toWord(IrBuilder &ir, ArrayRef<llvm::Value *> bytes) {
  llvm::Value *word = wordOf(bytes);
  if (!word)
    word = constantWord(ir, bytes);
  if (!word)
    word = shuffledWord(ir, bytes);
  return word ? ir.CreateBitCast(word, ir.getInt32Ty()) : nullptr;
}

static void appendElements(IrBuilder &ir, llvm::Value *word, llvm::Type *element, Tile &result) {
  const unsigned count = 32 / element->getPrimitiveSizeInBits();
  llvm::Value *vector = ir.CreateBitCast(word, llvm::FixedVectorType::get(element, count));
  for (unsigned index = 0; index < count; ++index)
    result.push_back(ir.CreateExtractElement(vector, uint64_t{index}));
}

//--- integers ------------------------------------------------------------------------------

static llvm::Value *addBytes(IrBuilder &ir, llvm::Value *x, llvm::Value *y) {
  llvm::Value *lower = ir.CreateAdd(ir.CreateAnd(x, ~kUpperBits), ir.CreateAnd(y, ~kUpperBits));
  return ir.CreateXor(lower, ir.CreateAnd(ir.CreateXor(x, y), kUpperBits));
}

static llvm::Value *subtractBytes(IrBuilder &ir, llvm::Value *x, llvm::Value *y) {
  llvm::Value *lower = ir.CreateSub(ir.CreateOr(x, kUpperBits), ir.CreateAnd(y, ~kUpperBits));
  return ir.CreateXor(lower, ir.CreateAnd(ir.CreateXor(x, ir.CreateNot(y)), kUpperBits));
}

/// The amount of a shift of all bytes; nothing where it differs, is zero or shifts all bits out.
static std::optional<unsigned> shiftOfBytes(llvm::Value *word) {
  auto *constant = dyn_cast<llvm::ConstantInt>(word);
  const uint32_t bits = constant ? constant->getZExtValue() : 0, amount = bits & 0xff;
  if (bits != inEachByte(amount) || amount == 0 || amount > 7)
    return std::nullopt;
  return amount;
}

static llvm::Value *shiftBytes(IrBuilder &ir, Operation *op, llvm::Value *word, unsigned amount) {
  if (isa<arith::ShLIOp>(op))
    return ir.CreateAnd(ir.CreateShl(word, amount), inEachByte(0xff << amount));
  llvm::Value *shifted = ir.CreateAnd(ir.CreateLShr(word, amount), inEachByte(0xff >> amount));
  if (isa<arith::ShRUIOp>(op))
    return shifted;
  // (x ^ sign) - sign extends the sign.
  llvm::Value *sign = ir.getInt32(inEachByte(0x80 >> amount));
  return subtractBytes(ir, ir.CreateXor(shifted, sign), sign);
}

static llvm::Value *emitByteInteger(IrBuilder &ir, Operation *op, llvm::Value *x, llvm::Value *y) {
  if (isa<arith::AndIOp>(op))
    return ir.CreateAnd(x, y);
  if (isa<arith::OrIOp>(op))
    return ir.CreateOr(x, y);
  if (isa<arith::XOrIOp>(op))
    return ir.CreateXor(x, y);
  if (isa<arith::AddIOp>(op))
    return addBytes(ir, x, y);
  if (isa<arith::SubIOp>(op))
    return subtractBytes(ir, x, y);
  const std::optional<unsigned> amount = shiftOfBytes(y);
  return amount ? shiftBytes(ir, op, x, *amount) : nullptr;
}

//--- conversions ---------------------------------------------------------------------------

/// Bytes of `word` by number, or of `fill` from 4 on, as an i32.
static llvm::Value *spread(IrBuilder &ir, llvm::Value *word, ArrayRef<uint8_t> fill, ArrayRef<int> bytes) {
  llvm::Constant *filling = llvm::ConstantDataVector::get(ir.getContext(), fill);
  llvm::Value *vector = ir.CreateBitCast(word, filling->getType());
  return ir.CreateBitCast(ir.CreateShuffleVector(vector, filling, bytes), ir.getInt32Ty());
}

static llvm::Value *subtractFloats(IrBuilder &ir, llvm::Value *a, llvm::Value *b, llvm::Type *type) {
  return ir.CreateFSub(ir.CreateBitCast(a, type), ir.CreateBitCast(b, type));
}

/// `isSigned`: the upper bits of the bytes are inverted, which adds 128.
static void toF16(IrBuilder &ir, llvm::Value *word, bool isSigned, Tile &result) {
  llvm::Value *bias = ir.getInt32(isSigned ? 0x64806480 : 0x64006400); // 1152, 1024
  for (int first : {0, 2}) {
    llvm::Value *pair = spread(ir, word, {0x64, 0x64, 0x64, 0x64}, {first, 4, first + 1, 4});
    auto *type = llvm::FixedVectorType::get(ir.getHalfTy(), 2);
    appendElements(ir, subtractFloats(ir, pair, bias, type), ir.getHalfTy(), result);
  }
}

static void toBf16(IrBuilder &ir, llvm::Value *word, Tile &result) {
  for (int first : {0, 2}) {
    llvm::Value *pair = spread(ir, word, {0x43, 0x43, 0x43, 0x43}, {first, 4, first + 1, 4});
    llvm::Value *lower = ir.CreateAnd(pair, 0xff7fff7f), *bias = ir.CreateAnd(pair, 0xff80ff80);
    auto *type = llvm::FixedVectorType::get(ir.getBFloatTy(), 2);
    appendElements(ir, subtractFloats(ir, lower, bias, type), ir.getBFloatTy(), result);
  }
}

static void toF32(IrBuilder &ir, llvm::Value *word, bool isSigned, Tile &result) {
  llvm::Value *bias = ir.getInt32(isSigned ? 0x4b000080 : 0x4b000000);
  for (int byte : {0, 1, 2, 3}) {
    llvm::Value *single = spread(ir, word, {0, 0, 0, 0x4b}, {byte, 4, 4, 7});
    result.push_back(subtractFloats(ir, single, bias, ir.getFloatTy()));
  }
}

static Tile emitByteConversion(IrBuilder &ir, llvm::Value *word, Type to, bool isSigned) {
  Tile result;
  if (to.isBF16()) {
    toBf16(ir, word, result);
    return result;
  }
  llvm::Value *biased = isSigned ? ir.CreateXor(word, kUpperBits) : word;
  if (to.isF16())
    toF16(ir, biased, isSigned, result);
  else
    toF32(ir, biased, isSigned, result);
  return result;
}

//--- ops -----------------------------------------------------------------------------------

bool lowering::hasPackedForm(Operation *op) {
  if (op->getNumResults() != 1 || !tt::elementOf(op->getOperand(0).getType()).isInteger(8))
    return false;
  const Type to = tt::elementOf(op->getResult(0).getType());
  if (isa<arith::SIToFPOp>(op))
    return to.isF16() || to.isBF16() || to.isF32();
  if (isa<arith::UIToFPOp>(op))
    return to.isF16() || to.isF32();
  return isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::AddIOp, arith::SubIOp, arith::ShLIOp, arith::ShRUIOp,
             arith::ShRSIOp>(op);
}

Tile lowering::emitPacked(IrBuilder &ir, Operation *op, ArrayRef<ArrayRef<llvm::Value *>> operands) {
  SmallVector<llvm::Value *, 2> words;
  for (ArrayRef<llvm::Value *> bytes : operands)
    words.push_back(toWord(ir, bytes));
  if (llvm::is_contained(words, nullptr) || llvm::all_of(words, llvm::IsaPred<llvm::Constant>))
    return {};
  if (words.size() == 1)
    return emitByteConversion(ir, words[0], tt::elementOf(op->getResult(0).getType()), isa<arith::SIToFPOp>(op));
  Tile result;
  if (llvm::Value *word = emitByteInteger(ir, op, words[0], words[1]))
    appendElements(ir, word, ir.getInt8Ty(), result);
  return result;
}
