// Looks at the regions of reduce, scan and map_elementwise.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/Combiner.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/target/cpu/Lanes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/IR/Constants.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

Operation *cpu::singleCombiner(Operation *combining) {
  Block &body = combining->getRegion(0).front();
  if (combining->getNumOperands() != 1 || body.getOperations().size() != 2)
    return nullptr;
  Operation *op = &body.front();
  Operation *end = body.getTerminator();
  if (op->getNumOperands() != 2)
    return nullptr;
  Value left = body.getArgument(0), right = body.getArgument(1), first = op->getOperand(0), second = op->getOperand(1);
  const bool usesBoth = (first == left && second == right) || (first == right && second == left);
  return usesBoth && end->getOperand(0) == op->getResult(0) ? op : nullptr;
}

llvm::Constant *cpu::identityOf(LaneEmitter &lanes, Operation *op) {
  if (!op)
    return nullptr;
  Type element = op->getResult(0).getType();
  Builder builder(op->getContext());
  auto integer = [&](APInt value) { return lanes.constant(builder.getIntegerAttr(element, value), element, 1); };
  auto real = [&](APFloat value) { return lanes.constant(builder.getFloatAttr(element, value), element, 1); };
  if (auto type = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    if (isa<arith::AddFOp>(op))
      return real(APFloat::getZero(semantics, /*Negative=*/true));
    if (isa<arith::MulFOp>(op))
      return real(APFloat::getOne(semantics));
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op)) // a number wins over NaN
      return real(APFloat::getNaN(semantics));
    if (isa<arith::MaximumFOp>(op))
      return real(APFloat::getInf(semantics, /*Negative=*/true));
    if (isa<arith::MinimumFOp>(op))
      return real(APFloat::getInf(semantics));
    return nullptr;
  }
  if (!element.isInteger())
    return nullptr;
  const unsigned bits = element.getIntOrFloatBitWidth();
  if (isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(op))
    return integer(APInt::getZero(bits));
  if (isa<arith::MulIOp>(op))
    return integer(APInt(bits, 1));
  if (isa<arith::AndIOp, arith::MinUIOp>(op))
    return integer(APInt::getAllOnes(bits));
  if (isa<arith::MaxSIOp>(op))
    return integer(APInt::getSignedMinValue(bits));
  if (isa<arith::MinSIOp>(op))
    return integer(APInt::getSignedMaxValue(bits));
  return nullptr;
}

bool cpu::needsScalars(Operation *op) {
  return op->getNumRegions() != 0 && llvm::any_of(op->getRegion(0).front(), [](Operation &inner) {
           return inner.getNumRegions() != 0 || !isMemoryEffectFree(&inner);
         });
}
