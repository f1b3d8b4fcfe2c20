// Declares the types of `tt` and the type constraints that its ops share.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_TYPES
#define NEREID_TT_TYPES

include "compiler/dialect/tt/Dialect.td"
include "mlir/IR/AttrTypeBase.td"

def Tt_PointerType : TypeDef<Tt_Dialect, "Pointer"> {
  let mnemonic = "ptr";
  let summary = "pointer to a scalar in an address space";
  let description = [{
    `!tt.ptr<f32>` points to global memory (address space 1); any other space
    is printed: `!tt.ptr<f32, 3>`. A pointer to a tile is parsed in text of earlier
    versions of Triton and expanded into addresses.
  }];
  let parameters = (ins "::mlir::Type":$pointee, DefaultValuedParameter<"int", "1">:$addressSpace);
  let assemblyFormat = "`<` $pointee (`,` $addressSpace^)? `>`";
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointee, CArg<"int", "1">:$addressSpace), [{
    return $_get(pointee.getContext(), pointee, addressSpace);
  }]>];
  let genVerifyDecl = 1;
}

def Tt_TensorDescType : TypeDef<Tt_Dialect, "TensorDesc"> {
  let mnemonic = "tensordesc";
  let summary = "description of a strided array whose blocks are accessed";
  let description = [{
    `!tt.tensordesc<128x64xf16>` has blocks of 128 rows and 64 columns. Integers
    carry their sign: `!tt.tensordesc<32xsi32>`.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$blockType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The type of the tile of an access: its integers are signless.
    ::mlir::RankedTensorType getTileType() const;
  }];
}

def Tt_Float : Type<And<[CPred<"::llvm::isa<::mlir::FloatType>($_self)">, CPred<"::nereid::tt::isElement($_self)">]>,
                    "floating-point number of the language", "::mlir::FloatType">;
def Tt_Int : AnyTypeOf<[I1, I8, I16, I32, I64]>;
def Tt_Ptr : DialectType<Tt_Dialect, CPred<"::llvm::isa<::nereid::tt::PointerType>($_self)">, "pointer">;
def Tt_Scalar : AnyTypeOf<[Tt_Float, Tt_Int, Tt_Ptr]>;
def Tt_Tile : RankedTensorOf<[Tt_Float, Tt_Int, Tt_Ptr]>;
def Tt_Value : AnyTypeOf<[Tt_Scalar, Tt_Tile]>;
def Tt_FloatLike : AnyTypeOf<[Tt_Float, RankedTensorOf<[Tt_Float]>]>;
def Tt_IntLike : AnyTypeOf<[Tt_Int, RankedTensorOf<[Tt_Int]>]>;
def Tt_I1Like : AnyTypeOf<[I1, RankedTensorOf<[I1]>]>;
def Tt_I64Like : AnyTypeOf<[I64, RankedTensorOf<[I64]>]>;
def Tt_PtrLike : AnyTypeOf<[Tt_Ptr, RankedTensorOf<[Tt_Ptr]>]>;

#endif
