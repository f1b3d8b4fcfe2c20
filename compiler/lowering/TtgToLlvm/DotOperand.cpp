// Implements the operands of dots.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/DotOperand.h"

#include "compiler/analysis/DotReads.h"
#include "compiler/layout/SharedAccessPlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

DotOperand::DotOperand(TtgFunctionEmitter &emitter, Value tile, Type wide, unsigned alongK)
    : emitter(emitter), type(cast<RankedTensorType>(tile.getType())), wide(wide), alongK(alongK), map(type) {
  auto load = tile.getDefiningOp<ttg::LocalLoadOp>();
  widened.assign(map.size(), nullptr);
  if (!load || !analysis::isReadByDot(load)) {
    registers = emitter.tile(tile);
    return;
  }
  registers.assign(map.size(), nullptr);
  pattern = accessPatternOf(type, load.getSrc().getType());
  reader.emplace(emitter, emitter.buffer(load.getSrc()), pattern, type.getElementType());
  for (const layout::SharedAccess &access : pattern.accesses)
    for (unsigned index : access.registers) {
      accessOf[index] = &access;
      leastDepth = std::max<int64_t>(leastDepth, map.coordinates(index)[alongK] -
                                                     map.coordinates(access.registers.front())[alongK] + 1);
    }
  leastDepth = llvm::PowerOf2Ceil(leastDepth);
}

void DotOperand::begin(llvm::Value *iteration, int64_t steps) {
  IrBuilder &ir = emitter.ir;
  registers.assign(registers.size(), nullptr);
  widened.assign(widened.size(), nullptr);
  llvm::Value *bits = ir.getInt32(0);
  uint32_t mask = 0;
  for (int64_t bit = 0, k = steps; k < depth(); ++bit, k *= 2) {
    LinearLayout::Coordinates coordinates(type.getRank(), 0);
    coordinates[alongK] = k;
    const uint32_t basis = accessOf.lookup(map.at(coordinates))->offset;
    llvm::Value *isSet = ir.CreateAnd(ir.CreateLShr(iteration, bit), 1);
    bits = ir.CreateXor(bits, ir.CreateMul(isSet, ir.getInt32(basis)));
    mask |= basis;
  }
  reader->move(bits, mask);
}

llvm::Value *DotOperand::at(LinearLayout::Coordinates coordinates, int64_t k) {
  coordinates[alongK] = k;
  const unsigned index = map.at(coordinates);
  if (!widened[index]) {
    if (!registers[index])
      reader->read(*accessOf.lookup(index), registers);
    widened[index] = emitter.elements.convert(registers[index], type.getElementType(), wide);
  }
  return widened[index];
}
