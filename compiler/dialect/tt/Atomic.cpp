// Rules of the atomic ops.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"

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

LogicalResult AtomicCASOp::verify() {
  Type element = elementOf(getVal().getType());
  const unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (bits == 16 || bits == 32 || bits == 64) // C2
    return success();
  return emitOpError() << "compares elements of 16, 32 or 64 bits, not of type " << element;
}
