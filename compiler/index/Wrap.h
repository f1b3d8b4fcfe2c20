// Which numbers are taken not to overflow their type; docs/why/wrapping.md has the rule.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Value.h"

#include "llvm/ADT/SmallVector.h"

namespace nereid::index {

/// Whether a number is an offset of pointers or a part of one: an offset is made of it by sums, differences, products,
/// quotients and remainders other than of hashes, sign extensions, and ops that move elements. The index of an
/// element that is accessed does not overflow.
bool isOffset(mlir::Value number);

/// The sums, differences and products that may overflow on the way to a number, in any type: one for each type that the
/// number is computed in, as only the last one has to be in the type's range.
llvm::SmallVector<mlir::Value, 2> sumsThatMayWrap(mlir::Value number);

} // namespace nereid::index
