// Declares the ops by which the CTAs of a cluster share the work of a program; Ops.td includes it.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTNG_CLUSTER_OPS
#define NEREID_TTNG_CLUSTER_OPS

/// An op that all CTAs of the cluster execute, and at which all of them wait for each other.
class Ttng_ClusterOp<string mnemonic, list<Trait> traits = []>
    : Ttng_Op<mnemonic, [MemoryEffects<[MemRead<Ttng_Smem>, MemWrite<Ttng_Smem>]>] # traits>;

def ClusterRankOp : Ttng_Op<"cluster_rank", [Pure]> {
  let summary = "the index of this CTA in its cluster";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def ClusterBarrierOp : Ttng_Op<"cluster_barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for all threads of the cluster: accesses to memory before it are visible to them after it";
  let assemblyFormat = "attr-dict";
}

def ClusterWaitOp : Ttng_Op<"cluster_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "completes the barrier at which an exchange with `arrives` has arrived";
  let assemblyFormat = "attr-dict";
}

def ClusterGatherOp : Ttng_ClusterOp<"cluster_gather", [SameVariadicOperandSize,
    DeclareOpInterfaceMethods<LayoutRelationOpInterface>, DeclareOpInterfaceMethods<ScratchOpInterface>]> {
  let summary = "the tiles of all CTAs of the cluster side by side, in the order of their ranks";
  let description = [{
    Each CTA writes its tiles to its own shared memory and reads those of all others. A barrier of the cluster ends
    the op. With `arrives` the CTA only arrives at it, and a `cluster_wait` completes it; with `open` there is none, as
    a later op of the basic block has one. Then no other op uses the same bytes of shared memory.
    C1. There is an operand; operands have one shape, and `dim` is one of its dimensions.
    C2. A result has its operand's element type and shape, with as many times the extent in `dim` as the module's
        clusters have CTAs.
    C3. `arrives` and `open` exclude each other.

    `%all = ttng.cluster_gather %part {dim = 0 : i32} : (tensor<1x64xf32>) -> tensor<2x64xf32>`
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$parts, I32Attr:$dim,
      UnitAttr:$arrives, UnitAttr:$open);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$parts attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ClusterBroadcastOp : Ttng_ClusterOp<"cluster_broadcast", [Tt_SameEncoding, AllTypesMatch<["src", "result"]>,
    DeclareOpInterfaceMethods<ScratchOpInterface>]> {
  let summary = "the first CTA's value, in all CTAs of the cluster";
  let arguments = (ins AnyType:$src, UnitAttr:$arrives, UnitAttr:$open);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
}

#endif
