// Passes that prepare a module of `tt` for the loop plan.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TARGET_CPU_PASSES
#define NEREID_TARGET_CPU_PASSES

include "mlir/Pass/PassBase.td"

def CheckTypes : Pass<"cpu-check-types", "::mlir::ModuleOp"> {
  let summary = "rejects types that the machine does not support, and calls that remain";
  let description = [{
    An f16 needs F16C: LLVM would call a library function that is not linked. A call remains where a function calls
    itself.
  }];
  let options = [Option<"hasF16c", "f16c", "bool", "true", "the machine converts f16 (F16C)">,
                 Option<"arch", "arch", "std::string", "\"this CPU\"", "name of the machine in messages">];
}

def CarryOffsets : Pass<"cpu-carry-offsets", "::mlir::ModuleOp"> {
  let summary = "makes loops carry scalar offsets instead of tiles that move by equal steps";
  let description = [{
    A carried tile of pointers or integers to which each iteration adds one scalar becomes its initial value plus a
    carried scalar. The tile is then affine, needs no buffer, and its loads use whole vectors.
  }];
  let dependentDialects = ["::nereid::tt::TtDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def FlattenFirstBranch : Pass<"cpu-flatten-first-branch", "::mlir::ModuleOp"> {
  let summary = "chooses between values where a branch sets tiles for a loop's first iteration";
  let description = [{
    `scf.if` on "this is the first iteration", as in Welford's algorithm, becomes `arith.select` where both sides are
    elementwise and the first iteration's is cheap. The tiles then need no buffers, and what follows joins their loop.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ScalarAsserts : Pass<"cpu-scalar-asserts", "::mlir::ModuleOp"> {
  let summary = "replaces assertions on tiles by assertions on scalars";
  let description = [{
    In debug mode every addition and multiplication of 32-bit integers is asserted not to overflow. Where the extremes
    of a tile of indices follow from scalars, the assertion is one on them, and no tile is computed for it. The
    conditions of other tiles are reduced to whether all hold.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::nereid::tt::TtDialect"];
}

def HoistScalars : Pass<"cpu-hoist-scalars", "::mlir::ModuleOp"> {
  let summary = "computes scalars before a loop with dots rather than after it, where that is possible";
}

def WidenDots : Pass<"cpu-widen-dots", "::mlir::ModuleOp"> {
  let summary = "widens the operands of dots to types that the machine multiplies";
  let description = [{
    Small elements become f32, i32, or pairs of 16 bits; bf16 and i8 are kept where the machine multiplies them.
  }];
  let options = [Option<"hasAmxBf16", "amx-bf16", "bool", "false", "the machine has AMX for bf16">,
                 Option<"hasAmxInt8", "amx-int8", "bool", "false", "the machine has AMX for bytes">,
                 Option<"hasAvx512Bf16", "avx512-bf16", "bool", "false", "the machine multiplies pairs of bf16">,
                 Option<"hasVnni", "vnni", "bool", "false", "the machine multiplies four bytes at once (VNNI)">,
                 Option<"registerBits", "register-bits", "unsigned", "512", "width of a vector register">];
  let dependentDialects = ["::nereid::tt::TtDialect", "::mlir::arith::ArithDialect"];
}

#endif
