// Declares the ops that access memory atomically; Ops.td includes it.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_ATOMIC_OPS
#define NEREID_TT_ATOMIC_OPS

class Tt_AtomicOp<string mnemonic, list<Trait> traits = []>
    : Tt_Op<mnemonic, !listconcat([Tt_SameEncoding, MemoryAccessOpInterface, Tt_ExcludesPadding,
        TypesMatchWith<"result has the pointee type", "ptr", "result", "::nereid::tt::pointeeLike($_self)">], traits)> {
  let results = (outs Tt_Value:$result);
  let hasVerifier = 1;
}

def AtomicRMWOp : Tt_AtomicOp<"atomic_rmw", [
    TypesMatchWith<"val has the pointee type", "ptr", "val", "::nereid::tt::pointeeLike($_self)">,
    Tt_FollowsPtr<"mask", "mask has the pointers' shape", "::nereid::tt::i1Like($_self)", 2>]> {
  let summary = "combines memory with a value, lane by lane, where the mask is true; gives the old value";
  let description = [{
    C1. `val` and the result have the pointers' shape and their pointee type,
        `mask` has their shape and i1 elements.
    C2. `fadd` combines floats, `exch` any elements, all others integers.
    Each lane is one atomic access; the order of lanes is unspecified. The result
    of a masked-off lane is undefined.

    `%old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (!tt.ptr<f32>, f32, i1) -> f32`
  }];
  let arguments = (ins Tt_RMWOp:$atomic_rmw_op, Arg<Tt_PtrLike, "", [MemRead, MemWrite]>:$ptr, Tt_Value:$val,
      Optional<Tt_I1Like>:$mask, Tt_MemSemantic:$sem, Tt_MemSyncScope:$scope);
  let assemblyFormat = [{
    $atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:`
    functional-type(operands, $result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::nereid::tt::MemSemantic> getAtomicOrdering() { return getSem(); }
    ::mlir::Value getStoredValue() { return getVal(); }
  }];
}

def AtomicLoadOp : Tt_AtomicOp<"atomic_load", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    Tt_FollowsPtr<"mask", "mask has the pointers' shape", "::nereid::tt::i1Like($_self)", 1>]> {
  let summary = "reads memory atomically, lane by lane, where the mask is true";
  let description = [{
    C1. The result has the pointers' shape and their pointee type, `mask` has
        their shape and i1 elements.
    C2. Elements are integers or floats.
    C3. `sem` is `acquire` or `relaxed`.
    The op writes nothing, but has an effect so that it is neither moved nor erased.
    The result of a masked-off lane is undefined.

    `%now = tt.atomic_load acquire, gpu, %p, %m : (!tt.ptr<i32>, i1) -> i32`
  }];
  let arguments = (ins Tt_PtrLike:$ptr, Optional<Tt_I1Like>:$mask, Tt_MemSemantic:$sem, Tt_MemSyncScope:$scope);
  let assemblyFormat = [{
    $sem `,` $scope `,` $ptr (`,` $mask^)? attr-dict `:` functional-type(operands, $result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::nereid::tt::MemSemantic> getAtomicOrdering() { return getSem(); }
  }];
}

def AtomicStoreOp : Tt_Op<"atomic_store", [Tt_SameEncoding, MemoryAccessOpInterface, Tt_ExcludesPadding,
    TypesMatchWith<"val has the pointee type", "ptr", "val", "::nereid::tt::pointeeLike($_self)">,
    Tt_FollowsPtr<"mask", "mask has the pointers' shape", "::nereid::tt::i1Like($_self)", 2>]> {
  let summary = "writes memory atomically, lane by lane, where the mask is true";
  let description = [{
    C1. `val` has the pointers' shape and their pointee type, `mask` has their
        shape and i1 elements.
    C2. Elements are integers or floats.
    C3. `sem` is `release` or `relaxed`.

    `tt.atomic_store release, gpu, %p, %v, %m : !tt.ptr<i32>`
  }];
  let arguments = (ins Arg<Tt_PtrLike, "", [MemRead, MemWrite]>:$ptr, Tt_Value:$val, Optional<Tt_I1Like>:$mask,
      Tt_MemSemantic:$sem, Tt_MemSyncScope:$scope);
  let assemblyFormat = [{
    $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:` type($ptr)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::nereid::tt::MemSemantic> getAtomicOrdering() { return getSem(); }
    ::mlir::Value getStoredValue() { return getVal(); }
  }];
  let hasVerifier = 1;
}

def AtomicCASOp : Tt_AtomicOp<"atomic_cas", [
    TypesMatchWith<"cmp has the pointee type", "ptr", "cmp", "::nereid::tt::pointeeLike($_self)">,
    TypesMatchWith<"val has the pointee type", "ptr", "val", "::nereid::tt::pointeeLike($_self)">]> {
  let summary = "writes `val` where memory has the bits of `cmp`, lane by lane; gives the old value";
  let description = [{
    C1. `cmp`, `val` and the result have the pointers' shape and their pointee
        type.
    C2. Elements have 16, 32 or 64 bits.

    `%old = tt.atomic_cas acq_rel, gpu, %p, %cmp, %v : (!tt.ptr<i32>, i32, i32) -> i32`
  }];
  let arguments = (ins Arg<Tt_PtrLike, "", [MemRead, MemWrite]>:$ptr, Tt_Value:$cmp, Tt_Value:$val,
      Tt_MemSemantic:$sem, Tt_MemSyncScope:$scope);
  let assemblyFormat = [{
    $sem `,` $scope `,` $ptr `,` $cmp `,` $val attr-dict `:` functional-type(operands, $result)
  }];
  let extraClassDeclaration = [{
    ::std::optional<::nereid::tt::MemSemantic> getAtomicOrdering() { return getSem(); }
    ::mlir::Value getStoredValue() { return getVal(); }
    ::mlir::Value getAccessMask() { return {}; }
  }];
}

#endif
