// Declares the ops of `ttng`. Their rules are numbered (C1..); the family's .cpp file verifies them.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTNG_OPS
#define NEREID_TTNG_OPS

include "compiler/dialect/tt/Enums.td"
include "compiler/dialect/tt/Interfaces.td"
include "compiler/dialect/tt/Traits.td"
include "compiler/dialect/tt/Types.td"
include "compiler/dialect/ttg/Interfaces.td"
include "compiler/dialect/ttg/Types.td"
include "compiler/dialect/ttg/AsyncInterfaces.td"
include "compiler/target/nvidia/dialect/Dialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Ttng_Op<string mnemonic, list<Trait> traits = []> : Op<Ttng_Dialect, mnemonic, traits>;

def Ttng_Smem : Resource<"::nereid::ttg::SharedMemory">;
def Ttng_TileOrBuffer : AnyTypeOf<[AnyRankedTensor, Ttg_MemDescType]>;

//--- Dot -----------------------------------------------------------------------------------

def WarpGroupDotOp : Ttng_Op<"warp_group_dot", [DotOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                               TypesMatchWith<"result and c have one type", "d", "c", "$_self">]> {
  let summary = "matrix multiplication of buffers in shared memory, added to a tile, by groups of four warps (wgmma)";
  let description = [{
    d = a * b + c, or a * b where `useC` is given and false. `a` may be a tile.
    With `isAsync` the dot runs asynchronously: its result, and the registers and
    buffers that it reads, must not be used until a `warp_group_dot_wait` has them
    among its operands.
    C1. The result has an encoding of matrix instructions of version 3.
    C2. `a` is [M, K], `b` is [K, N] and `c` is [M, N].
    C3. Elements are f16, bf16, f32 (truncated to tf32), i8 or fp8, and `a` and `b` have one type or are both
        fp8; the accumulator is i32 for i8, else f32.
    C4. Buffers have an `nvmma_shared` encoding. Elements that are not 16 bits wide are K-major.
    C5. A tile `a` has the encoding of operand 0 of the result's.
    C6. M, N and K are multiples of what all warps multiply at a time.
    `maxNumImpreciseAcc` says how many products of fp8 may be accumulated with less precision.

    `%d = ttng.warp_group_dot %a, %b, %c {inputPrecision = 0 : i32}
       : !ttg.memdesc<64x16xf16, #shared, #smem> * !ttg.memdesc<16x8xf16, #shared, #smem> -> tensor<64x8xf32, #mma>`
  }];
  let arguments = (ins Ttng_TileOrBuffer:$a, Ttg_MemDescType:$b, AnyRankedTensor:$c, Optional<I1>:$useC,
      DefaultValuedAttr<Tt_InputPrecision, "::nereid::tt::InputPrecision::IEEE">:$inputPrecision,
      DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc, DefaultValuedAttr<BoolAttr, "false">:$isAsync);
  let results = (outs AnyRankedTensor:$d);
  let assemblyFormat = [{
    $a `,` $b `,` $c (`,` $useC^)? attr-dict `:` qualified(type($a)) `*` qualified(type($b)) `->` type($d)
  }];
  let extraClassDeclaration = [{
    bool isAsynchronous() { return getIsAsync(); }
  }];
  let hasVerifier = 1;
}

def WarpGroupDotWaitOp : Ttng_Op<"warp_group_dot_wait", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                                        AllTypesMatch<["inputs", "outputs"]>]> {
  let summary = "waits until at most `pendings` asynchronous dots are in flight";
  let description = [{
    C1. There is an input. Results of dots are used only as results of the wait for them, and a buffer that a dot
        reads is an input of that wait, so that nothing is written to it earlier.

    `%r = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x8xf32, #mma>`
  }];
  let arguments = (ins Variadic<Ttng_TileOrBuffer>:$inputs, I32Attr:$pendings);
  let results = (outs Variadic<Ttng_TileOrBuffer>:$outputs);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs)";
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inputs, "unsigned":$pendings), [{
    build($_builder, $_state, inputs.getTypes(), inputs, pendings);
  }]>];
  let hasVerifier = 1;
}

//--- Memory --------------------------------------------------------------------------------

def FenceAsyncSharedOp : Ttng_Op<"fence_async_shared", [MemoryEffects<[MemRead<Ttng_Smem>, MemWrite<Ttng_Smem>]>]> {
  let summary = "orders the thread's accesses to shared memory before those of the async proxy that come after a barrier";
  let description = [{
    Placed between a thread's store and the barrier after which TMA or a tensor core
    reads the data. `bCluster` includes shared memory of the cluster's other CTAs.

    `ttng.fence_async_shared {bCluster = false}`
  }];
  let arguments = (ins BoolAttr:$bCluster);
  let assemblyFormat = "attr-dict";
}

include "compiler/target/nvidia/dialect/TensorOps.td"
include "compiler/target/nvidia/dialect/ClusterOps.td"

#endif
