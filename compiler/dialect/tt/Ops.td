// Declares the ops of `tt`. Their rules are numbered (C1..); the family's .cpp file verifies them.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_OPS
#define NEREID_TT_OPS

include "compiler/dialect/tt/Traits.td"
include "compiler/dialect/tt/Types.td"
include "compiler/dialect/tt/Enums.td"
include "compiler/dialect/tt/Interfaces.td"
include "compiler/dialect/tt/BlockPointerOps.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

class Tt_Op<string mnemonic, list<Trait> traits = []> : Op<Tt_Dialect, mnemonic, traits>;
/// The op excludes elements that padding adds.
def Tt_ExcludesPadding : DeclareOpInterfaceMethods<PaddableOpInterface, ["excludePadding"]>;
/// The op rewrites itself before tiles are padded, or cannot be padded.
def Tt_PreparesPadding : DeclareOpInterfaceMethods<PaddableOpInterface, ["prepareForPadding"]>;

class Tt_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Tt_Op<mnemonic, !listconcat([Pure, Elementwise, SameOperandsAndResultShape, Tt_SameEncoding], traits)>;

// --- Program: the position of a program in the grid -----------------------------------------

def GetProgramIdOp : Tt_Op<"get_program_id", [Pure]> {
  let summary = "index of this program along one axis of the grid";
  let arguments = (ins Tt_ProgramDim:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def GetNumProgramsOp : Tt_Op<"get_num_programs", [Pure]> {
  let summary = "number of programs along one axis of the grid";
  let arguments = (ins Tt_ProgramDim:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

//--- Shape ---------------------------------------------------------------------------------

def MakeRangeOp : Tt_Op<"make_range", [Pure]> {
  let summary = "the integers [start, end)";
  let description = [{
    C1. `end > start`.
    C2. The result is a 1-D i32 tile of `end - start` elements.

    `%r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>`
  }];
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def SplatOp : Tt_Op<"splat", [Pure, Tt_MovesElements, SameOperandsAndResultElementType]> {
  let summary = "a tile all of whose elements are the operand";
  let arguments = (ins Tt_Scalar:$src);
  let results = (outs Tt_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

def UnsplatOp : Tt_Op<"unsplat", [Pure, Tt_MovesElements,
    TypesMatchWith<"result is the tile's element", "src", "result", "::nereid::tt::elementOf($_self)">]> {
  let summary = "the one element of a tile";
  let description = [{
    C1. The tile has exactly one element, of the result's type.
  }];
  let arguments = (ins Tt_Tile:$src);
  let results = (outs Tt_Scalar:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ExpandDimsOp : Tt_Op<"expand_dims", [Pure, Tt_MovesElements, SameOperandsAndResultElementType]> {
  let summary = "inserts a dimension of extent 1";
  let description = [{
    C1. `0 <= axis <= rank(src)`.
    C2. The result's shape is the operand's with a 1 inserted before `axis`.
    C3. The result's encoding, if any, follows from the operand's.
  }];
  let arguments = (ins Tt_Tile:$src, I32Attr:$axis);
  let results = (outs Tt_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def BroadcastOp : Tt_Op<"broadcast", [Pure, Tt_MovesElements, SameOperandsAndResultElementType, Tt_SameEncoding]> {
  let summary = "repeats dimensions of extent 1";
  let description = [{
    C1. Ranks agree; each extent is kept or was 1. The encoding stays.
  }];
  let arguments = (ins Tt_Tile:$src);
  let results = (outs Tt_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ReshapeOp : Tt_Op<"reshape", [Pure, Tt_MovesElements, SameOperandsAndResultElementType, Tt_ExcludesPadding]> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    C1. Element counts agree.
    C2. The result's encoding, if any, follows from the operand's.
    `allow_reorder` lets a target choose another order of the elements.
  }];
  let arguments = (ins Tt_Tile:$src, UnitAttr:$allow_reorder, UnitAttr:$efficient_layout);
  let results = (outs Tt_Tile:$result);
  let assemblyFormat = [{
    $src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)?
    attr-dict `:` type($src) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TransOp : Tt_Op<"trans", [Pure, Tt_MovesElements, SameOperandsAndResultElementType]> {
  let summary = "permutes dimensions: result dimension i is source dimension order[i]";
  let description = [{
    C1. `order` is a permutation of the dimensions.
    C2. The result's extents are the operand's, permuted.
    C3. The result's encoding, if any, follows from the operand's.
  }];
  let arguments = (ins Tt_Tile:$src, DenseI32ArrayAttr:$order);
  let results = (outs Tt_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//--- Memory --------------------------------------------------------------------------------

def AddPtrOp : Tt_Op<"addptr", [Pure, Elementwise, SameOperandsAndResultShape, Tt_SameEncoding,
                                TypesMatchWith<"result and ptr have one type", "result", "ptr", "$_self">]> {
  let summary = "moves a pointer by a number of elements";
  let arguments = (ins Tt_PtrLike:$ptr, Tt_IntLike:$offset);
  let results = (outs Tt_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasFolder = 1;
}

// The operand `index` may be absent; where present its type follows from the pointers'.
class Tt_FollowsPtr<string rhs, string rule, string transform, int index>
    : TypesMatchWith<rule, "ptr", rhs, transform,
                     "($_op.getNumOperands() <= " # index # ") || std::equal_to<>()">;

def LoadOp : Tt_Op<"load", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    MemoryAccessOpInterface, Tt_ExcludesPadding,
    TypesMatchWith<"result has the pointee type", "ptr", "result", "::nereid::tt::pointeeLike($_self)">,
    Tt_FollowsPtr<"mask", "mask has the pointers' shape", "::nereid::tt::i1Like($_self)", 1>,
    Tt_FollowsPtr<"other", "other has the pointee type", "::nereid::tt::pointeeLike($_self)", 2>]> {
  let summary = "reads memory, lane by lane, where the mask is true";
  let description = [{
    C1. The result has the pointers' shape and their pointee type.
    C2. `mask` has the pointers' shape and i1 elements.
    C3. `other` has the result's type; a masked-off lane reads as `other`, or
        as an undefined value where there is none.
  }];
  let arguments = (ins Tt_PtrLike:$ptr, Optional<Tt_I1Like>:$mask, Optional<Tt_Value>:$other,
      DefaultValuedAttr<Tt_CacheModifier, "::nereid::tt::CacheModifier::NONE">:$cache,
      DefaultValuedAttr<Tt_EvictionPolicy, "::nereid::tt::EvictionPolicy::NORMAL">:$evict,
      DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs Tt_Value:$result);
  // Two forms are parsed, one is printed: MemoryText.cpp.
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getMaskedOffValue() { return getOther(); }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def StoreOp : Tt_Op<"store", [MemoryAccessOpInterface, Tt_ExcludesPadding,
    TypesMatchWith<"value has the pointee type", "ptr", "value", "::nereid::tt::pointeeLike($_self)">,
    Tt_FollowsPtr<"mask", "mask has the pointers' shape", "::nereid::tt::i1Like($_self)", 2>]> {
  let summary = "writes memory, lane by lane, where the mask is true";
  let description = [{
    C1. `value` has the pointers' shape and their pointee type.
    C2. `mask` has the pointers' shape and i1 elements.
  }];
  let arguments = (ins Arg<Tt_PtrLike, "", [MemWrite]>:$ptr, Tt_Value:$value, Optional<Tt_I1Like>:$mask,
      DefaultValuedAttr<Tt_CacheModifier, "::nereid::tt::CacheModifier::NONE">:$cache,
      DefaultValuedAttr<Tt_EvictionPolicy, "::nereid::tt::EvictionPolicy::NORMAL">:$evict);
  // Two forms are parsed, one is printed: MemoryText.cpp.
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getStoredValue() { return getValue(); }
  }];
  let hasCanonicalizer = 1;
}

include "compiler/dialect/tt/AtomicOps.td"
include "compiler/dialect/tt/DescriptorOps.td"

//--- Elementwise ---------------------------------------------------------------------------

def IntToPtrOp : Tt_ElementwiseOp<"int_to_ptr"> {
  let summary = "an address as a pointer";
  let arguments = (ins Tt_I64Like:$src);
  let results = (outs Tt_PtrLike:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def PtrToIntOp : Tt_ElementwiseOp<"ptr_to_int"> {
  let summary = "a pointer's address";
  let arguments = (ins Tt_PtrLike:$src);
  let results = (outs Tt_I64Like:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def BitcastOp : Tt_ElementwiseOp<"bitcast"> {
  let summary = "the same bits as another type of the same width";
  let description = [{
    C1. Widths agree; a pointer becomes a pointer.

    A bitcast to the same type with `tt.divisibility`, `tt.contiguity` or `tt.constancy` is a hint on its operand: it
    holds where the result is used.
  }];
  let arguments = (ins Tt_Value:$src);
  let results = (outs Tt_Value:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let extraClassDeclaration = [{
    /// Whether the op only carries hint attributes.
    bool isHint() { return getSrc().getType() == getType() && !(*this)->getDiscardableAttrDictionary().empty(); }
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def FpToFpOp : Tt_ElementwiseOp<"fp_to_fp"> {
  let summary = "a float conversion with an explicit rounding mode";
  let description = [{
    C1. A narrowing conversion has a rounding mode; a widening one has none.
  }];
  let arguments = (ins Tt_FloatLike:$src, OptionalAttr<Tt_RoundingMode>:$rounding);
  let results = (outs Tt_FloatLike:$result);
  let assemblyFormat = "$src attr-dict (`,` `rounding` `=` $rounding^)? `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def ClampFOp : Tt_ElementwiseOp<"clampf", [SameOperandsAndResultType, CheckableOpInterface]> {
  let summary = "min(max(x, lo), hi)";
  let arguments = (ins Tt_FloatLike:$x, Tt_FloatLike:$min, Tt_FloatLike:$max, Tt_PropagateNan:$propagateNan);
  let results = (outs Tt_FloatLike:$result);
  let assemblyFormat = "$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)";
}

def PreciseSqrtOp : Tt_ElementwiseOp<"precise_sqrt", [SameOperandsAndResultType]> {
  let summary = "square root, rounded to nearest even";
  let arguments = (ins Tt_FloatLike:$x);
  let results = (outs Tt_FloatLike:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def PreciseDivFOp : Tt_ElementwiseOp<"precise_divf", [SameOperandsAndResultType]> {
  let summary = "quotient, rounded to nearest even";
  let arguments = (ins Tt_FloatLike:$x, Tt_FloatLike:$y);
  let results = (outs Tt_FloatLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

def MulhiUIOp : Tt_ElementwiseOp<"mulhiui", [SameOperandsAndResultType]> {
  let summary = "high half of an unsigned product";
  let arguments = (ins Tt_IntLike:$x, Tt_IntLike:$y);
  let results = (outs Tt_IntLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

//--- Reduce --------------------------------------------------------------------------------

/// An op that combines the elements along `axis`.
class Tt_CombiningOp<string mnemonic, list<Trait> traits = []>
    : Tt_Op<mnemonic, !listconcat([SameVariadicOperandSize, SingleBlock, RecursiveMemoryEffects, CheckableOpInterface,
        DeclareOpInterfaceMethods<PaddableOpInterface, ["prepareForPadding", "excludePadding"]>], traits)> {
  let extraClassDeclaration = [{
    ::llvm::StringRef getMixedElementName() { return "an element"; }
    bool mayProduceNan() { return true; }
    ::std::optional<int32_t> getCombinedAxis() { return getAxis(); }
  }];
}

def ReduceOp : Tt_CombiningOp<"reduce", [InferTypeOpAdaptor]> {
  let summary = "combines the elements along one dimension with a region";
  let description = [{
    C1. All operands have one shape and encoding; `0 <= axis < rank`.
    C2. The region takes two scalars per operand (accumulators first) and
        returns one per operand, of the operands' element types.
    C3. Each result is the operand without `axis`, its encoding a slice of the
        operand's; of rank 0 it is a scalar.
    The combination must be associative and commutative; its order is unspecified.
  }];
  let arguments = (ins Variadic<Tt_Tile>:$srcs, I32Attr:$axis);
  let results = (outs Variadic<Tt_Value>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def ReduceReturnOp : Tt_Op<"reduce.return", [HasParent<"ReduceOp">, Pure, Terminator, ReturnLike]> {
  let summary = "the combined value of a reduce";
  let arguments = (ins Variadic<Tt_Scalar>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

//--- Function ------------------------------------------------------------------------------

def FuncOp : Tt_Op<"func", [AffineScope, AutomaticAllocationScope, CallableOpInterface,
                            FunctionOpInterface, IsolatedFromAbove, OpAsmOpInterface]> {
  let summary = "a kernel (public) or a function that kernels call (private)";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
      OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
      OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type,
                                 "::llvm::StringRef":$visibility)>];
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
  }];
  // A function's text form has no assemblyFormat equivalent.
  let hasCustomAssemblyFormat = 1;
}

def ReturnOp : Tt_Op<"return", [HasParent<"FuncOp">, Pure, Terminator, ReturnLike]> {
  let summary = "ends a function";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let hasVerifier = 1;
}

def CallOp : Tt_Op<"call", [CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a private function";
  let description = [{
    C1. The callee is a `tt.func` of this module whose type the operands and
        results have.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$args,
      OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>);
  let assemblyFormat = "$callee `(` $args `)` attr-dict `:` functional-type($args, results)";
  let extraClassDeclaration = [{
    operand_range getArgOperands() { return getArgs(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getArgsMutable(); }
    ::mlir::CallInterfaceCallable getCallableForCallee() {
      return (*this)->getAttrOfType<::mlir::SymbolRefAttr>("callee");
    }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      (*this)->setAttr("callee", ::llvm::cast<::mlir::SymbolRefAttr>(callee));
    }
  }];
}

//--- Families in files of their own ---------------------------------------------------------

include "compiler/dialect/tt/DotOps.td"
include "compiler/dialect/tt/DebugOps.td"
include "compiler/dialect/tt/ExternOps.td"
include "compiler/dialect/tt/JoinOps.td"
include "compiler/dialect/tt/GatherOps.td"
include "compiler/dialect/tt/ScanOps.td"
include "compiler/dialect/tt/MapOps.td"

#endif
