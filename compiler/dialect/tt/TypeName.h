// Types as users read them in messages: `fp32`, `int32[16, 16]`, `pointer<fp32>[16]`.
// SPDX-License-Identifier: MIT
//
// Element types have the names that `str` of a `tl.dtype` gives. Messages about a kernel use these names; messages
// about IR that the user wrote use the IR's own.
#pragma once

#include "mlir/IR/Types.h"

#include <string>

namespace nereid::tt {

/// "[16, 32]"
std::string shapeText(llvm::ArrayRef<int64_t> extents);
/// `element` with a tile's extents; the element itself where there are none.
std::string tileName(llvm::StringRef element, llvm::ArrayRef<int64_t> extents);
std::string pointerName(llvm::StringRef pointee, bool isConst = false);
std::string descriptorName(llvm::StringRef block);

/// The name of a type of tile IR. An integer without a sign is a signed one.
std::string userName(mlir::Type type);

} // namespace nereid::tt
