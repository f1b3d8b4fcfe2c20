// Shapes of tiles: which are allowed, which fit together, and moving a tile from one to another.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/TtFunctionEmitter.h"

namespace nereid::sema {

/// No tile has more elements.
inline constexpr int64_t maxTileElements = 1048576;

/// "[16, 32]", as messages print a shape.
std::string shapeText(llvm::ArrayRef<int64_t> shape);
/// Whether tiles may have extents that are no powers of two: threads of a GPU share tiles by halves, loops of a CPU
/// need not.
bool allowsAnyExtent(const TtFunctionEmitter &emitter);
/// Reports an extent that the target cannot have and a tile that is too large; true where all is well.
bool checkTileShape(TtFunctionEmitter &emitter, llvm::ArrayRef<int64_t> shape, SourceRange range);
/// `axis` of a shape with `rank` dimensions, counted from the front; an error where it is outside.
std::optional<int64_t> checkAxis(TtFunctionEmitter &emitter, int64_t axis, int64_t rank, SourceRange range);
/// The tile with a dimension of 1 before `axis`; a scalar becomes a tile of one element.
Value expandDims(TtFunctionEmitter &emitter, const Value &tensor, int64_t axis, SourceRange range);
/// All tensors in their common shape; false after an error.
bool broadcastAll(TtFunctionEmitter &emitter, llvm::MutableArrayRef<Value> tensors, SourceRange range);

} // namespace nereid::sema
