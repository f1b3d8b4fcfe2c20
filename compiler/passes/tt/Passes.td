// Declares the passes on `tt` that every target runs.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_PASSES
#define NEREID_TT_PASSES

include "mlir/Pass/PassBase.td"

def FoldIntoDot : Pass<"tt-fold-into-dot", "::mlir::ModuleOp"> {
  let summary = "makes what is added to a product its accumulator";
  let description = [{
    `dot(a, b, 0) + x` becomes `dot(a, b, x)`: always for integers, for floats where they may be fused.
  }];
  let options = [Option<"fusesFloats", "fuse-floats", "bool", "true", "a product and a sum may be rounded once">];
  let statistics = [Statistic<"numFolded", "folded", "sums that became accumulators">];
}

def DecomposeScaledDots : Pass<"tt-decompose-scaled-dots", "::mlir::ModuleOp"> {
  let summary = "turns dots of microscaling formats into dots of f32, bf16 or f16";
  let description = [{
    Values and scales are decoded and multiplied; `tt.dot` does the rest. For targets without such instructions.
  }];
  let options = [Option<"halves", "halves", "bool", "false", "decode to bf16, or f16 where an operand has it">];
  let dependentDialects = ["::nereid::tt::TtDialect"];
}

def DropHints : Pass<"tt-drop-hints", "::mlir::ModuleOp"> {
  let summary = "removes ops that only hold hints and tell nothing new";
  let description = [{
    A `tt.bitcast` to the same type whose attributes say what is known of its operand stands in the way of what follows
    addresses through ops. Where `all` is set no hint is of use.
  }];
  let options = [Option<"all", "all", "bool", "false", "those that tell something as well">];
}

def DropNoinline : Pass<"tt-drop-noinline", "::mlir::ModuleOp"> {
  let summary = "lets the inliner take every call";
}

def InlineCalls : Pass<"tt-inline-calls", "::mlir::ModuleOp"> {
  let summary = "makes every function part of its callers, where there are any calls";
  let description = [{
    For targets whose tiles have no calling convention. A function that calls itself stays.
  }];
}

def LiftControlFlow : Pass<"tt-lift-control-flow", "::mlir::ModuleOp"> {
  let summary = "turns blocks and branches of imported text into `scf`";
  let description = [{
    Every region with more than one block (early returns, combine functions with
    branches) is lifted by MLIR's CFG-to-SCF. What sema emits has none.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::cf::ControlFlowDialect", "::mlir::ub::UBDialect"];
}

def ExpandBlockPointers : Pass<"tt-expand-block-pointers", "::mlir::ModuleOp"> {
  let summary = "turns pointers to tiles of imported text into addresses and masks";
  let description = [{
    A pointer to a tile becomes its base, its shape, its strides and its offsets,
    through loops, branches and calls as well; a load or store computes addresses
    in 64 bits and masks the dimensions that its `boundaryCheck` names.
  }];
  let dependentDialects = ["::nereid::tt::TtDialect"];
}

def RewriteDescriptors : Pass<"tt-rewrite-descriptors", "::mlir::ModuleOp"> {
  let summary = "turns tensor descriptors into pointers and masks";
  let description = [{
    A descriptor becomes its base, its extents and strides (i64), and two flags:
    whether it pads with NaN, whether it rounds to tf32. This is also the order in
    which a kernel takes a descriptor that the host made. An access through it
    computes addresses in 64 bits and masks what is outside of the array.
  }];
  let dependentDialects = ["::nereid::tt::TtDialect"];
}

def PadTiles : Pass<"tt-pad-tiles", "::mlir::ModuleOp"> {
  let summary = "rounds the extents of tiles up to powers of two";
  let description = [{
    Threads of a GPU hold powers of two. Elements behind the old extents hold anything; masks, neutral elements and
    gathers keep them out of memory, reductions, products and reshapes. Ops that reach outside without a mask say in
    `tt.extents` which elements of each operand exist.
  }];
  let dependentDialects = ["::nereid::tt::TtDialect", "::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numPadded", "padded", "ops whose tiles were padded">];
}

def InsertChecks : Pass<"tt-insert-checks", "::mlir::ModuleOp"> {
  let summary = "lets a sanitizer look at accesses and arithmetic before, or as, they happen";
  let description = [{
    `bounds` and `uninit` put a `check.values` in front of every load, store and atomic, `overflow` behind every integer
    op that becomes part of an address, `nan` behind every op on floats that may make NaN of numbers. What is
    computed in lanes that a load's mask lets out is left to the access that uses it.
  }];
  let options = [ListOption<"kinds", "kinds", "std::string", "bounds, uninit, overflow, nan, nan-loads">];
  let dependentDialects = ["::nereid::check::CheckDialect"];
}

#endif
