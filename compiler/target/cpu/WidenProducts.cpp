// Makes every product one of f32, f64 or i32: what the register blocks compute with.
// SPDX-License-Identifier: MIT
//
// The product of two f16, bf16 or 8-bit floats is exact in f32 up to rounding of the range's end, that of two i8 in
// i32. The conversions become part of the nests that copy operands. `inputPrecision` allows f32 operands to be rounded;
// nothing is gained from it here, so they are multiplied as they are.
#include "compiler/target/cpu/PlanBuilder.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;

static Value widen(OpBuilder &builder, Location loc, Value tile, Type element) {
  const Type type = tt::withElement(tile.getType(), element), from = tt::elementOf(tile.getType());
  if (from == element)
    return tile;
  if (isa<IntegerType>(element))
    return arith::ExtSIOp::create(builder, loc, type, tile);
  if (matchPattern(tile, m_AnyZeroFloat()))
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  if (from.getIntOrFloatBitWidth() == 8)
    return tt::FpToFpOp::create(builder, loc, type, tile, tt::RoundingModeAttr());
  return arith::ExtFOp::create(builder, loc, type, tile);
}

static void widen(tt::DotOp dot) {
  Type element = tt::elementOf(dot.getA().getType());
  const Type result = tt::elementOf(dot.getType());
  if (element.isF32() || element.isF64() || element.isInteger(32))
    return;
  OpBuilder builder(dot);
  element = isa<FloatType>(element) ? Type(builder.getF32Type()) : Type(builder.getI32Type());
  const Location loc = dot.getLoc();
  auto wide = tt::DotOp::create(builder, loc, tt::withElement(dot.getType(), element), widen(builder, loc, dot.getA(), element),
                                widen(builder, loc, dot.getB(), element), widen(builder, loc, dot.getC(), element),
                                dot.getInputPrecision(), 0);
  Value sum = wide.getD();
  if (result != element)
    sum = arith::TruncFOp::create(builder, loc, dot.getType(), sum);
  dot.getD().replaceAllUsesWith(sum);
  dot.erase();
}

void cpu::widenProducts(tt::FuncOp kernel) {
  SmallVector<tt::DotOp> dots;
  kernel.walk([&](tt::DotOp dot) { dots.push_back(dot); });
  for (tt::DotOp dot : dots)
    widen(dot);
}
