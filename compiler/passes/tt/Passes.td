// Declares the passes on `tt` that every target runs.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_PASSES
#define NEREID_TT_PASSES

include "mlir/Pass/PassBase.td"

def FoldIntoDot : Pass<"tt-fold-into-dot", "::mlir::ModuleOp"> {
  let summary = "makes the addend of a dot its accumulator";
  let description = [{
    `dot(a, b, 0) + x` becomes `dot(a, b, x)`: always for integers, for floats where they may be fused.
  }];
  let options = [Option<"fusesFloats", "fuse-floats", "bool", "true",
                        "a multiplication and an addition may be rounded once">];
  let statistics = [Statistic<"numFolded", "folded", "addends that became accumulators">];
}

def DecomposeScaledDots : Pass<"tt-decompose-scaled-dots", "::mlir::ModuleOp"> {
  let summary = "decomposes dots of microscaling formats into dots of f32, bf16 or f16";
  let description = [{
    Values are decoded and multiplied by their scales; a `tt.dot` follows. For targets without such instructions. A
    target that multiplies the microscaling formats of OCP keeps such dots, of extents that are powers of two.
  }];
  let options = [Option<"halves", "halves", "bool", "false", "decode to bf16, or f16 where an operand has it">,
                 Option<"keepsMicroscaled", "keeps-microscaled", "bool", "false", "keep dots of MX formats">];
  let dependentDialects = ["::nereid::tt::TtDialect"];
}

def Canonicalize : Pass<"tt-canonicalize", "::mlir::ModuleOp"> {
  let summary = "runs every canonicalization pattern, with locations of bounded length";
  let description = [{
    A pattern gives the op that it makes the locations of all ops that it replaces. MLIR's own pass keeps all of them:
    for n lines `x = x + 1` that become one addition it makes n fused locations, each of up to n.
  }];
  let statistics = [Statistic<"numShortened", "shortened", "fused locations that lost some of theirs">];
}

def DropHints : Pass<"tt-drop-hints", "::mlir::ModuleOp"> {
  let summary = "removes ops that only carry hints and add no information";
  let description = [{
    A `tt.bitcast` to the same type that only carries attributes about its operand hides the ops behind an address from
    later passes. `all` is for targets that use no hints.
  }];
  let options = [Option<"all", "all", "bool", "false", "also hints that add information">];
}

def DropNoinline : Pass<"tt-drop-noinline", "::mlir::ModuleOp"> {
  let summary = "removes noinline from functions, so that every call is inlined";
}

def InlineCalls : Pass<"tt-inline-calls", "::mlir::ModuleOp"> {
  let summary = "inlines every function into its callers";
  let description = [{
    For targets whose tiles have no calling convention. A recursive function stays.
  }];
}

def LiftControlFlow : Pass<"tt-lift-control-flow", "::mlir::ModuleOp"> {
  let summary = "turns basic blocks and branches of imported IR into `scf`";
  let description = [{
    Every region with more than one basic block (early returns, combine functions with
    branches) is lifted by MLIR's CFG-to-SCF. Sema emits no such regions.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::cf::ControlFlowDialect", "::mlir::ub::UBDialect"];
}

def ExpandBlockPointers : Pass<"tt-expand-block-pointers", "::mlir::ModuleOp"> {
  let summary = "expands pointers to tiles in imported IR into addresses and masks";
  let description = [{
    A pointer to a tile becomes its base, its shape, its strides and its offsets,
    through loops, branches and calls as well; a load or store computes addresses
    in 64 bits and masks the dimensions that its `boundaryCheck` names.
  }];
  let dependentDialects = ["::nereid::tt::TtDialect"];
}

def RewriteDescriptors : Pass<"tt-rewrite-descriptors", "::mlir::ModuleOp"> {
  let summary = "expands tensor descriptors into pointers and masks";
  let description = [{
    A descriptor becomes its base, its extents and strides (i64), and two flags:
    whether it pads with NaN, whether it rounds to tf32. This is also the order in
    which a kernel takes a descriptor from the host. An access through it
    computes addresses in 64 bits and masks elements outside of the array.
  }];
  let dependentDialects = ["::nereid::tt::TtDialect"];
}

def PadTiles : Pass<"tt-pad-tiles", "::mlir::ModuleOp"> {
  let summary = "rounds the extents of tiles up to powers of two";
  let description = [{
    GPU layouts need powers of two. Elements beyond the old extents are undefined; masks, neutral elements and
    gathers keep them out of memory, reductions, dots and reshapes. Ops with outside effects and no mask list in
    `tt.extents` which elements of each operand exist.
  }];
  let dependentDialects = ["::nereid::tt::TtDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numPadded", "padded", "ops whose tiles were padded">];
}

def InsertChecks : Pass<"tt-insert-checks", "::mlir::ModuleOp"> {
  let summary = "inserts sanitizer checks of accesses and arithmetic";
  let description = [{
    `bounds` and `uninit` put a `check.values` before every load, store and atomic, `overflow` after every integer op
    that contributes to an address, `nan` after every float op that may produce NaN from numbers. Values computed from
    lanes that a load's mask excludes are checked at the access that uses them.
  }];
  let options = [ListOption<"kinds", "kinds", "std::string", "bounds, uninit, overflow, nan, nan-loads">];
  let dependentDialects = ["::nereid::check::CheckDialect"];
}

#endif
