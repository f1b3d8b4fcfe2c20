// The `tt` dialect: its types, enums and ops.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/ElementMap.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "compiler/dialect/tt/Dialect.h.inc"
#include "compiler/dialect/tt/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/tt/Attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/tt/Types.h.inc"

namespace nereid::tt {

/// The type with `type`'s shape (if it has one) and `element` as its elements.
mlir::Type withElement(mlir::Type type, mlir::Type element);
/// i1 in the shape of `type`.
mlir::Type i1Like(mlir::Type type);
/// The type of a load through `type`, which is a pointer or a tile of pointers.
mlir::Type pointeeLike(mlir::Type type);
/// The pointer to an element of the tile that `type` points to; `type` itself where it points to a scalar.
mlir::Type elementPointer(mlir::Type type);
/// Whether tiles and pointers can have such elements.
bool isElement(mlir::Type type);
/// Whether elements of that type are floats of 8 bits.
bool isFp8(mlir::Type element);
/// The extents of a tile; empty for a scalar.
llvm::ArrayRef<int64_t> shapeOf(mlir::Type type);
/// The element type of a tile, or the type itself.
mlir::Type elementOf(mlir::Type type);

/// Bits that an element takes in memory: i1 takes a byte, a pointer 64 bits.
unsigned memoryBits(mlir::Type element);

using Extents = llvm::SmallVector<int64_t, 4>;

/// Reports an error at `op` where tiles among its operands and results have different encodings.
llvm::LogicalResult verifySameEncoding(mlir::Operation *op);

/// The trait of ops that do not move elements between threads.
template <typename ConcreteOp> struct SameEncoding : mlir::OpTrait::TraitBase<ConcreteOp, SameEncoding> {
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) { return verifySameEncoding(op); }
};

} // namespace nereid::tt

#include "compiler/dialect/tt/Interfaces.h.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/tt/Ops.h.inc"
