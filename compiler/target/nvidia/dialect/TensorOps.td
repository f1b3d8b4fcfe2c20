// Declares accesses to arrays through tensor maps: whole tiles, and the copies and barriers that they are lowered to.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTNG_TENSOR_OPS
#define NEREID_TTNG_TENSOR_OPS

//--- Tiles ---------------------------------------------------------------------------------

def Ttng_Map : AnyTypeOf<[Tt_PointerType, Tt_TensorDescType]>;

def MakeTensorMapOp : Ttng_Op<"make_tensor_map", [AlwaysSpeculatable, AttrSizedOperandSegments, DescribesMemory,
                                                  DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "creates a tensor map of a strided array";
  let description = [{
    C1. There is one extent and one stride, in elements, for each dimension of the block; the last stride is 1.
    C2. The block has two to five dimensions, without `layout`, of at most 256 elements; only the last one may have more.
    C3. Rows of the block have at least 16 bytes.

    The result points to the tensor map. Its lowest bit means that the array is empty,
    which tensor maps cannot express, the next one that its rows are not a multiple of
    16 bytes. `layout` is that of the buffers, where it is not the widest that fits. `scratchOffset` is the map's offset in the program's global scratch memory,
    `scratch` a shared buffer in which it is built.

    `%m = ttng.make_tensor_map %p, [%rows, %columns], [%pitch, %one] nan %no tf32 %no
       {block = array<i64: 128, 64>} : !tt.ptr<f16>`
  }];
  let arguments = (ins Tt_PointerType:$base, Variadic<I64>:$shape, Variadic<I64>:$strides, I1:$padsWithNan,
      I1:$roundsToTf32, Optional<Ttg_MemDescType>:$scratch, DenseI64ArrayAttr:$block, UnitAttr:$isUnsigned,
      OptionalAttr<I32Attr>:$scratchOffset, OptionalAttr<AnyAttr>:$layout);
  let results = (outs Tt_PointerType:$tensorMap);
  let assemblyFormat = [{
    $base `,` `[` $shape `]` `,` `[` $strides `]` `nan` $padsWithNan `tf32` $roundsToTf32
    (`scratch` $scratch^ `:` qualified(type($scratch)))? attr-dict `:` type($base) `->` type($tensorMap)
  }];
  let extraClassDeclaration = [{
    /// The block with its elements, signed as the array's, and its layout.
    ::mlir::RankedTensorType blockType();
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
    C2. The buffer holds i64, and `count` is from 1 to 1048575.
    `ttng.init_barrier %b, 1 : !ttg.memdesc<3x1xi64, #shared, #smem, mutable>`
  }];
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemWrite<Ttng_Smem>]>:$barriers, I32Attr:$count,
      UnitAttr:$ofThreads);
  let assemblyFormat = "$barriers `,` $count attr-dict `:` qualified(type($barriers))";
  let hasVerifier = 1;
}

def InvalBarrierOp : Ttng_Op<"inval_barrier"> {
  let summary = "invalidates barriers, so that their memory can be reused";
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemWrite<Ttng_Smem>]>:$barriers);
  let assemblyFormat = "$barriers attr-dict `:` qualified(type($barriers))";
}

def BarrierExpectOp : Ttng_Op<"barrier_expect", [StartsTransfer, PredicatedOp]> {
  let summary = "arrives at a barrier and adds so many expected bytes; does nothing where `pred` is false";
  let description = [{
    C1. The buffer is one barrier, and the bytes are not negative.
    `ttng.barrier_expect %b, 4096, %true : !ttg.memdesc<1xi64, #shared, #smem, mutable>`
  }];
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemWrite<Ttng_Smem>]>:$barrier, I32Attr:$size, I1:$pred);
  let assemblyFormat = "$barrier `,` $size `,` $pred attr-dict `:` qualified(type($barrier))";
  let hasVerifier = 1;
}

// The effects order all accesses, not only those of the operand: nothing may be moved across the wait.
def WaitBarrierOp : Ttng_Op<"wait_barrier", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead<Ttng_Smem>, MemWrite<Ttng_Smem>]>]> {
  let summary = "waits until the barrier's phase of that parity is complete and its copies are visible";
  let description = [{
    With `byWarp` no thread of a warp goes on before all of them have passed the wait. Where one
    thread of the warp starts what completes later phases, the others could else miss the end of
    a phase, see the parity of the one after it, and wait for ever. Where `pred` is given and false
    there is no wait. `deps` are the buffers that the copies fill.
    C1. The buffer is one barrier.
    `ttng.wait_barrier %b, %phase {byWarp} : !ttg.memdesc<1xi64, #shared, #smem, mutable>`
  }];
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemRead<Ttng_Smem>]>:$barrier, I32:$phase, Optional<I1>:$pred,
      Variadic<Ttg_MemDescType>:$deps, UnitAttr:$byWarp);
  let assemblyFormat = [{
    $barrier `,` $phase (`,` $pred^)? (`deps` $deps^)? attr-dict `:` qualified(type($barrier)) (`,` qualified(type($deps))^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$barrier, "::mlir::Value":$phase, CArg<"bool", "false">:$byWarp), [{
    build($_builder, $_state, barrier, phase, ::mlir::Value(), ::mlir::ValueRange(), byWarp);
  }]>];
  let hasVerifier = 1;
}

def ArriveBarrierOp : Ttng_Op<"arrive_barrier", [MemoryEffects<[MemRead<Ttng_Smem>, MemWrite<Ttng_Smem>]>,
                                                DeclareOpInterfaceMethods<ThreadsSignal>]> {
  let summary = "arrives at a barrier `count` times, after the accesses of all threads";
  let description = [{
    One thread arrives, after a barrier of the threads where their accesses need one. With `byWarp` one
    thread of each warp arrives, after the accesses of that warp alone: then the barrier's count is the
    number of warps that arrive in a phase. No thread arrives where `pred` is given and false.
    C1. The buffer is one barrier, `count` is 1 or more, and 1 with `byWarp`.
    `ttng.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #shared, #smem, mutable>`
  }];
  let arguments = (ins Ttg_MemDescType:$barrier, I32Attr:$count, Optional<I1>:$pred, UnitAttr:$byWarp);
  let assemblyFormat = "$barrier `,` $count (`,` $pred^)? attr-dict `:` qualified(type($barrier))";
  let hasVerifier = 1;
}

def AsyncCopyMbarrierArriveOp : Ttng_Op<"async_copy_mbarrier_arrive", [MemoryEffects<[MemRead<Ttng_Smem>, MemWrite<Ttng_Smem>]>]> {
  let summary = "each thread arrives at a barrier when its `async_copy_global_to_local` before this op are done";
  let description = [{
    With `noIncrement` the barrier's count is the number of threads that arrive in a phase; without, each arrival is
    added to the count first, so that it changes nothing in the end but delays the phase. Threads that
    waited at the barrier see the copies, and so does wgmma.
    Copies of vectors of less than 4 bytes are not asynchronous and cannot precede it.
    C1. The buffer is one barrier.
    `ttng.async_copy_mbarrier_arrive %b {noIncrement} : !ttg.memdesc<1xi64, #shared, #smem, mutable>`
  }];
  let arguments = (ins Ttg_MemDescType:$barrier, UnitAttr:$noIncrement);
  let assemblyFormat = "$barrier attr-dict `:` qualified(type($barrier))";
  let hasVerifier = 1;
}

//--- Copies --------------------------------------------------------------------------------

class Ttng_TmaCopy<string mnemonic, list<Trait> traits = []> : Ttng_Op<mnemonic, traits> {
  let hasVerifier = 1;
  code blockMethods = [{
    /// The extents of the block, slowest dimension first: those of the descriptor, or of the tensor map's.
    ::llvm::ArrayRef<int64_t> blockShape();
  }];
}

def AsyncTmaCopyGlobalToLocalOp : Ttng_TmaCopy<"async_tma_copy_global_to_local", [StartsTransfer, PredicatedOp]> {
  let summary = "starts a TMA load of a block, whose bytes the barrier counts; does nothing where `pred` is false";
  let description = [{
    C1. The buffer has the layout in which TMA writes blocks, and a descriptor's the descriptor's.
    C2. There is one index for each dimension of the block, and `block` is given for tensor maps.
    Elements outside of the array become the map's padding, and their bytes count too.
  }];
  let arguments = (ins Arg<Ttng_Map, "", [MemRead]>:$tensorMap, Variadic<I32>:$indices,
      Arg<Ttg_MemDescType, "", [MemWrite<Ttng_Smem>]>:$barrier, Arg<Ttg_MemDescType, "", [MemWrite<Ttng_Smem>]>:$result,
      I1:$pred, OptionalAttr<DenseI64ArrayAttr>:$block,
      DefaultValuedAttr<Tt_EvictionPolicy, "::nereid::tt::EvictionPolicy::NORMAL">:$evict);
  let assemblyFormat = [{
    $tensorMap `[` $indices `]` $result `,` $barrier `,` $pred attr-dict `:`
    qualified(type($tensorMap)) `,` qualified(type($barrier)) `->` qualified(type($result))
  }];
  let extraClassDeclaration = blockMethods;
}

def AsyncTmaCopyLocalToGlobalOp : Ttng_TmaCopy<"async_tma_copy_local_to_global"> {
  let summary = "starts a TMA store or reduction of a block from shared memory, as a group of its own";
  let description = [{
    C1. The buffer has the layout in which TMA reads blocks.
    C2. There is one index for each dimension of the block, and `block` is given for tensor maps.
    Elements outside of the array are not stored. With `threadsStoreRest` the threads store the blocks that
    TMA cannot store: those that begin before the array, and those of arrays whose rows
    are not a multiple of 16 bytes.
  }];
  let arguments = (ins Arg<Ttng_Map, "", [MemWrite]>:$tensorMap, Variadic<I32>:$indices,
      Arg<Ttg_MemDescType, "", [MemRead<Ttng_Smem>]>:$src, OptionalAttr<DenseI64ArrayAttr>:$block,
      OptionalAttr<Tt_DescriptorReduceKind>:$kind, UnitAttr:$isUnsigned, UnitAttr:$threadsStoreRest);
  let assemblyFormat = "$tensorMap `[` $indices `]` $src attr-dict `:` qualified(type($tensorMap)) `,` qualified(type($src))";
  let extraClassDeclaration = blockMethods;
}

def AsyncTmaReduceOp : Ttng_TmaCopy<"async_tma_reduce"> {
  let summary = "starts a TMA reduction of a block from shared memory through a descriptor, as a group of its own";
  let description = [{
    C1. The buffer has the descriptor's layout.
    C2. There is one index for each dimension of the block.
    C3. TMA has the reduction of such elements.

    `ttng.async_tma_reduce add, %d[%i, %j] %buffer : !tt.tensordesc<64x64xf32, #shared>, !ttg.memdesc<64x64xf32, ...>`
  }];
  let arguments = (ins Tt_DescriptorReduceKind:$kind, Arg<Tt_TensorDescType, "", [MemRead, MemWrite]>:$tensorMap,
      Variadic<I32>:$indices, Arg<Ttg_MemDescType, "", [MemRead<Ttng_Smem>]>:$src);
  let assemblyFormat = [{
    $kind `,` $tensorMap `[` $indices `]` $src attr-dict `:` qualified(type($tensorMap)) `,` qualified(type($src))
  }];
  let extraClassDeclaration = blockMethods;
}

def AsyncTmaStoreWaitOp : Ttng_Op<"async_tma_store_wait", [MemoryEffects<[MemRead<Ttng_Smem>, MemWrite<Ttng_Smem>]>]> {
  let summary = "waits until all but the last `pendings` groups of copies from shared memory are done, or have read it";
  let description = [{
    Without `sources` a barrier of the threads follows: any of them may write the buffers.
    `ttng.async_tma_store_wait {pendings = 0 : i32, read_only}`
  }];
  let arguments = (ins Arg<Variadic<Ttg_MemDescType>, "", [MemRead<Ttng_Smem>]>:$sources, I32Attr:$pendings,
      UnitAttr:$read_only);
  let assemblyFormat = "($sources^ `:` qualified(type($sources)))? attr-dict";
}

#endif
