// Declares the ops of `amdg`. ODS alone verifies them: no pass works on them but the one that rewrites them.
// SPDX-License-Identifier: MIT
#ifndef NEREID_AMDG_OPS
#define NEREID_AMDG_OPS

include "compiler/dialect/tt/Enums.td"
include "compiler/dialect/tt/Types.td"
include "compiler/dialect/ttg/Types.td"
include "compiler/target/amd/dialect/Dialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Amdg_Op<string mnemonic, list<Trait> traits = []> : Op<Amdg_Dialect, mnemonic, traits>;

// An access to buffer `ptr` at `offsets`, in elements, of a tile `like`. The operand `stride` is a hint.
class Amdg_OffsetsOf<string like>
    : TypesMatchWith<"offsets have the shape of the tile", like, "offsets", "::nereid::amdg::offsetsLike($_self)">;
class Amdg_PointerTo<string like>
    : TypesMatchWith<"the pointer points to the elements", like, "ptr", "::nereid::amdg::pointerTo($_self)">;
class Amdg_MaskOf<string like>
    : TypesMatchWith<"the mask has the shape of the tile", like, "mask", "::nereid::tt::i1Like($_self)",
                     "!this->getMask() || std::equal_to<>()">;

def Amdg_Tile : RankedTensorOf<[Tt_Float, Tt_Int]>;
def Amdg_Offsets : RankedTensorOf<[I32]>;

def BufferLoadOp : Amdg_Op<"buffer_load", [AttrSizedOperandSegments, Amdg_OffsetsOf<"result">, Amdg_PointerTo<"result">,
    Amdg_MaskOf<"result">, TypesMatchWith<"other has the type of the result", "result", "other", "$_self",
                                          "!this->getOther() || std::equal_to<>()">]> {
  let summary = "reads elements of a buffer; those that are masked off are `other`, or zero";
  let description = [{ `%x = amdg.buffer_load %p[%offsets], %mask stride = %s : tensor<64xf32, #blocked>` }];
  let arguments = (ins Tt_Ptr:$ptr, Amdg_Offsets:$offsets, Optional<I32>:$stride,
      DefaultValuedAttr<Tt_CacheModifier, "::nereid::tt::CacheModifier::NONE">:$cache, Optional<Tt_I1Like>:$mask,
      Optional<Amdg_Tile>:$other);
  let results = (outs Amdg_Tile:$result);
  let assemblyFormat = [{
    $ptr `[` $offsets `]` (`,` $mask^)? (`,` $other^)? (`cacheModifier` `=` $cache^)? (`stride` `=` $stride^)? attr-dict
    `:` type($result)
  }];
}

def BufferLoadToLocalOp : Amdg_Op<"buffer_load_to_local", [AttrSizedOperandSegments,
    TypesMatchWith<"the mask has the shape of the offsets", "offsets", "mask", "::nereid::tt::i1Like($_self)",
                   "!this->getMask() || std::equal_to<>()">]> {
  let summary = "copies elements of a buffer to shared memory, as a part of the next group of copies";
  let description = [{
    `%t = amdg.buffer_load_to_local %p[%offsets] mask = %m into %b : <f16>[tensor<64xi32, #blocked>] -> <64xf16, ...>`
  }];
  let arguments = (ins Ttg_MemDescType:$dest, Tt_PointerType:$ptr, Amdg_Offsets:$offsets, Optional<Tt_I1Like>:$mask,
      Optional<Amdg_Tile>:$other, Optional<I32>:$stride,
      DefaultValuedAttr<Tt_CacheModifier, "::nereid::tt::CacheModifier::NONE">:$cache);
  let results = (outs Ttg_AsyncTokenType:$token);
  let assemblyFormat = [{
    $ptr `[` $offsets `]` (`mask` `=` $mask^)? (`other` `=` $other^)? (`cacheModifier` `=` $cache^)?
    (`stride` `=` $stride^)? `into` $dest attr-dict `:` type($ptr) `[` type($offsets) `]` type($other) `->` type($dest)
  }];
}

def BufferStoreOp : Amdg_Op<"buffer_store", [AttrSizedOperandSegments, Amdg_OffsetsOf<"value">, Amdg_PointerTo<"value">,
    Amdg_MaskOf<"value">]> {
  let summary = "writes elements of a buffer where the mask is true";
  let description = [{ `amdg.buffer_store %x, %p[%offsets], %mask : tensor<64xf32, #blocked>` }];
  let arguments = (ins Amdg_Tile:$value, Tt_Ptr:$ptr, Amdg_Offsets:$offsets, Optional<I32>:$stride,
      DefaultValuedAttr<Tt_CacheModifier, "::nereid::tt::CacheModifier::NONE">:$cache, Optional<Tt_I1Like>:$mask);
  let assemblyFormat = [{
    $value `,` $ptr `[` $offsets `]` (`,` $mask^)? (`cacheModifier` `=` $cache^)? (`stride` `=` $stride^)? attr-dict
    `:` type($value)
  }];
}

def BufferAtomicRMWOp : Amdg_Op<"buffer_atomic_rmw", [AttrSizedOperandSegments, AllTypesMatch<["value", "result"]>,
    Amdg_OffsetsOf<"result">, Amdg_PointerTo<"result">, Amdg_MaskOf<"result">]> {
  let summary = "combines elements of a buffer with values atomically, as `tt.atomic_rmw`";
  let description = [{ `%old = amdg.buffer_atomic_rmw fadd, relaxed, gpu, %x, %p[%offsets], %m : tensor<64xf32, #b>` }];
  let arguments = (ins Tt_RMWOp:$atomic_rmw_op, Tt_Ptr:$ptr, Amdg_Offsets:$offsets, Amdg_Tile:$value,
      Optional<I32>:$stride, Tt_MemSemantic:$sem, Tt_MemSyncScope:$scope, Optional<Tt_I1Like>:$mask);
  let results = (outs Amdg_Tile:$result);
  let assemblyFormat = [{
    $atomic_rmw_op `,` $sem `,` $scope `,` $value `,` $ptr `[` $offsets `]` (`,` $mask^)? (`stride` `=` $stride^)?
    attr-dict `:` type($result)
  }];
}

def BufferAtomicCASOp : Amdg_Op<"buffer_atomic_cas", [AllTypesMatch<["cmp", "val", "result"]>, Amdg_OffsetsOf<"result">,
    Amdg_PointerTo<"result">]> {
  let summary = "writes `val` where elements of a buffer are `cmp`, atomically, as `tt.atomic_cas`";
  let description = [{ `%old = amdg.buffer_atomic_cas acq_rel, gpu, %c, %v, %p[%offsets] : tensor<64xi32, #blocked>` }];
  let arguments = (ins Tt_Ptr:$ptr, Amdg_Offsets:$offsets, Amdg_Tile:$cmp, Amdg_Tile:$val, Optional<I32>:$stride,
      Tt_MemSemantic:$sem, Tt_MemSyncScope:$scope);
  let results = (outs Amdg_Tile:$result);
  let assemblyFormat = [{
    $sem `,` $scope `,` $cmp `,` $val `,` $ptr `[` $offsets `]` (`stride` `=` $stride^)? attr-dict `:` type($result)
  }];
}

def InThreadTransposeOp : Amdg_Op<"in_thread_transpose", [Pure]> {
  let summary = "orders the elements of each thread along the other dimension";
  let description = [{
    `%y = amdg.in_thread_transpose %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #linear>`
  }];
  let arguments = (ins Amdg_Tile:$src);
  let results = (outs Amdg_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def CondBarrierOp : Amdg_Op<"cond_barrier"> {
  let summary = "a barrier at which only some waves wait, so that they are a phase behind the others";
  let arguments = (ins I1:$pred);
  let assemblyFormat = "$pred attr-dict";
}

def InstructionSchedHintOp : Amdg_Op<"instruction_sched_hint"> {
  let summary = "how the instructions of a basic block should be scheduled";
  let description = [{ `amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<attention>}` }];
  let assemblyFormat = "attr-dict";
}

#endif
