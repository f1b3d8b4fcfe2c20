// Emits elementary functions as inline LLVM IR on scalars and fixed vectors of any length.
// SPDX-License-Identifier: MIT
//
// f32: a polynomial after an exact argument reduction, within 2 units in the last place for every input, denormals,
// infinities, NaN and signed zero included. The code sets no fast-math flag and must not be given one afterwards: it
// relies on rounding and on NaN. f64: calls of libm, one per lane.
//
// The logarithms, sine and cosine of f32 end the current block: a branch leads around code for denormal, infinite, zero
// and negative (or huge) arguments. The builder is left where the emission continues; ask it for its block afterwards.
// The others are branch-free.

#pragma once

namespace llvm {
class IRBuilderBase;
class Value;
} // namespace llvm

namespace nereid::cpu::math {

/// What the emitters want to know of the machine that will run the code.
struct HostMath {
  bool hasFma = false;
  bool hasAvx512 = false;
};

llvm::Value *emitExp(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host);
llvm::Value *emitExp2(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host);
llvm::Value *emitExpm1(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host);
llvm::Value *emitLog(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host);
llvm::Value *emitLog2(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host);
llvm::Value *emitLog1p(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host);
llvm::Value *emitSin(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host);
llvm::Value *emitCos(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host);
llvm::Value *emitErf(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host);
llvm::Value *emitTanh(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host);
llvm::Value *emitSqrt(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host);
/// 1 / sqrt(x) with a correctly rounded root and quotient.
llvm::Value *emitRsqrt(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &host);

} // namespace nereid::cpu::math
