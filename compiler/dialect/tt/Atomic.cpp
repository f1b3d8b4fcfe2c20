// Verifies and pads the atomic ops.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/dialect/tt/PaddedTiles.h"
#include "compiler/dialect/tt/Rules.h"

using namespace mlir;
using namespace nereid::tt;

LogicalResult AtomicRMWOp::verify() {
  Type element = elementOf(getVal().getType());
  const bool isFloat = isa<FloatType>(element), isInteger = isa<IntegerType>(element);
  const RMWOp kind = getAtomicRmwOp();
  if (kind == RMWOp::XCHG ? isFloat || isInteger : kind == RMWOp::FADD ? isFloat : isInteger) // C2
    return success();
  return emitOpError() << stringifyRMWOp(kind) << " does not combine elements of type " << element;
}

LogicalResult nereid::tt::checkOneSided(StringRef name, MemSemantic semantic, MemSemantic side,
                                        const RuleReporter &reporter) {
  return semantic == side || semantic == MemSemantic::RELAXED
             ? success()
             : reporter.fail(diag::AtomicOneSided, name, stringifyMemSemantic(side));
}

/// C2 and C3 of loads and stores.
static LogicalResult verifyOneSided(Operation *op, Type element, MemSemantic given, MemSemantic side) {
  if (!isa<IntegerType, FloatType>(element))
    return op->emitOpError() << "moves integers and floats, not elements of type " << element;
  return checkOneSided(op->getName().stripDialect(), given, side, OpReporter(op));
}

LogicalResult AtomicLoadOp::verify() {
  return verifyOneSided(*this, elementOf(getType()), getSem(), MemSemantic::ACQUIRE);
}

void AtomicLoadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable());
  effects.emplace_back(MemoryEffects::Write::get()); // keeps the op in place and orders the accesses after it
}

LogicalResult AtomicStoreOp::verify() {
  return verifyOneSided(*this, elementOf(getVal().getType()), getSem(), MemSemantic::RELEASE);
}

LogicalResult nereid::tt::checkCompared(unsigned bits, const RuleReporter &reporter) {
  return bits == 16 || bits == 32 || bits == 64 ? success()
                                                : reporter.fail(diag::AtomicCasWidth, reporter.typeName(0), bits);
}

LogicalResult AtomicCASOp::verify() {
  const Type element = elementOf(getVal().getType());
  return checkCompared(element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0, OpReporter(*this, element)); // C2
}

//--- padding -------------------------------------------------------------------------------

void AtomicRMWOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) {
  maskPadding(*this, getMaskMutable(), operands.front());
}

void AtomicLoadOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) {
  maskPadding(*this, getMaskMutable(), operands.front());
}

void AtomicStoreOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) {
  maskPadding(*this, getMaskMutable(), operands.front());
}

void AtomicCASOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) { markExtents(*this, operands); }
