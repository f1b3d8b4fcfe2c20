// Declares the passes that turn `tt` into `ttg` and improve it.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_PASSES
#define NEREID_TTG_PASSES

include "mlir/Pass/PassBase.td"

def AssignLayouts : Pass<"ttg-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "gives every tile of a `tt` module a layout over threads";
  let description = [{
    Memory accesses have preferred layouts; connected tiles share one where they
    can. A `ttg.convert_layout` is inserted only where two of them conflict. The
    module gets `ttg.num-warps` and the other attributes.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
  let options = [
    Option<"numWarps", "num-warps", "unsigned", "4", "warps of a CTA">,
    Option<"threadsPerWarp", "threads-per-warp", "unsigned", "32", "threads of a warp">,
    Option<"numCtas", "num-ctas", "unsigned", "1", "CTAs of a program, one of which runs it">,
    Option<"target", "target", "std::string", "", "target of the generated code; that of the module where empty">,
    Option<"hasWarpMma", "warp-mma", "bool", "true", "whether warps have matrix instructions">,
    Option<"hasWarpGroupMma", "warp-group-mma", "bool", "false", "whether groups of warps have matrix instructions">,
    Option<"maxSharedBytes", "max-shared-bytes", "unsigned", "227 * 1024", "shared memory of a CTA, in bytes">,
    Option<"hasVectorAtomics", "vector-atomics", "bool", "false", "whether atomic additions take vectors of floats">,
  ];
  let statistics = [Statistic<"numConversions", "conversions", "layout conversions inserted">];
}

def AccumulateInThreads : Pass<"ttg-accumulate-in-threads", "::nereid::tt::FuncOp"> {
  let summary = "moves the cross-thread part of reductions that a loop accumulates after the loop";
  let description = [{
    Where a loop carries `acc op reduce(x)` and nothing else uses the reduction, each thread combines its part of `x`
    with an accumulator of its own; a reduction after the loop crosses threads. The order of combination changes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::nereid::ttg::TtgDialect"];
  let statistics = [Statistic<"numAccumulated", "accumulated", "reductions moved after loops">];
}

def UnrollLoops : Pass<"ttg-unroll-loops", "::nereid::tt::FuncOp"> {
  let summary = "unrolls loops over tiles that have an unroll factor";
  let description = [{
    `tt.loop_unroll_factor` iterations of an `scf.for` become one; a second loop
    runs the remainder. The pass runs before layouts and stages are chosen, so
    that the loads of all these iterations are pipelined.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numUnrolled", "unrolled", "loops unrolled">];
}

def FlattenLoops : Pass<"ttg-flatten-loops", "::nereid::tt::FuncOp"> {
  let summary = "flattens two loops into one where the outer one has `tt.flatten`";
  let description = [{
    An `scf.for` with `tt.flatten` and the one loop in it become a loop over the
    iterations of both, if the inner bounds are invariant and the ops before the
    inner loop have no effects. Loads of the next outer iteration can then start
    before the end of this one.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numFlattened", "flattened", "loop pairs flattened into one loop">];
}

def ShareOperands : Pass<"ttg-share-operands", "::nereid::tt::FuncOp"> {
  let summary = "passes operands of matrix instructions to their threads through buffers in shared memory";
  let description = [{
    A conversion to an operand's layout that moves elements between warps, or
    follows a load, becomes a `ttg.local_alloc` and a `ttg.local_load`: the
    buffer's swizzle suits both, and pipelined loads may fill it. Operands that
    do not fit shared memory remain conversions, which run in repetitions.
    Operands that a loop does not change and that take many registers stay in
    shared memory, if there is room: each iteration reads them.
  }];
  let options = [
    Option<"maxSharedBytes", "max-shared-bytes", "unsigned", "227 * 1024", "shared memory of a CTA, in bytes">,
    Option<"keptRegisters", "kept-registers", "unsigned", "~0u",
           "32-bit registers of a thread that an operand may take throughout a loop">,
    Option<"savesRegisters", "save-registers", "bool", "false",
           "whether operands are converted at a dot that reads the other one from shared memory">,
  ];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
  let statistics = [Statistic<"numShared", "shared", "operands passed through a buffer">];
}

def PipelineLoops : Pass<"ttg-pipeline-loops", "::nereid::tt::FuncOp"> {
  let summary = "pipelines the loads that dots depend on over several iterations";
  let description = [{
    In an `scf.for` with a dot, loads that go to shared memory become
    asynchronous copies to a multi-buffered allocation of `num_stages` buffers;
    small tiles stay in registers, as many as fit beside the loop's other tiles.
    The loop keeps its trip count; the first loads
    precede it. `tt.scheduled_max_stage` is the number of iterations between a
    load and its use.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
  let options = [
    Option<"defaultStages", "num-stages", "unsigned", "3", "stages of a loop that does not set num_stages">,
    Option<"maxBytes", "max-bytes", "unsigned", "227 * 1024", "shared memory of a CTA, in bytes">,
    Option<"mayCopy", "async-copies", "bool", "true", "whether threads have asynchronous copies">,
    Option<"maxRegisters", "max-registers", "unsigned", "~0u",
           "32-bit registers of a thread for the tiles of a loop with those in flight">,
    Option<"savesRegisters", "save-registers", "bool", "false",
           "whether tiles in registers are stored to shared memory before later ones are loaded">,
  ];
  let statistics = [Statistic<"numPipelined", "pipelined", "loops whose loads are pipelined">];
}

def PrefetchLoads : Pass<"ttg-prefetch-loads", "::nereid::tt::FuncOp"> {
  let summary = "prefetches loads of a loop by one iteration, in registers";
  let description = [{
    In an `scf.for` with more than one stage, loads whose address depends on
    the induction variable and loop invariants alone are issued for the next
    iteration before this one computes; the loaded tiles are carried.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
  let options = [
    Option<"defaultStages", "num-stages", "unsigned", "1", "stages of a loop that does not set num_stages">,
    Option<"registerBudget", "register-budget", "unsigned", "32",
           "32-bit registers of a thread that the tiles of a loop may take">,
    Option<"askedStages", "kernel-stages", "unsigned", "0",
           "stages of the kernel as a whole, for a remark where a loop does not follow them">,
  ];
  let statistics = [Statistic<"numPrefetched", "prefetched", "loads prefetched">];
}

def BranchDivisions : Pass<"ttg-branch-divisions", "::nereid::tt::FuncOp"> {
  let summary = "branches around divisions of scalars where their usual result needs none";
  let description = [{
    Outside of loops, a division by `min(x, 2^n)` tests for the power of two, and a
    remainder whose quotient is not used tests for a dividend below the divisor.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def SplitConversions : Pass<"ttg-split-conversions", "::mlir::ModuleOp"> {
  let summary = "converts layouts in two steps where one needs too much shared memory";
  let description = [{
    A conversion runs in repetitions over directions of the tile along which no
    thread bit of either layout moves. Where there are none, an intermediate
    layout, whose threads move along some directions of each, has such directions
    in both steps. The largest conversions are split, until a CTA's buffers fit.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
  let options = [
    Option<"maxBytes", "max-bytes", "unsigned", "227 * 1024", "shared memory of a CTA, in bytes">,
  ];
  let statistics = [Statistic<"numSplit", "split", "conversions done in two steps">];
}

def AllocateShared : Pass<"ttg-allocate-shared", "::mlir::ModuleOp"> {
  let summary = "writes the plan of shared memory into the module";
  let description = [{
    `ttg.shared` on the module is the number of bytes per CTA; an op with a
    buffer gets `allocation.offset`, in bytes.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
}

#endif
