// Declares the interface of all encodings of tiles: conversion to a linear layout.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_ATTR_INTERFACES
#define NEREID_TTG_ATTR_INTERFACES

include "mlir/IR/OpBase.td"

def LayoutEncoding : AttrInterface<"LayoutEncoding"> {
  let cppNamespace = "::nereid::ttg";
  let description = [{
    Every encoding converts to a linear layout from hardware bits to the coordinates
    of a tile; most code uses only that layout.
  }];
  let methods = [
    InterfaceMethod<"the number of dimensions of the tiles that may have it", "unsigned", "getRank">,
    InterfaceMethod<[{
      The layout of a tile of `shape`. Inputs of a tile in registers are register,
      lane, warp, block; no register is a copy of another. Inputs of a tile in
      shared memory are offset (in elements) and block. `block` is the CTA.
    }], "::nereid::layout::LinearLayout", "toLinearLayout", (ins "::llvm::ArrayRef<int64_t>":$shape)>,
    InterfaceMethod<"whether threads hold the elements, not shared memory", "bool", "isDistributed", (ins), "",
                    "return true;">,
  ];
}

def MatrixEncoding : AttrInterface<"MatrixEncoding"> {
  let cppNamespace = "::nereid::ttg";
  let description = [{
    The accumulator of a vendor's matrix instructions; it determines how threads hold the operands.
  }];
  let methods = [
    InterfaceMethod<[{
      The layout of operand 0 or 1, a tile of `shape`, whose lanes hold vectors of `kWidth` adjacent elements along K.
    }], "::nereid::layout::LinearLayout", "operandLayout",
                    (ins "unsigned":$operand, "unsigned":$kWidth, "::llvm::ArrayRef<int64_t>":$shape)>,
    InterfaceMethod<"reports an error where threads cannot hold that operand", "::llvm::LogicalResult", "verifyOperand",
                    (ins "unsigned":$operand, "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError), "",
                    "return ::mlir::success();">,
  ];
}

#endif
