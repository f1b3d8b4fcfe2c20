// Types that are several values: the rewrites that carry the parts through calls, returns, loops and branches.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Transforms/DialectConversion.h"

#include <functional>

namespace nereid::tt {

/// Every value of a conversion, in order.
template <typename Ranges> llvm::SmallVector<mlir::Value> flattenValues(const Ranges &ranges) {
  llvm::SmallVector<mlir::Value> values;
  for (mlir::ValueRange range : ranges)
    llvm::append_range(values, range);
  return values;
}

/// Says what is known of the parts of a kernel's argument of that type.
using ExpandedAttributes = std::function<void(mlir::Type, llvm::MutableArrayRef<mlir::DictionaryAttr>)>;

/// Adds what moves values without looking into them, and calls legal what has no type left to expand.
void populateExpansionPatterns(mlir::TypeConverter &expansion, mlir::RewritePatternSet &patterns,
                               mlir::ConversionTarget &target, ExpandedAttributes attributes = nullptr);

} // namespace nereid::tt
