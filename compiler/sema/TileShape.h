// Shapes of tiles: validity, broadcasting and conversion.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/TypeName.h"
#include "compiler/sema/TtFunctionEmitter.h"

namespace nereid::sema {

/// The limit of elements of a tile.
inline constexpr int64_t maxTileElements = 1048576;

using tt::shapeText;
/// Whether tiles may have extents that are no powers of two: GPU layouts need powers of two, loops of a CPU do not.
bool allowsAnyExtent(const TtFunctionEmitter &emitter);
/// Reports a tile that is too large or has an extent that the target does not support; true where there is no error.
bool checkTileShape(TtFunctionEmitter &emitter, llvm::ArrayRef<int64_t> shape, SourceRange range);
/// `axis` of a shape with `rank` dimensions, counted from the front; reports an error where it is out of range.
std::optional<int64_t> checkAxis(TtFunctionEmitter &emitter, int64_t axis, int64_t rank, SourceRange range);
/// The tile with a dimension of 1 before `axis`; a scalar becomes a tile of one element.
Value expandDims(TtFunctionEmitter &emitter, const Value &tensor, int64_t axis, SourceRange range);
/// All tensors in their common shape; false after an error.
bool broadcastAll(TtFunctionEmitter &emitter, llvm::MutableArrayRef<Value> tensors, SourceRange range);

} // namespace nereid::sema
