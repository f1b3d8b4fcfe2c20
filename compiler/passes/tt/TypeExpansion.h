// Expands types that are several values, and rewrites calls, returns, loops and branches that carry them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Transforms/DialectConversion.h"

#include <functional>

namespace nereid::tt {

/// All values of a conversion, in order.
template <typename Ranges> llvm::SmallVector<mlir::Value> flattenValues(const Ranges &ranges) {
  llvm::SmallVector<mlir::Value> values;
  for (mlir::ValueRange range : ranges)
    llvm::append_range(values, range);
  return values;
}

/// Sets argument attributes on the parts of a kernel argument of that type.
using ExpandedAttributes = std::function<void(mlir::Type, llvm::MutableArrayRef<mlir::DictionaryAttr>)>;

/// Adds patterns for ops that only forward values, and makes ops legal that have no type left to expand.
void populateExpansionPatterns(mlir::TypeConverter &expansion, mlir::RewritePatternSet &patterns,
                               mlir::ConversionTarget &target, ExpandedAttributes attributes = nullptr);

} // namespace nereid::tt
