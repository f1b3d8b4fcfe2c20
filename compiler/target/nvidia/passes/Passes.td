// Declares the passes that form NVIDIA's ops: warp-group dots, and TMA accesses.
// SPDX-License-Identifier: MIT
#ifndef NEREID_NVIDIA_PASSES
#define NEREID_NVIDIA_PASSES

include "mlir/Pass/PassBase.td"

def FormWarpGroupDots : Pass<"nvidia-form-warp-group-dots", "::nereid::tt::FuncOp"> {
  let summary = "turns dots with a warp-group layout into wgmma dots with operands in shared memory";
  let description = [{
    A `tt.dot` with a warp-group layout becomes `ttng.warp_group_dot`. Operands
    not needed in registers are written to shared memory in an encoding that the
    instructions read, followed by a fence for the async proxy.
  }];
  let dependentDialects = ["::nereid::ttng::TtngDialect"];
  let statistics = [Statistic<"numFormed", "formed", "warp-group dots">];
}

def LowerDescriptorsToTma : Pass<"nvidia-lower-descriptors-to-tma", "::mlir::ModuleOp"> {
  let summary = "turns tensor descriptors that TMA supports into tensor maps";
  let description = [{
    Runs on `tt`. All descriptors of a type become `ttng.make_tensor_map`, and
    accesses `ttng.tile_load` and `ttng.tile_store`, if a dot reads or produces
    one of their tiles, and blocks, alignment and accesses allow it; otherwise a
    remark gives the reason, and `tt-rewrite-descriptors` expands them.

    A descriptor from the host is passed as its fields, from which the kernel makes
    a tensor map; with `host-tensor-maps` it is passed as a tensor map, by value.
    Then TMA is the only way to access it, as a tensor map does not reveal the
    address of its array.
  }];
  let options = [Option<"wherePossible", "where-possible", "bool", "false", "also where no dot uses the tiles">,
                 Option<"hostTensorMaps", "host-tensor-maps", "bool", "false",
                        "the host passes its descriptors as tensor maps">];
  let dependentDialects = ["::nereid::ttng::TtngDialect"];
}

def LowerDescriptorCopies : Pass<"nvidia-lower-descriptor-copies", "::mlir::ModuleOp"> {
  let summary = "turns descriptors of TMA copies, whose layout is given, into tensor maps";
  let description = [{
    Runs on `ttg` that the user wrote. A kernel's descriptor arguments become their fields, or, with
    `host-tensor-maps`, tensor maps that the host passes by value.
  }];
  let options = [Option<"hostTensorMaps", "host-tensor-maps", "bool", "false",
                        "the host passes its descriptors as tensor maps">];
  let dependentDialects = ["::nereid::ttng::TtngDialect"];
}

def AllocateWarps : Pass<"nvidia-allocate-warps", "::mlir::ModuleOp"> {
  let summary = "gives the partitions of `ttg.warp_specialize` their warps and registers";
  let description = [{
    Sets `ttg.total-num-warps`, and `actualRegisters` where registers were requested: each partition gets what it asks
    for, and the default region the rest.
  }];
}

def MoveMapsToLauncher : Pass<"nvidia-move-maps-to-launcher", "::mlir::ModuleOp"> {
  let summary = "lets the launcher make the tensor maps that depend on arguments alone";
  let description = [{
    A `ttng.make_tensor_map` in the body of a kernel becomes an argument with a
    `ttng.recipe`; conditions on the arguments become `ttng.launch_conditions` of the
    kernel. Maps of arrays that the kernel both reads and writes stay, and so do maps
    whose boxes may begin before the array that they are stored to.
  }];
  let dependentDialects = ["::nereid::ttng::TtngDialect"];
  let statistics = [Statistic<"numMoved", "moved", "maps that the launcher makes">];
}

def PromoteLoads : Pass<"nvidia-promote-loads", "::mlir::ModuleOp"> {
  let summary = "loads dots' operands through tensor maps that the launcher makes";
  let description = [{
    Runs on `tt`. A load in a loop whose tile a warp-group dot reads becomes a
    `ttng.tile_load` where its pointers and its mask describe a box of a strided
    array: base, extents and strides depend on the kernel's arguments alone. The
    tensor map becomes an argument of the kernel with a `ttng.recipe`, conditions on
    the arguments become `ttng.launch_conditions` of the kernel. Either all such
    loads of a kernel are replaced or none, and a note gives the reason.
  }];
  let options = [Option<"numWarps", "num-warps", "unsigned", "4", "warps of a CTA">,
                 Option<"maxBytes", "max-bytes", "unsigned", "227 * 1024", "shared memory of a CTA, in bytes">];
  let dependentDialects = ["::nereid::ttng::TtngDialect"];
  let statistics = [Statistic<"numPromoted", "promoted", "loads through tensor maps">];
}

def SplitOverCluster : Pass<"nvidia-split-over-cluster", "::mlir::ModuleOp"> {
  let summary = "splits a kernel's tiles over the CTAs of its cluster";
  let description = [{
    Runs on `tt`. Each CTA gets a part of the tiles that are split, along one
    dimension each; the others are computed by every CTA, and their side effects are
    those of the first CTA. Where a value is needed that several CTAs hold parts of,
    they exchange it. A kernel in which no split pays is left as it is, and a remark
    gives the reason: then its first CTA runs all of it.
  }];
  let options = [Option<"numCtas", "num-ctas", "unsigned", "2", "CTAs of a cluster">,
                 Option<"maxBytes", "max-bytes", "unsigned", "227 * 1024", "shared memory of a CTA, in bytes">,
                 Option<"wherePossible", "where-possible", "bool", "false", "also where exchanges cost more than a split saves">];
  let dependentDialects = ["::nereid::ttng::TtngDialect"];
}

def LowerTileAccesses : Pass<"nvidia-lower-tile-accesses", "::mlir::ModuleOp"> {
  let summary = "turns tile accesses through tensor maps into TMA copies and waits";
  let description = [{
    A tile load that no loop has pipelined becomes a copy to a buffer and a wait at
    the same point. Tensor maps get offsets in the program's global scratch memory
    of `ttg.global_scratch_memory_size` bytes.
  }];
  let dependentDialects = ["::nereid::ttng::TtngDialect"];
}

def KeepOperands : Pass<"nvidia-keep-operands", "::nereid::tt::FuncOp"> {
  let summary = "keeps operands of dots that loops do not change in registers";
  let description = [{
    A left operand in shared memory is read before the loop where instructions of
    few columns would read it again in every iteration, for longer than they
    compute, and where registers suffice.
  }];
  let dependentDialects = ["::nereid::ttng::TtngDialect"];
  let statistics = [Statistic<"numKept", "kept", "dots with such an operand in registers">];
}

def DeferDotWaits : Pass<"nvidia-defer-dot-waits", "::nereid::tt::FuncOp"> {
  let summary = "lets several dots of a block be in flight, each until its result is used";
  let description = [{
    Dots that do not depend on each other start together. Blocks in which other
    passes have made dots asynchronous are left alone.
  }];
  let dependentDialects = ["::nereid::ttng::TtngDialect"];
  let statistics = [Statistic<"numDeferred", "deferred", "runs of ops with several dots in flight">];
}

def SpecializeWarps : Pass<"nvidia-specialize-warps", "::mlir::ModuleOp"> {
  let summary = "gives the loads of loops of chained dots to warps of their own";
  let description = [{
    In a kernel whose loops have two chained warp-group dots, as attention has, a
    partition of four warps copies the loaded tiles to multi-buffered allocations, and the
    default region computes: it starts the first dot of the next iteration before
    the second one of this iteration. Other kernels are left to `ttg-pipeline-loops`.
  }];
  let options = [Option<"defaultStages", "num-stages", "unsigned", "3", "stages of a loop that does not set num_stages">,
                 Option<"maxBytes", "max-bytes", "unsigned", "227 * 1024", "shared memory of a CTA, in bytes">,
                 Option<"mayPersist", "may-persist", "bool", "false", "CTAs may run several programs">];
  let dependentDialects = ["::nereid::ttng::TtngDialect"];
  let statistics = [Statistic<"numSpecialized", "specialized", "kernels with a partition">];
}

#endif
