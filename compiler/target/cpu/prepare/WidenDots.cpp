// Widens the operands of dots to f32, f64 or i32, or to pairs of 16 bits: the types of the register blocks.
// SPDX-License-Identifier: MIT
//
// The product of two f16, bf16 or fp8 numbers is exact in f32 except at the ends of the range, that of two i8 in i32,
// as is the sum of two such products. The conversions become part of the nests that copy operands. bf16 and i8 are kept
// where the machine multiplies them (DotForm.h).
// `inputPrecision` allows f32 operands to be rounded; that saves nothing here, so they are multiplied as they are.
#include "compiler/target/cpu/prepare/DotForm.h"
#include "compiler/target/cpu/prepare/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace nereid::cpu {
#define GEN_PASS_DEF_WIDENDOTS
#include "compiler/target/cpu/prepare/Passes.h.inc"
} // namespace nereid::cpu

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

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

static void widen(tt::DotOp dot, const DotMachine &machine) {
  Type element = tt::elementOf(dot.getA().getType());
  const Type result = tt::elementOf(dot.getType());
  if (element.isF32() || element.isF64() || element.isInteger(32) || dotForm(dot, machine).group > 1)
    return;
  OpBuilder builder(dot);
  const Location loc = dot.getLoc();
  if (element.isInteger(8) && dotForm(dot, builder.getI16Type(), machine).group > 1) {
    dot.getAMutable().assign(widen(builder, loc, dot.getA(), builder.getI16Type()));
    dot.getBMutable().assign(widen(builder, loc, dot.getB(), builder.getI16Type()));
    return;
  }
  element = isa<FloatType>(element) ? Type(builder.getF32Type()) : Type(builder.getI32Type());
  auto wide = tt::DotOp::create(builder, loc, tt::withElement(dot.getType(), element),
                                widen(builder, loc, dot.getA(), element), widen(builder, loc, dot.getB(), element),
                                widen(builder, loc, dot.getC(), element), dot.getInputPrecision(), 0);
  Value sum = wide.getD();
  if (result != element)
    sum = arith::TruncFOp::create(builder, loc, dot.getType(), sum);
  dot.getD().replaceAllUsesWith(sum);
  dot.erase();
}

namespace {
struct WidenDots : nereid::cpu::impl::WidenDotsBase<WidenDots> {
  using WidenDotsBase::WidenDotsBase;
  void runOnOperation() final {
    SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) { dots.push_back(dot); });
    for (tt::DotOp dot : dots)
      widen(dot, {.registerBits = registerBits,
                  .hasVnni = hasVnni,
                  .hasAvx512Bf16 = hasAvx512Bf16,
                  .hasAmxBf16 = hasAmxBf16,
                  .hasAmxInt8 = hasAmxInt8});
  }
};
} // namespace
