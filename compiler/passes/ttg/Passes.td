// Declares the passes that turn `tt` into `ttg` and improve it.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_PASSES
#define NEREID_TTG_PASSES

include "mlir/Pass/PassBase.td"

def AssignLayouts : Pass<"ttg-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "gives every tile of a `tt` module a layout over threads";
  let description = [{
    Accesses to memory say which layouts they want; the tiles connected with
    them agree on one where they can. A `ttg.convert_layout` stands only where
    two wishes meet. The module gets `ttg.num-warps` and the other facts.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
  let options = [
    Option<"numWarps", "num-warps", "unsigned", "4", "warps of a block">,
    Option<"threadsPerWarp", "threads-per-warp", "unsigned", "32", "threads of a warp">,
    Option<"numCtas", "num-ctas", "unsigned", "1", "blocks of a program, one of which runs it">,
    Option<"target", "target", "std::string", "\"cuda:90\"", "what code is made for">,
    Option<"hasWarpMma", "warp-mma", "bool", "true", "whether warps have matrix instructions">,
    Option<"hasWarpGroupMma", "warp-group-mma", "bool", "false", "whether groups of four warps have them, too">,
    Option<"maxSharedBytes", "max-shared-bytes", "unsigned", "227 * 1024", "shared memory of a block">,
    Option<"hasVectorAtomics", "vector-atomics", "bool", "false", "whether atomic sums take vectors of floats">,
  ];
  let statistics = [Statistic<"numConversions", "conversions", "layout conversions inserted">];
}

def AccumulateInThreads : Pass<"ttg-accumulate-in-threads", "::nereid::tt::FuncOp"> {
  let summary = "makes reductions that a loop accumulates cross threads once, after the loop";
  let description = [{
    Where a loop carries `acc op reduce(x)` and nothing else uses the reduction, each thread combines what it holds of `x`
    with an accumulator of its own; a reduction after the loop crosses threads. The order of combination changes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::nereid::ttg::TtgDialect"];
  let statistics = [Statistic<"numAccumulated", "accumulated", "reductions moved behind loops">];
}

def UnrollLoops : Pass<"ttg-unroll-loops", "::nereid::tt::FuncOp"> {
  let summary = "unrolls loops over tiles that ask for it";
  let description = [{
    `tt.loop_unroll_factor` iterations of an `scf.for` become one turn; a second
    loop runs what is left. It comes before layouts and stages are chosen, so that
    the loads of all these iterations run ahead.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numUnrolled", "unrolled", "loops unrolled">];
}

def FlattenLoops : Pass<"ttg-flatten-loops", "::nereid::tt::FuncOp"> {
  let summary = "makes one loop of two where the outer one asks for it";
  let description = [{
    An `scf.for` with `tt.flatten` and the one loop in it become a loop over the
    turns of both, where the inner bounds do not change and what stands before
    the inner loop has no effect. Loads of the next outer turn can then be
    started before the end of this one.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numFlattened", "flattened", "loops that hold another no more">];
}

def ShareOperands : Pass<"ttg-share-operands", "::nereid::tt::FuncOp"> {
  let summary = "brings operands of matrix instructions to their threads through buffers in shared memory";
  let description = [{
    A conversion to an operand's layout that moves elements between warps, or
    stands behind a load, becomes a `ttg.local_alloc` and a `ttg.local_load`: the
    buffer's swizzle suits both, and loads may fill it ahead of time. Operands
    that shared memory has no room for stay conversions, which go in parts.
  }];
  let options = [Option<"maxSharedBytes", "max-shared-bytes", "unsigned", "227 * 1024", "shared memory of a block">];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
  let statistics = [Statistic<"numShared", "shared", "operands that come through a buffer">];
}

def PipelineLoops : Pass<"ttg-pipeline-loops", "::nereid::tt::FuncOp"> {
  let summary = "starts the loads that products need several iterations ahead";
  let description = [{
    In an `scf.for` with a product, loads that go to shared memory become
    asynchronous copies to a ring of buffers, `num_stages` of them; small tiles
    wait in registers. The loop keeps its number of turns; the first loads stand
    before it. `tt.scheduled_max_stage` says how many turns they are ahead.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
  let options = [
    Option<"defaultStages", "num-stages", "unsigned", "3", "stages of a loop that does not say how many">,
    Option<"maxBytes", "max-bytes", "unsigned", "227 * 1024", "shared memory of a block">,
    Option<"mayCopy", "async-copies", "bool", "true", "whether copies can run beside threads">,
  ];
  let statistics = [Statistic<"numPipelined", "pipelined", "loops whose loads run ahead">];
}

def PrefetchLoads : Pass<"ttg-prefetch-loads", "::nereid::tt::FuncOp"> {
  let summary = "issues loads of a loop one iteration ahead, in registers";
  let description = [{
    In an `scf.for` with more than one stage, loads whose address depends on
    nothing but the induction variable are issued for the next iteration before
    this one computes; the loaded tiles are carried.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
  let options = [
    Option<"defaultStages", "num-stages", "unsigned", "1", "stages of a loop that does not say how many">,
    Option<"registerBudget", "register-budget", "unsigned", "32",
           "32-bit registers of a thread that the tiles of a loop may take">,
    Option<"askedStages", "kernel-stages", "unsigned", "0",
           "stages of the kernel as a whole, for a remark where a loop does not follow them">,
  ];
  let statistics = [Statistic<"numPrefetched", "prefetched", "loads issued ahead">];
}

def FormWarpGroupDots : Pass<"ttg-form-warp-group-dots", "::nereid::tt::FuncOp"> {
  let summary = "gives products whose result has the layout of warp groups their buffers in shared memory";
  let description = [{
    Where the layout of a `tt.dot` says so it becomes `ttng.warp_group_dot`.
    Operands that no thread needs in registers are written to shared memory in
    an encoding that the instructions read, behind a fence for the async proxy.
  }];
  let dependentDialects = ["::nereid::ttng::TtngDialect"];
  let statistics = [Statistic<"numFormed", "formed", "products by warp groups">];
}

def LowerDescriptorsToTma : Pass<"ttg-lower-descriptors-to-tma", "::mlir::ModuleOp"> {
  let summary = "turns tensor descriptors that the copy engine can take into maps";
  let description = [{
    Runs on `tt`. Of a type of descriptors all become `ttng.make_tensor_map`, and
    accesses `ttng.tile_load` and `ttng.tile_store`, where a product reads or makes
    one of their tiles, and blocks, alignment and accesses allow it; a remark says
    why not. What is left `tt-rewrite-descriptors` expands.

    A descriptor that the host made comes as its parts, of which the kernel makes
    a map; with `host-tensor-maps` as a map, passed by value. Then it has to become one,
    as a map does not say where its array lies.
  }];
  let options = [Option<"wherePossible", "where-possible", "bool", "false", "products or not">,
                 Option<"hostTensorMaps", "host-tensor-maps", "bool", "false", "the host passes its descriptors as maps">];
  let dependentDialects = ["::nereid::ttng::TtngDialect"];
}

def LowerTileAccesses : Pass<"ttg-lower-tile-accesses", "::mlir::ModuleOp"> {
  let summary = "turns accesses to tiles through maps into copies by the engine and waits";
  let description = [{
    A tile that no loop has taken ahead is copied to a buffer and waited for where
    it stands. Maps get their places in the memory of a program,
    `ttg.global_scratch_memory_size` bytes.
  }];
  let dependentDialects = ["::nereid::ttng::TtngDialect"];
}

def SplitConversions : Pass<"ttg-split-conversions", "::mlir::ModuleOp"> {
  let summary = "converts layouts in two steps where one needs too much shared memory";
  let description = [{
    A conversion is done in repetitions over directions of the tile that no
    thread bit of either side moves. Where there are none, a layout between the
    two, whose threads move along some directions of each, has them on both
    ways.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
  let options = [
    Option<"maxBytes", "max-bytes", "unsigned", "227 * 1024", "shared memory of a block">,
  ];
  let statistics = [Statistic<"numSplit", "split", "conversions done in two steps">];
}

def AllocateShared : Pass<"ttg-allocate-shared", "::mlir::ModuleOp"> {
  let summary = "writes the plan of shared memory into the module";
  let description = [{
    `ttg.shared` on the module is the number of bytes of a block; an op that
    has a buffer gets `allocation.offset`.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
}

#endif
