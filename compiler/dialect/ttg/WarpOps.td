// Declares ops that give the warps of a program different work.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_WARP_OPS
#define NEREID_TTG_WARP_OPS

include "mlir/Interfaces/SideEffectInterfaces.td"

def WarpSpecializeOp : Ttg_Op<"warp_specialize", [RecursiveMemoryEffects, DeclareOpInterfaceMethods<ScratchOpInterface>]> {
  let summary = "runs one region in each group of warps, at the same time";
  let description = [{
    The first `ttg.num-warps` warps run the default region, whose values are the results; each partition has warps of
    its own. All meet at a barrier of the CTA first, so that what was written to shared memory before is visible in
    every region; inside, a barrier counts the region's threads. `captures` are the arguments of every partition.
    `requestedRegisters` are those that each partition asks for, `actualRegisters` those of the threads by region, the
    default one first.

    With `warpGroupStartIds`, the first warp of each partition, the op may stand anywhere in a kernel and as often as
    wanted: the warps of partitions wait for it from the start, and all warps meet at its end, too. Without, the
    partitions' warps follow in order and run all ops before this one as well.

    C1. There is one number of warps, a power of two, for each partition, and the module's
        `ttg.total-num-warps`, where it is given, is the number of all, 32 at most.
    C2. Without start ids, where the total is given, the op stands in the body of a kernel, and only `tt.return`
        follows it; it has neither captures nor results.
    C3. Without them no op before it in the body has tiles, and no region uses a tile from outside.
    C4. `actualRegisters`, if given, has a multiple of 8 from 24 to 256 for each region,
        whose warps, without start ids, are whole warp groups.
    C5. The threads' `actualRegisters` are in all no more than the program starts with:
        for each thread 65536 by all threads, rounded down to 8.
    C6. Without start ids the kernel calls no function.
    C7. There are 12 partitions at most.
    C8. Where the warps are known, a region of four or more consists of whole warp groups: its first warp is a
        multiple of four.
    C9. The arguments of partitions are the captures, and the default region yields the results.

    `ttg.warp_specialize default { ttg.warp_yield } partition0 num_warps(4) { ttg.warp_return }`
    `%r = ttg.warp_specialize(%a) default { ttg.warp_yield %x : i32 } partition0(%b: i32) num_warps(4)
      { ttg.warp_return } : (i32) -> i32`
  }];
  let arguments = (ins Variadic<AnyType>:$captures, DenseI32ArrayAttr:$partitionNumWarps,
      OptionalAttr<DenseI32ArrayAttr>:$requestedRegisters, OptionalAttr<DenseI32ArrayAttr>:$warpGroupStartIds,
      OptionalAttr<DenseI32ArrayAttr>:$actualRegisters);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region SizedRegion<1>:$defaultRegion, VariadicRegion<SizedRegion<1>>:$partitionRegions);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The first warp of a region and their number; the default region has index 0.
    std::pair<unsigned, unsigned> warpsOf(unsigned region);
    /// Warps of all regions.
    unsigned totalWarps();
    /// The registers with which each thread starts where `actualRegisters` is given.
    unsigned initialRegisters();
    /// Whether the warps of partitions wait for the op from the kernel's start.
    bool isDispatched() { return getWarpGroupStartIds().has_value(); }
    /// What partitions use of the values outside.
    ::llvm::SetVector<::mlir::Value> valuesFromOutside();
  }];
}

def WarpYieldOp : Ttg_Op<"warp_yield", [Terminator, Pure, ParentOneOf<["WarpSpecializeOp"]>]> {
  let summary = "ends the default region of a `warp_specialize`";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{}]>];
}

def WarpReturnOp : Ttg_Op<"warp_return", [Terminator, Pure, ParentOneOf<["WarpSpecializeOp"]>]> {
  let summary = "ends a partition of a `warp_specialize`";
  let assemblyFormat = "attr-dict";
}

def IsFirstWarpOp : Ttg_Op<"is_first_warp", [Pure]> {
  let summary = "whether this is the first warp of those that run the region; the same for all threads of a warp";
  let description = [{
    In the branch that an `scf.if` on it takes, barriers are of the warp alone.
    `%w = ttg.is_first_warp : i1`
  }];
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

#endif
