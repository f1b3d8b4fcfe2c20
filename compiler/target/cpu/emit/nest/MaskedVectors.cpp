// Loads and stores adjacent elements by the processor's masked vector instructions.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/nest/MaskedVectors.h"

#include "artifact/ElementType.h"

#include "llvm/Analysis/VectorUtils.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

uint64_t cpu::bytesOf(llvm::Type *memory) {
  return memory->isPointerTy() ? 8 : artifact::bytesOfBits(memory->getPrimitiveSizeInBits().getFixedValue());
}

bool cpu::hasMaskedVectors(const CpuFeatures &machine, llvm::Type *memory) {
  return bytesOf(memory) >= 4 ? machine.registerBits >= 256 : machine.hasAvx512Bw;
}

namespace {
/// Lanes of vectors, for one instruction of an access.
class VectorPart {
public:
  VectorPart(llvm::IRBuilder<> &ir, unsigned firstLane, unsigned lanes) : firstLane(firstLane), lanes(lanes), ir(ir) {}
  llvm::Value *of(llvm::Value *vector, unsigned depth = 0);

  const unsigned firstLane, lanes;

private:
  llvm::IRBuilder<> &ir;
  llvm::DenseMap<llvm::Value *, llvm::Value *> known; ///< by vector
};
} // namespace

/// Some lanes of a vector. Those of a mask are computed from the same lanes of its operands, each value once: each part
/// is then simplified by itself, and none is found to be zero as late as in LLVM's selection of instructions, which
/// fails then.
llvm::Value *VectorPart::of(llvm::Value *vector, unsigned depth) {
  constexpr unsigned maxDepth = 32;
  if (cast<llvm::FixedVectorType>(vector->getType())->getNumElements() == lanes)
    return vector;
  if (llvm::Value *part = known.lookup(vector))
    return part;
  auto part = [&](llvm::Value *operand) { return of(operand, depth + 1); };
  const bool isMask = vector->getType()->getScalarType()->isIntegerTy(1);
  auto *op = dyn_cast<llvm::BinaryOperator>(vector);
  auto *compare = dyn_cast<llvm::CmpInst>(vector);
  llvm::Value *result;
  if (llvm::Value *scalar = llvm::getSplatValue(vector))
    result = ir.CreateVectorSplat(lanes, scalar);
  else if (op && isMask && depth < maxDepth)
    result = ir.CreateBinOp(op->getOpcode(), part(op->getOperand(0)), part(op->getOperand(1)));
  else if (compare && depth < maxDepth)
    result = ir.CreateCmp(compare->getPredicate(), part(compare->getOperand(0)), part(compare->getOperand(1)));
  else
    result = ir.CreateShuffleVector(vector, llvm::createSequentialMask(firstLane, lanes, 0));
  return known[vector] = result;
}

/// Calls `body` with each part of an access that one instruction does. Without AVX-512, LLVM 22 loads the upper
/// registers of a wider vector although the mask is zero there.
static void forEachPart(NestContext &context, llvm::Type *memory, llvm::function_ref<void(VectorPart)> body) {
  const CpuFeatures &machine = context.machine;
  const unsigned lanes = context.chunk.lanes,
                 most = machine.hasAvx512 ? lanes : machine.registerBits / 8 / bytesOf(memory);
  for (unsigned lane = 0; lane < lanes; lane += most)
    body(VectorPart(context.ir, lane, std::min(most, lanes - lane)));
}

llvm::Value *cpu::emitMaskedLoad(NestContext &context, llvm::Value *address, llvm::Value *mask, llvm::Value *other) {
  llvm::IRBuilder<> &ir = context.ir;
  llvm::Type *memory = other->getType()->getScalarType();
  SmallVector<llvm::Value *> parts;
  forEachPart(context, memory, [&](VectorPart part) {
    llvm::Value *begin = ir.CreateConstGEP1_64(memory, address, part.firstLane);
    llvm::Value *active = part.of(mask), *inactive = part.of(other);
    parts.push_back(ir.CreateMaskedLoad(llvm::FixedVectorType::get(memory, part.lanes), begin,
                                        llvm::Align(bytesOf(memory)), active, inactive));
  });
  return parts.size() == 1 ? parts.front() : llvm::concatenateVectors(ir, parts);
}

void cpu::emitMaskedStore(NestContext &context, llvm::Value *address, llvm::Value *mask, llvm::Value *value) {
  llvm::IRBuilder<> &ir = context.ir;
  llvm::Type *memory = value->getType()->getScalarType();
  forEachPart(context, memory, [&](VectorPart part) {
    llvm::Value *lanes = part.of(value), *begin = ir.CreateConstGEP1_64(memory, address, part.firstLane);
    ir.CreateMaskedStore(lanes, begin, llvm::Align(bytesOf(memory)), part.of(mask));
  });
}
