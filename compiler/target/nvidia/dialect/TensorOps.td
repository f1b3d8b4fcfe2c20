// Declares accesses to arrays through tensor maps: whole tiles, and the copies and barriers that they are lowered to.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTNG_TENSOR_OPS
#define NEREID_TTNG_TENSOR_OPS

//--- Tiles ---------------------------------------------------------------------------------

def MakeTensorMapOp : Ttng_Op<"make_tensor_map", [AlwaysSpeculatable, AttrSizedOperandSegments, DescribesMemory,
                                                  DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "creates a tensor map of a strided array";
  let description = [{
    C1. There is one extent and one stride, in elements, for each dimension of the block; the last stride is 1.
    C2. The block has two to five dimensions of at most 256 elements; only the last one may have more.
    C3. Rows of the block have at least 16 bytes.

    The result points to the tensor map. Its lowest bit means that the array is empty,
    which tensor maps cannot express, the next one that its rows are not a multiple of
    16 bytes. `scratchOffset` is the map's offset in the program's global scratch memory,
    `scratch` a shared buffer in which it is built.

    `%m = ttng.make_tensor_map %p, [%rows, %columns], [%pitch, %one] nan %no tf32 %no
       {block = array<i64: 128, 64>} : !tt.ptr<f16>`
  }];
  let arguments = (ins Tt_PointerType:$base, Variadic<I64>:$shape, Variadic<I64>:$strides, I1:$padsWithNan,
      I1:$roundsToTf32, Optional<Ttg_MemDescType>:$scratch, DenseI64ArrayAttr:$block, UnitAttr:$isUnsigned,
      OptionalAttr<I32Attr>:$scratchOffset);
  let results = (outs Tt_PointerType:$tensorMap);
  let assemblyFormat = [{
    $base `,` `[` $shape `]` `,` `[` $strides `]` `nan` $padsWithNan `tf32` $roundsToTf32
    (`scratch` $scratch^ `:` qualified(type($scratch)))? attr-dict `:` type($base) `->` type($tensorMap)
  }];
  let hasVerifier = 1;
}

class Ttng_TileAccess<string mnemonic, list<Trait> traits = []>
    : Ttng_Op<mnemonic, traits # [DeclareOpInterfaceMethods<ScratchOpInterface>]> {
  let hasVerifier = 1;
}

def TileLoadOp : Ttng_TileAccess<"tile_load", [DeclareOpInterfaceMethods<AsyncTileLoad>, DeclareOpInterfaceMethods<LayoutRelationOpInterface>]> {
  let summary = "reads the block of an array that begins at the indices, through a tensor map";
  let description = [{
    C1. There is one index for each dimension of the block.
    C2. The tile has the block's rows, all dimensions but the last one counted, and its columns.
  }];
  let arguments = (ins Arg<Tt_PointerType, "", [MemRead]>:$tensorMap, Variadic<I32>:$indices, DenseI64ArrayAttr:$block,
      DefaultValuedAttr<Tt_EvictionPolicy, "::nereid::tt::EvictionPolicy::NORMAL">:$evict);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$tensorMap `[` $indices `]` attr-dict `:` type($tensorMap) `->` type($result)";
}

def TileStoreOp : Ttng_TileAccess<"tile_store"> {
  let summary = "writes or atomically combines the block of an array that begins at the indices, through a tensor map";
  let description = [{
    C1. There is one index for each dimension of the block.
    C2. The tile has the block's rows, all dimensions but the last one counted, and its columns.
    With `kind` each element is combined atomically with the one in memory, which no thread receives.
  }];
  let arguments = (ins Arg<Tt_PointerType, "", [MemWrite]>:$tensorMap, Variadic<I32>:$indices, AnyRankedTensor:$src,
      DenseI64ArrayAttr:$block, OptionalAttr<Tt_DescriptorReduceKind>:$kind, UnitAttr:$isUnsigned);
  let assemblyFormat = "$tensorMap `[` $indices `]` `,` $src attr-dict `:` type($tensorMap) `,` type($src)";
}

//--- Barriers ------------------------------------------------------------------------------

def InitBarrierOp : Ttng_Op<"init_barrier"> {
  let summary = "initialises every element of a buffer as a barrier that `count` arrivals complete";
  let description = [{
    TMA sees all earlier writes of the threads, to any memory, after the next barrier of the CTA.
    Where the kernel writes no global memory before, the fence for that is of shared memory alone.
    With `ofThreads` it need not.
    C1. At barriers with `ofThreads` threads alone arrive: no `barrier_expect` names them.
    `ttng.init_barrier %b {count = 1 : i32} : !ttg.memdesc<3x1xi64, #shared, #smem, mutable>`
  }];
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemWrite<Ttng_Smem>]>:$barriers, I32Attr:$count,
      UnitAttr:$ofThreads);
  let assemblyFormat = "$barriers attr-dict `:` qualified(type($barriers))";
  let hasVerifier = 1;
}

def InvalBarrierOp : Ttng_Op<"inval_barrier"> {
  let summary = "invalidates barriers, so that their memory can be reused";
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemWrite<Ttng_Smem>]>:$barriers);
  let assemblyFormat = "$barriers attr-dict `:` qualified(type($barriers))";
}

def BarrierExpectOp : Ttng_Op<"barrier_expect", [StartsTransfer, PredicatedOp]> {
  let summary = "arrives at a barrier and adds so many expected bytes; does nothing where `pred` is false";
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemWrite<Ttng_Smem>]>:$barrier, I32Attr:$size, I1:$pred);
  let assemblyFormat = "$barrier `,` $pred attr-dict `:` qualified(type($barrier))";
}

// The effects order all accesses, not only those of the operand: nothing may be moved across the wait.
def WaitBarrierOp : Ttng_Op<"wait_barrier", [MemoryEffects<[MemRead<Ttng_Smem>, MemWrite<Ttng_Smem>]>]> {
  let summary = "waits until the barrier's phase of that parity is complete and its copies are visible";
  let description = [{
    With `byWarp` no thread of a warp goes on before all of them have passed the wait. Where one
    thread of the warp starts what completes later phases, the others could else miss the end of
    a phase, see the parity of the one after it, and wait for ever.
    `ttng.wait_barrier %b, %phase {byWarp} : !ttg.memdesc<1xi64, #shared, #smem, mutable>`
  }];
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemRead<Ttng_Smem>]>:$barrier, I32:$phase, UnitAttr:$byWarp);
  let assemblyFormat = "$barrier `,` $phase attr-dict `:` qualified(type($barrier))";
}

def ArriveBarrierOp : Ttng_Op<"arrive_barrier", [MemoryEffects<[MemRead<Ttng_Smem>, MemWrite<Ttng_Smem>]>]> {
  let summary = "one thread of each warp arrives at a barrier, after the accesses of all threads of the warp";
  let description = [{
    The barrier's count is the number of warps that arrive in a phase. No thread arrives
    where `pred` is given and false.
    `ttng.arrive_barrier %b : !ttg.memdesc<1xi64, #shared, #smem, mutable>`
  }];
  let arguments = (ins Ttg_MemDescType:$barrier, Optional<I1>:$pred);
  let assemblyFormat = "$barrier (`if` $pred^)? attr-dict `:` qualified(type($barrier))";
}

def AsyncCopyMbarrierArriveOp : Ttng_Op<"async_copy_mbarrier_arrive", [MemoryEffects<[MemRead<Ttng_Smem>, MemWrite<Ttng_Smem>]>]> {
  let summary = "each thread arrives at a barrier when its `async_copy_global_to_local` before this op are done";
  let description = [{
    The barrier's count is the number of threads that arrive in a phase. Threads that
    waited at the barrier see the copies, and so does wgmma.
    Copies of vectors of less than 4 bytes are not asynchronous and cannot precede it.
    `ttng.async_copy_mbarrier_arrive %b : !ttg.memdesc<1xi64, #shared, #smem, mutable>`
  }];
  let arguments = (ins Ttg_MemDescType:$barrier);
  let assemblyFormat = "$barrier attr-dict `:` qualified(type($barrier))";
}

//--- Copies --------------------------------------------------------------------------------

def AsyncTmaCopyGlobalToLocalOp : Ttng_Op<"async_tma_copy_global_to_local", [StartsTransfer, PredicatedOp]> {
  let summary = "starts a TMA load of a block, whose bytes the barrier counts; does nothing where `pred` is false";
  let description = [{
    C1. The buffer has the layout in which TMA writes blocks.
    Elements outside of the array become the map's padding, and their bytes count too.
  }];
  let arguments = (ins Arg<Tt_PointerType, "", [MemRead]>:$tensorMap, Variadic<I32>:$indices,
      Arg<Ttg_MemDescType, "", [MemWrite<Ttng_Smem>]>:$barrier, Arg<Ttg_MemDescType, "", [MemWrite<Ttng_Smem>]>:$result,
      I1:$pred, DenseI64ArrayAttr:$block,
      DefaultValuedAttr<Tt_EvictionPolicy, "::nereid::tt::EvictionPolicy::NORMAL">:$evict);
  let assemblyFormat = [{
    $tensorMap `[` $indices `]` $result `,` $barrier `,` $pred attr-dict `:` type($tensorMap) `,` qualified(type($barrier)) `->`
    qualified(type($result))
  }];
  let hasVerifier = 1;
}

def AsyncTmaCopyLocalToGlobalOp : Ttng_Op<"async_tma_copy_local_to_global"> {
  let summary = "starts a TMA store or reduction of a block from shared memory, as a group of its own";
  let description = [{
    C1. The buffer has the layout in which TMA reads blocks.
    Elements outside of the array are not stored. The threads store the blocks that
    TMA cannot store: those that begin before the array, and those of arrays whose rows
    are not a multiple of 16 bytes.
  }];
  let arguments = (ins Arg<Tt_PointerType, "", [MemWrite]>:$tensorMap, Variadic<I32>:$indices,
      Arg<Ttg_MemDescType, "", [MemRead<Ttng_Smem>]>:$src, DenseI64ArrayAttr:$block,
      OptionalAttr<Tt_DescriptorReduceKind>:$kind, UnitAttr:$isUnsigned);
  let assemblyFormat = "$tensorMap `[` $indices `]` $src attr-dict `:` type($tensorMap) `,` qualified(type($src))";
  let hasVerifier = 1;
}

def AsyncTmaStoreWaitOp : Ttng_Op<"async_tma_store_wait", [MemoryEffects<[MemRead<Ttng_Smem>, MemWrite<Ttng_Smem>]>]> {
  let summary = "waits until all but the last `pendings` groups of copies from shared memory are done, or have read it";
  let arguments = (ins Arg<Variadic<Ttg_MemDescType>, "", [MemRead<Ttng_Smem>]>:$sources, I32Attr:$pendings,
      UnitAttr:$readOnly);
  let assemblyFormat = "$sources attr-dict `:` qualified(type($sources))";
}

#endif
