// Emits elementary functions as inline LLVM IR on scalars and fixed vectors of any length.
// SPDX-License-Identifier: MIT
//
// Each function evaluates a polynomial after an exact argument reduction, within 2 units in the last place for every
// input, including denormals, infinities, NaN and signed zero. The code sets no fast-math flag and none may be added
// afterwards: it relies on rounding and on NaN. f64 calls libm once per lane where libm exists; inline f64 code needs
// FMA and, for sine and cosine, a scalar.
//
// The logarithms, sine and cosine end the current basic block: a branch skips code for denormal, infinite, zero and
// negative (or huge) arguments. The builder is left at the end of the emitted code; read its block afterwards. The
// others are branch-free.

#pragma once

namespace llvm {
class IRBuilderBase;
class Value;
} // namespace llvm

namespace nereid::math {

/// Features of the machine that will run the code.
struct HostMath {
  bool hasFma = false;
  bool hasAvx512 = false;
  bool hasLibm = true;         ///< f64 functions can be called
  bool avoidsBranches = false; ///< threads share a program counter: short code is selected, not branched around
  /// A quotient of f32 within 2 units in the last place, where there is a faster instruction than fdiv.
  llvm::Value *(*approxDivide)(llvm::IRBuilderBase &builder, llvm::Value *a, llvm::Value *b) = nullptr;
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
/// x - y trunc(x / y), exactly. Scalars alone, with FMA; a loop, so that the builder is left in another block.
llvm::Value *emitFmod(llvm::IRBuilderBase &builder, llvm::Value *x, llvm::Value *y, const HostMath &host);

} // namespace nereid::math
