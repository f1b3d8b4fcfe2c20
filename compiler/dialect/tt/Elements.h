// The IR types of elements, and the rows of the table of element types that they stand for.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/ElementType.h"

#include "mlir/IR/BuiltinTypes.h"

namespace nereid::tt {

/// The IR type that holds such elements. IR has one type for signed and unsigned integers.
mlir::Type irTypeOf(artifact::ElementType type, mlir::MLIRContext *context);

/// The row of a number's IR type, for an integer without a sign that of the signed one; null for pointers and types
/// that tiles cannot hold.
const artifact::ElementInfo *elementInfoOf(mlir::Type element);

/// Bytes of so many elements in memory: those of less than a byte lie next to each other. Of a tile there is
/// `tileBytes`; here its type would count as that of one element.
int64_t storageBytes(mlir::Type element, int64_t count);
unsigned storageBytes(mlir::Type element);
/// Bytes of a tile's elements.
int64_t tileBytes(mlir::ShapedType type);

/// Formats of the OCP 8-bit floating point specification, which have a negative zero.
bool isOcpFp8(mlir::Type element);
/// The same with other biases, in which -0 is the NaN.
bool isFnuzFp8(mlir::Type element);
/// Those with 4 bits of exponent and 3 of mantissa; the others have 5 and 2.
bool isE4m3(mlir::Type element);

} // namespace nereid::tt
