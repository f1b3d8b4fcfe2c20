// Emits loads and stores of global memory: registers in vectors of up to 16 bytes, one access each.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/analysis/MemoryAccess.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

//--- words ---------------------------------------------------------------------------------

static unsigned bitsOf(llvm::Type *type) { return type->isPointerTy() ? 64 : type->getPrimitiveSizeInBits(); }

namespace {
/// The integers that a vector of memory is moved as.
struct Words {
  unsigned bits, count;
  Words(unsigned elementBits, unsigned elements) {
    const unsigned total = elementBits * elements;
    bits = elementBits == 64 ? 64 : std::min(total, 32u);
    count = total / bits;
  }
};
} // namespace

static llvm::Value *toInteger(IrBuilder &ir, llvm::Value *element) {
  llvm::Type *type = ir.getIntNTy(bitsOf(element->getType()));
  return element->getType()->isPointerTy() ? ir.CreatePtrToInt(element, type) : ir.CreateBitCast(element, type);
}

static llvm::Value *fromInteger(IrBuilder &ir, llvm::Value *word, llvm::Type *type) {
  return type->isPointerTy() ? ir.CreateIntToPtr(word, type) : ir.CreateBitCast(word, type);
}

/// A word of bytes that the target converts in pairs; null where it does not.
static llvm::Value *packPairs(IrBuilder &ir, TargetEmitter &target, ArrayRef<llvm::Value *> bytes) {
  llvm::Value *word = llvm::PoisonValue::get(llvm::FixedVectorType::get(ir.getInt16Ty(), bytes.size() / 2));
  for (unsigned part = 0; part < bytes.size(); part += 2) {
    llvm::Value *pair = target.narrowPair(ir, bytes[part], bytes[part + 1]);
    if (!pair)
      return nullptr;
    word = ir.CreateInsertElement(word, pair, uint64_t{part / 2});
  }
  return ir.CreateBitCast(word, ir.getIntNTy(bytes.size() * 8));
}

SmallVector<llvm::Value *, 4> TtgFunctionEmitter::pack(ArrayRef<llvm::Value *> values) {
  const unsigned elementBits = std::max(8u, bitsOf(values.front()->getType()));
  const Words words(elementBits, values.size());
  const unsigned perWord = words.bits / elementBits;
  SmallVector<llvm::Value *, 4> result;
  for (unsigned word = 0; word < words.count; ++word) {
    if (perWord == 1) {
      result.push_back(toInteger(ir, elements.toMemory(values[word])));
      continue;
    }
    if (llvm::Value *pairs =
            elementBits == 8 ? packPairs(ir, target, values.slice(word * perWord, perWord)) : nullptr) {
      result.push_back(pairs);
      continue;
    }
    llvm::Value *vector = nullptr;
    for (unsigned part = 0; part < perWord; ++part) {
      llvm::Value *element = elements.toMemory(values[word * perWord + part]);
      if (!vector)
        vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(element->getType(), perWord));
      vector = ir.CreateInsertElement(vector, element, uint64_t{part});
    }
    result.push_back(ir.CreateBitCast(vector, ir.getIntNTy(words.bits)));
  }
  return result;
}

Tile TtgFunctionEmitter::unpack(ArrayRef<llvm::Value *> words, Type element, unsigned count) {
  llvm::Type *type = elements.memoryType(element);
  const unsigned perWord = count / words.size();
  Tile result;
  for (llvm::Value *word : words) {
    if (perWord == 1) {
      result.push_back(elements.fromMemory(fromInteger(ir, word, type), element));
      continue;
    }
    llvm::Value *vector = ir.CreateBitCast(word, llvm::FixedVectorType::get(type, perWord));
    for (unsigned part = 0; part < perWord; ++part)
      result.push_back(elements.fromMemory(ir.CreateExtractElement(vector, uint64_t{part}), element));
  }
  return result;
}

//--- accesses ------------------------------------------------------------------------------

/// The mask, or null where it is constant true; a constant false is kept.
static llvm::Value *unlessTrue(llvm::Value *mask) {
  auto *constant = dyn_cast_or_null<llvm::ConstantInt>(mask);
  return constant && constant->isOne() ? nullptr : mask;
}

BoundedAddress lowering::boundedAddress(TtgFunctionEmitter &emitter, Operation *op, Value pointer, unsigned index) {
  auto add = op->hasAttr(ttg::kBoundedOffset) ? pointer.getDefiningOp<tt::AddPtrOp>() : tt::AddPtrOp();
  auto base = add ? add.getPtr().getDefiningOp<tt::SplatOp>() : tt::SplatOp();
  if (!base || !tt::elementOf(add.getOffset().getType()).isInteger(32))
    return {};
  IrBuilder &ir = emitter.ir;
  const Type pointee = cast<tt::PointerType>(tt::elementOf(add.getType())).getPointee();
  const unsigned bytes = tt::storageBytes(pointee);
  const BaseOffset offset = emitter.baseOffsets.of(emitter.tile(add.getOffset())[index]);
  return {emitter.scalar(base.getSrc()), offset.base ? ir.CreateMul(offset.base, ir.getInt32(bytes)) : nullptr,
          offset.offset * int64_t{bytes}};
}

/// The access of a vector whose first element is in the register `index`.
template <typename Op>
static GlobalAccess accessOf(TtgFunctionEmitter &emitter, Op op, unsigned index, const Words &words) {
  IrBuilder &ir = emitter.ir;
  const BaseOffset pointer = emitter.baseOffsets.of(emitter.tile(op.getPtr())[index]);
  GlobalAccess access;
  access.pointer = pointer.base;
  access.byteOffset = pointer.offset;
  access.bounded = boundedAddress(emitter, op, op.getPtr(), index);
  access.wordType = ir.getIntNTy(words.bits);
  access.numWords = words.count;
  access.cache = op.getCache();
  access.evict = op.getEvict();
  return access;
}

static Tile loadVector(TtgFunctionEmitter &emitter, tt::LoadOp op, unsigned first, unsigned count) {
  IrBuilder &ir = emitter.ir;
  const Type element = tt::elementOf(op.getType());
  const Words words(analysis::memoryBits(element), count);
  llvm::Value *mask = op.getMask() ? unlessTrue(emitter.tile(op.getMask())[first]) : nullptr;
  Tile others(count, emitter.elements.constant({}, element));
  if (op.getOther())
    llvm::copy(ArrayRef<llvm::Value *>(emitter.tile(op.getOther())).slice(first, count), others.begin());
  if (auto *constant = dyn_cast_or_null<llvm::ConstantInt>(mask); constant && constant->isZero())
    return others;
  GlobalAccess access = accessOf(emitter, op, first, words);
  access.mask = mask;
  access.isVolatile = op.getIsVolatile();
  SmallVector<llvm::Value *, 4> otherWords;
  if (mask)
    otherWords = emitter.pack(others);
  return emitter.unpack(emitter.target.loadGlobal(ir, access, otherWords), element, count);
}

static LogicalResult emitLoad(TtgFunctionEmitter &emitter, tt::LoadOp op) {
  const unsigned count = numRegisters(op.getType());
  const analysis::MemoryAccess access = *analysis::memoryAccessOf(op);
  const unsigned elems = analysis::vectorElems(access, emitter.module.axes);
  uint32_t copies = copyMask(op.getPtr().getType());
  if (elems == 1 && count > 1)
    copies |= analysis::repeatedLoads(access, emitter.module.axes, ttg::linearLayoutOf(access.tile()));
  Tile result(count, nullptr);
  for (unsigned first = 0; first < count; first += elems) {
    if (unsigned original = first & ~copies; original != first) {
      std::copy_n(result.begin() + original, elems, result.begin() + first);
      continue;
    }
    llvm::copy(loadVector(emitter, op, first, elems), result.begin() + first);
  }
  emitter.define(op, std::move(result));
  return success();
}

static void storeVector(TtgFunctionEmitter &emitter, tt::StoreOp op, unsigned first, unsigned count,
                        llvm::Value *isOwner) {
  IrBuilder &ir = emitter.ir;
  const Words words(analysis::memoryBits(tt::elementOf(op.getValue().getType())), count);
  llvm::Value *mask = op.getMask() ? unlessTrue(emitter.tile(op.getMask())[first]) : nullptr;
  if (auto *constant = dyn_cast_or_null<llvm::ConstantInt>(mask); constant && constant->isZero())
    return;
  GlobalAccess access = accessOf(emitter, op, first, words);
  access.mask = mask && isOwner ? ir.CreateAnd(mask, isOwner) : mask ? mask : isOwner;
  emitter.target.storeGlobal(ir, access,
                             emitter.pack(ArrayRef<llvm::Value *>(emitter.tile(op.getValue())).slice(first, count)));
}

static LogicalResult emitStore(TtgFunctionEmitter &emitter, tt::StoreOp op) {
  llvm::Value *isOwner = emitter.ownerOf(op.getPtr().getType());
  const unsigned elems = analysis::vectorElems(*analysis::memoryAccessOf(op), emitter.module.axes);
  const uint32_t copies = copyMask(op.getPtr().getType());
  for (unsigned first = 0; first < numRegisters(op.getPtr().getType()); first += elems)
    if ((first & copies) == 0)
      storeVector(emitter, op, first, elems, isOwner);
  return success();
}

void lowering::addMemoryEmitters(OpEmitters &table) {
  table.add<emitLoad, tt::LoadOp>();
  table.add<emitStore, tt::StoreOp>();
}
