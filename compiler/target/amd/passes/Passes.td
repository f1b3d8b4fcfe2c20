// Declares the passes of the AMD target.
// SPDX-License-Identifier: MIT
#ifndef NEREID_AMD_PASSES
#define NEREID_AMD_PASSES

include "mlir/Pass/PassBase.td"

def BoundOffsets : Pass<"amd-bound-offsets", "::nereid::tt::FuncOp"> {
  let summary = "splits pointers of accesses into a scalar and an offset of 32 bits, which buffer instructions take";
  let description = [{
    A load or store gets the attribute `ttg.bounded_offset`, and its pointer becomes `tt.addptr` of a `tt.splat`, if
    its offset in bytes is not negative and below 2^31 wherever the mask is true. That is so if the range of the offset
    shows it, or if the offset is not negative and starts at an argument with `tt.pointer_range` = 32, whose storage
    has less than 2^31 bytes: then an access farther away would be outside of the storage.

    The scalar takes all parts of an address that are the same in all lanes; a loop that moves a tile of pointers by
    equal steps carries a scalar instead.
  }];
  let options = [Option<"trustsStorage", "trusts-storage", "bool", "true",
                        "whether accesses are known to stay within the storage of their argument">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::nereid::tt::TtDialect"];
  let statistics = [Statistic<"numBounded", "bounded", "accesses with an offset of 32 bits">];
}

def RewriteImportedOps : Pass<"amd-rewrite-imported-ops", "::mlir::ModuleOp"> {
  let summary = "rewrites ops of `amdg` and `rocdl` in imported TTGIR as ops of `tt` and `ttg`";
  let description = [{
    Accesses to buffers become accesses through pointers that are marked as
    buffers' own, copies to shared memory those of `ttg`, transpositions in
    threads conversions of layouts, hints to the scheduler ops of `amdg`. Barriers
    of a part of the waves, which only set them off against each other, are erased.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
}

def OrderCopies : Pass<"amd-order-copies", "::nereid::tt::FuncOp"> {
  let summary = "lays out loads for buffers in shared memory so that a wave fills consecutive addresses";
  let description = [{
    A load to LDS without registers writes the lanes' vectors one after another. So a load in a loop whose tile only
    goes to a buffer gets the layout that the buffer's own order gives: the vectors along its offsets are distributed
    over lanes, then over waves, then over registers. Offsets and masks are computed in that layout. Which loads become
    such copies the pipeliner decides.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::nereid::tt::TtDialect", "::nereid::ttg::TtgDialect"];
  let statistics = [Statistic<"numOrdered", "ordered", "loads in the order of their buffer">];
}

#endif
