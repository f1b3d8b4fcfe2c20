// Declares the types of buffers in shared memory and of copies under way, and the tile constraints of `ttg` ops.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_TYPES
#define NEREID_TTG_TYPES

include "compiler/dialect/ttg/Dialect.td"
include "mlir/IR/AttrTypeBase.td"

def Ttg_MemDescType : TypeDef<Ttg_Dialect, "MemDesc"> {
  let mnemonic = "memdesc";
  let summary = "a tile in shared memory";
  let description = [{
    `!ttg.memdesc<32x32xf16, #shared, #smem, mutable>`. A view of part of an
    allocation names that allocation's shape last: `!ttg.memdesc<32x32xf16, #shared,
    #smem, mutable, 2x32x32>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
      "::mlir::Attribute":$encoding, "::mlir::Attribute":$memorySpace, "bool":$mutableMemory,
      ArrayRefParameter<"int64_t">:$allocShape);
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
      "::mlir::Attribute":$encoding, "::mlir::Attribute":$memorySpace, CArg<"bool", "false">:$mutableMemory), [{
    return $_get(elementType.getContext(), shape, elementType, encoding, memorySpace, mutableMemory, shape);
  }]>];
  // A shape before an element type (`32x32xf16`) has no declarative form.
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Ttg_AsyncTokenType : TypeDef<Ttg_Dialect, "AsyncToken"> {
  let mnemonic = "async.token";
  let summary = "stands for copies in flight; carries no value";
}

#endif
