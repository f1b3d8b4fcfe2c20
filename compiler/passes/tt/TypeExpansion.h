// Expands types that are several values, and rewrites calls, returns, loops and branches that carry them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/IR/BuiltinOps.h"
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

/// A rewrite of an op that sees each operand as the values it is expanded to.
template <typename Op> struct ExpansionPattern : mlir::OpConversionPattern<Op> {
  using mlir::OpConversionPattern<Op>::OpConversionPattern;
  using Adaptor = typename mlir::OpConversionPattern<Op>::OneToNOpAdaptor;
};

/// Sets argument attributes on the parts of a kernel argument of that type.
using ExpandedAttributes = std::function<void(mlir::Type, llvm::MutableArrayRef<mlir::DictionaryAttr>)>;

/// Expands the types of all values of the module; `patterns` are for the ops that do more than forward such values.
mlir::LogicalResult expandTypes(mlir::ModuleOp module, mlir::TypeConverter &expansion, mlir::RewritePatternSet patterns,
                                ExpandedAttributes attributes = nullptr);

} // namespace nereid::tt
