// Declares asynchronous copies from global to shared memory.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_ASYNC_OPS
#define NEREID_TTG_ASYNC_OPS

include "compiler/dialect/tt/Enums.td"
include "compiler/dialect/tt/Interfaces.td"
include "compiler/dialect/tt/Types.td"

def AsyncCopyGlobalToLocalOp : Ttg_Op<"async_copy_global_to_local", [AttrSizedOperandSegments, MemoryAccessOpInterface,
    MemoryEffects<[MemRead, MemWrite<Ttg_Smem>]>,
    TypesMatchWith<"mask has the pointers' shape", "src", "mask", "::nereid::tt::i1Like($_self)",
                   "!this->getMask() || std::equal_to<>()">,
    TypesMatchWith<"other has the pointee type", "src", "other", "::nereid::tt::pointeeLike($_self)",
                   "!this->getOther() || std::equal_to<>()">]> {
  let summary = "starts copies of elements to shared memory; where the mask is false `other` is written";
  let description = [{
    C1. The buffer has the pointers' shape and their pointee type, and is mutable.
    C2. `mask` has the pointers' shape, `other` also their pointee type.

    A copy writes at any time between the op and the `async_wait` for its group.
    No other op may access the same elements in between; where threads read what
    others copied, a barrier is needed between the wait and the read. Elements
    whose mask is false are zero where there is no `other`.
  }];
  let arguments = (ins Tt_PtrLike:$src, Ttg_MemDescType:$dst, Optional<Tt_I1Like>:$mask, Optional<Tt_Value>:$other,
      DefaultValuedAttr<Tt_CacheModifier, "::nereid::tt::CacheModifier::NONE">:$cache,
      DefaultValuedAttr<Tt_EvictionPolicy, "::nereid::tt::EvictionPolicy::NORMAL">:$evict);
  let results = (outs Ttg_AsyncTokenType:$token);
  let assemblyFormat = [{
    $src `,` $dst (`mask` $mask^)? (`other` $other^)? attr-dict `:` type($src) `->` type($dst)
  }];
  let extraClassDeclaration = [{
    ::mlir::Value getAccessedPointer() { return getSrc(); }
    ::mlir::Value getMaskedOffValue() { return getOther(); }
  }];
  let hasVerifier = 1;
}

// Ops that form groups of the copies before them or wait for groups; their effects order accesses to shared memory.
class Ttg_AsyncGroupOp<string mnemonic>
    : Ttg_Op<mnemonic, [MemoryEffects<[MemRead<Ttg_Smem>, MemWrite<Ttg_Smem>]>]>;

def AsyncCommitGroupOp : Ttg_AsyncGroupOp<"async_commit_group"> {
  let summary = "makes the copies that a thread started since the last group a group; it may be empty";
  let arguments = (ins Variadic<Ttg_AsyncTokenType>:$inputTokens);
  let results = (outs Ttg_AsyncTokenType:$token);
  let assemblyFormat = "(`tokens` $inputTokens^)? attr-dict";
}

def AsyncWaitOp : Ttg_AsyncGroupOp<"async_wait"> {
  let summary = "waits until all but the last `num` groups of the thread are done";
  let description = [{ `%t = ttg.async_wait %g {num = 2 : i32}` }];
  let arguments = (ins Variadic<Ttg_AsyncTokenType>:$inputTokens, I32Attr:$num);
  let results = (outs Ttg_AsyncTokenType:$token);
  let assemblyFormat = "($inputTokens^)? attr-dict";
}

#endif
