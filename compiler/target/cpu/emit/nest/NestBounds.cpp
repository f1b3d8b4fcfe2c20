// Computes where the prefixes of a nest's masks end.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/nest/NestBounds.h"

#include "compiler/target/cpu/emit/nest/ElementEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

void NestBounds::compute() {
  if (!nest.assumptions.empty())
    assumption = context.scalars.holds(nest.assumptions);
  SmallVector<const Polynomial *> seen;
  for (const NestMask &mask : nest.masks) {
    if (static_cast<int>(mask.prefix.dim) != nest.vectorDim ||
        llvm::any_of(seen, [&](const Polynomial *poly) { return *poly == mask.prefix.bound; }))
      continue;
    seen.push_back(&mask.prefix.bound);
    llvm::Value *bound = clamped(mask.prefix.bound, nest.vectorDim);
    leastPrefix = leastPrefix ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, leastPrefix, bound) : bound;
    greatestPrefix = greatestPrefix ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, greatestPrefix, bound) : bound;
  }
}

const Polynomial *NestBounds::commonPrefix(unsigned dim) const {
  const Polynomial *only = nullptr;
  for (const NestMask &mask : nest.masks) {
    if (mask.prefix.dim != dim)
      continue;
    if (only && *only != mask.prefix.bound)
      return nullptr;
    only = &mask.prefix.bound;
  }
  return only;
}

SmallVector<Conjunct, 4> NestBounds::maskParts(const Root &root) const {
  Value mask = root.access().getAccessMask();
  return mask ? conjuncts(context.affineInfo, mask, context.identity()) : SmallVector<Conjunct, 4>();
}

llvm::Value *NestBounds::outerEnd(unsigned dim) {
  llvm::Value *end = nullptr;
  for (const Root &root : nest.roots) {
    llvm::Value *bound = nullptr;
    if (root.isWrite())
      for (Conjunct &part : maskParts(root))
        if (part.prefix && part.prefix->dim == dim) {
          llvm::Value *value = clamped(part.prefix->bound, dim);
          bound = bound ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, bound, value) : value;
        }
    if (!bound)
      return ir.getInt64(nest.shape[dim]);
    end = end ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, end, bound) : bound;
  }
  if (commonPrefix(dim))
    context.chunk.boundedDims |= 1u << dim;
  return end;
}

llvm::Value *NestBounds::writeEnd(const Root &root, llvm::Value *fallback) {
  const unsigned outer = context.levels.vectorLevel() - 1;
  llvm::Value *end = fallback;
  for (Conjunct &part : maskParts(root)) {
    if (isOfVector(part)) {
      end = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, clamped(part.prefix->bound, nest.vectorDim));
    } else if (context.levels.of(part.map) <= outer) {
      Element holds = context.elements.evaluate(part.value, part.map, outer);
      context.levels.insertAt(outer);
      end = ir.CreateSelect(holds.value, end, ir.getInt64(0));
    }
  }
  return end;
}

bool NestBounds::endsWithPrefix(const Root &root) const {
  return llvm::any_of(maskParts(root), [&](const Conjunct &part) { return isOfVector(part); });
}

llvm::Value *NestBounds::allConditions() {
  const unsigned outer = context.levels.vectorLevel() - 1;
  llvm::Value *all = ir.getTrue();
  for (const NestCondition &condition : nest.conditions) {
    Element holds = context.elements.evaluate(condition.value, condition.map, outer);
    if (!holds)
      return ir.getTrue();
    context.levels.insertAt(outer);
    all = ir.CreateAnd(all, holds.value);
  }
  return all;
}
