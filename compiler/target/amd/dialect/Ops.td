// Declares the ops of `amdg`. Passes work on `tt` and `ttg`, as which the accesses to buffers are rewritten.
// SPDX-License-Identifier: MIT
#ifndef NEREID_AMDG_OPS
#define NEREID_AMDG_OPS

include "compiler/dialect/tt/Enums.td"
include "compiler/dialect/tt/Types.td"
include "compiler/dialect/ttg/Types.td"
include "compiler/target/amd/dialect/Dialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Amdg_Op<string mnemonic, list<Trait> traits = []> : Op<Amdg_Dialect, mnemonic, traits>;

// An access to buffer `ptr` at `offsets`, in elements, of a tile `like`. The operand `stride` is a hint. The type of the
// pointer may be absent: `: tensor<64xf32, #blocked>` for `: !tt.ptr<f32> -> tensor<64xf32, #blocked>`.
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
    MemoryEffects<[MemRead]>, Amdg_MaskOf<"result">, TypesMatchWith<"other has the type of the result", "result", "other", "$_self",
                                          "!this->getOther() || std::equal_to<>()">]> {
  let summary = "reads elements of a buffer; those that are masked off are `other`, or zero";
  let description = [{ `%x = amdg.buffer_load %p[%offsets], %mask stride = %s : tensor<64xf32, #blocked>` }];
  let arguments = (ins Tt_Ptr:$ptr, Amdg_Offsets:$offsets, Optional<I32>:$stride,
      DefaultValuedAttr<Tt_CacheModifier, "::nereid::tt::CacheModifier::NONE">:$cache, Optional<Tt_I1Like>:$mask,
      Optional<Amdg_Tile>:$other);
  let results = (outs Amdg_Tile:$result);
  let assemblyFormat = [{
    $ptr `[` $offsets `]` (`,` $mask^)? (`,` $other^)? (`cacheModifier` `=` $cache^)? (`stride` `=` $stride^)? attr-dict
    `:` custom<BufferTile>(type($ptr), type($result))
  }];
}

def BufferLoadToLocalOp : Amdg_Op<"buffer_load_to_local", [AttrSizedOperandSegments,
    TypesMatchWith<"the mask has the shape of the offsets", "offsets", "mask", "::nereid::tt::i1Like($_self)",
                   "!this->getMask() || std::equal_to<>()">]> {
  let summary = "copies elements of a buffer to shared memory, as a part of the next group of copies";
  let description = [{
    C1. The shared memory has the shape of the offsets and the pointer's element
        type, and is mutable.
    C2. `other` is a tile of the offsets' shape and layout, and has a mask.

    `%t = amdg.buffer_load_to_local %p[%offsets] mask = %m into %b : <f16>[tensor<64xi32, #blocked>] -> <64xf16, ...>`
  }];
  let arguments = (ins Ttg_MemDescType:$dest, Tt_PointerType:$ptr, Amdg_Offsets:$offsets, Optional<Tt_I1Like>:$mask,
      Optional<Amdg_Tile>:$other, Optional<I32>:$stride,
      DefaultValuedAttr<Tt_CacheModifier, "::nereid::tt::CacheModifier::NONE">:$cache);
  let results = (outs Ttg_AsyncTokenType:$token);
  let assemblyFormat = [{
    $ptr `[` $offsets `]` (`mask` `=` $mask^)? (`other` `=` $other^)? (`cacheModifier` `=` $cache^)?
    (`stride` `=` $stride^)? `into` $dest attr-dict
    `:` custom<BufferPointer>(type($ptr)) `[` type($offsets) `]` type($other) `->` type($dest)
  }];
  let hasVerifier = 1;
}

def BufferStoreOp : Amdg_Op<"buffer_store", [AttrSizedOperandSegments, Amdg_OffsetsOf<"value">, Amdg_PointerTo<"value">,
    Amdg_MaskOf<"value">]> {
  let summary = "writes elements of a buffer where the mask is true";
  let description = [{ `amdg.buffer_store %x, %p[%offsets], %mask : tensor<64xf32, #blocked>` }];
  let arguments = (ins Amdg_Tile:$value, Tt_Ptr:$ptr, Amdg_Offsets:$offsets, Optional<I32>:$stride,
      DefaultValuedAttr<Tt_CacheModifier, "::nereid::tt::CacheModifier::NONE">:$cache, Optional<Tt_I1Like>:$mask);
  let assemblyFormat = [{
    $value `,` $ptr `[` $offsets `]` (`,` $mask^)? (`cacheModifier` `=` $cache^)? (`stride` `=` $stride^)? attr-dict
    `:` custom<BufferTile>(type($ptr), type($value))
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
    attr-dict `:` custom<BufferTile>(type($ptr), type($result))
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
    $sem `,` $scope `,` $cmp `,` $val `,` $ptr `[` $offsets `]` (`stride` `=` $stride^)? attr-dict
    `:` custom<BufferTile>(type($ptr), type($result))
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

def ExtractSliceOp : Amdg_Op<"extract_slice", [Pure]> {
  let summary = "a part of a tile that every thread has in its own registers";
  let description = [{
    C1. The part has the tile's rank and element type, and lies within it.
    C2. Lanes and waves hold the elements of the part where they hold those of the tile.

    `%y = amdg.extract_slice %x [64, 0] : tensor<128x128xf32, #blocked> to tensor<64x128xf32, #blocked>`
  }];
  let arguments = (ins AnyRankedTensor:$source, DenseI64ArrayAttr:$static_offsets);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source $static_offsets attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

// Floats of 8 or 4 bits times scales, rounded once. A bf16 scale has the exponent of an e8m0.
class Amdg_ScaledUpcastOp<string mnemonic, list<Trait> traits = []> : Amdg_Op<mnemonic, !listconcat([Pure], traits)> {
  let results = (outs RankedTensorOf<[F16, BF16]>:$output);
  let hasVerifier = 1;
}

def ScaledUpcastFp4Op : Amdg_ScaledUpcastOp<"scaled_upcast_fp4"> {
  let summary = "e2m1 in pairs, the low half first, as f16 or bf16, times scales";
  let description = [{
    C1. The result has twice the input's extent along `axis`, and its other extents.
    C2. Every thread holds the values of its own bytes.
    C3. The scales have the result's shape and layout.

    `%y = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32} : tensor<16x32xi8, #a>, tensor<16x64xbf16, #b> -> tensor<16x64xbf16, #b>`
  }];
  let arguments = (ins RankedTensorOf<[I8]>:$input, RankedTensorOf<[BF16]>:$scale, I32Attr:$axis);
  let assemblyFormat = [{
    $input `scale` $scale attr-dict `:` type($input) `,` type($scale) `->` type($output)
  }];
}

def UnpackFp4Op : Amdg_Op<"unpack_fp4", [Pure]> {
  let summary = "e2m1 in pairs, the low half first, as f32: a part of `scaled_upcast_fp4`";
  let description = [{
    C1. The result has twice the input's extent along `axis`, and its other extents.
    C2. Every thread holds the values of its own bytes.
  }];
  let arguments = (ins RankedTensorOf<[I8]>:$input, I32Attr:$axis);
  let results = (outs RankedTensorOf<[F32]>:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
}

def ScaledUpcastFp8Op : Amdg_ScaledUpcastOp<"scaled_upcast_fp8"> {
  let summary = "fp8 as f16 or bf16, times scales";
  let description = [{
    C1. Input, scales and result have one shape and layout.

    `%y = amdg.scaled_upcast_fp8 %x scale %s : tensor<16x64xf8E4M3FN, #b>, tensor<16x64xbf16, #b> -> tensor<16x64xbf16, #b>`
  }];
  let arguments = (ins RankedTensorOf<[Tt_Float]>:$input, RankedTensorOf<[BF16]>:$scale);
  let assemblyFormat = [{
    $input `scale` $scale attr-dict `:` type($input) `,` type($scale) `->` type($output)
  }];
}

//--- hints to the scheduler of instructions ------------------------------------------------

def SchedBarrierOp : Amdg_Op<"sched_barrier"> {
  let summary = "lets only instructions of the kinds in `mask` move across";
  let arguments = (ins I32Attr:$mask);
  let assemblyFormat = "attr-dict";
}

def SchedGroupBarrierOp : Amdg_Op<"sched_group_barrier"> {
  let summary = "places `size` instructions of the kinds in `mask`, in the order of the group `sync`";
  let arguments = (ins I32Attr:$mask, I32Attr:$size, I32Attr:$sync);
  let assemblyFormat = "attr-dict";
}

def SetPriorityOp : Amdg_Op<"set_priority"> {
  let summary = "the priority of the wave among those of its SIMD unit: 0 to 3";
  let description = [{ C1. `priority` is 0 to 3. }];
  let arguments = (ins I32Attr:$priority);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def SchedOptionOp : Amdg_Op<"sched_option"> {
  let summary = "asks LLVM for a schedule of its own choice, by number, in this basic block";
  let arguments = (ins I32Attr:$option);
  let assemblyFormat = "attr-dict";
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
