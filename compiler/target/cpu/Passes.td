// What prepares a module of `tt` for the plan of loops.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TARGET_CPU_PASSES
#define NEREID_TARGET_CPU_PASSES

include "mlir/Pass/PassBase.td"

def CheckTypes : Pass<"cpu-check-types", "::mlir::ModuleOp"> {
  let summary = "refuses types that the machine cannot hold, and calls that remain";
  let description = [{
    A float of 16 bits needs F16C: LLVM would call a library that is not there. A call remains where a function calls itself.
  }];
  let options = [Option<"hasF16c", "f16c", "bool", "true", "the machine converts floats of 16 bits">,
                 Option<"arch", "arch", "std::string", "\"this CPU\"", "the machine's name, for messages">];
}

def CarryOffsets : Pass<"cpu-carry-offsets", "::mlir::ModuleOp"> {
  let summary = "lets loops carry scalar offsets in place of tiles that move by equal steps";
  let description = [{
    A carried tile of pointers or integers to which each iteration adds one scalar becomes its first value plus a carried scalar. The
    tile is affine then, costs no buffer, and what it points to is read in whole vectors.
  }];
  let dependentDialects = ["::nereid::tt::TtDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def WidenDots : Pass<"cpu-widen-dots", "::mlir::ModuleOp"> {
  let summary = "widens the operands of dots to types that the machine multiplies";
  let description = [{
    Small elements become f32, i32, or pairs of 16 bits; bf16 stays where AMX takes whole tiles.
  }];
  let options = [Option<"hasAmxBf16", "amx-bf16", "bool", "false", "the machine has AMX for bf16">,
                 Option<"registerBits", "register-bits", "unsigned", "512", "width of a vector register">];
  let dependentDialects = ["::nereid::tt::TtDialect", "::mlir::arith::ArithDialect"];
}

#endif
