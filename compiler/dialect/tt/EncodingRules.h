// The interface by which `tt` gets the encodings of its shape ops from the dialect that the encodings belong to.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/IR/DialectInterface.h"

namespace nereid::tt {

/// A dialect with encodings implements this; `tt` itself has no encodings. Every tile passed in has an encoding of that
/// dialect.
class EncodingRules : public mlir::DialectInterface::Base<EncodingRules> {
public:
  explicit EncodingRules(mlir::Dialect *dialect) : Base(dialect) {}

  virtual mlir::Attribute reduced(mlir::RankedTensorType tile, unsigned axis) const = 0;
  virtual mlir::Attribute expanded(mlir::RankedTensorType tile, unsigned axis) const = 0;
  virtual mlir::Attribute transposed(mlir::RankedTensorType tile, llvm::ArrayRef<int32_t> order) const = 0;
  virtual mlir::Attribute reshaped(mlir::RankedTensorType tile, llvm::ArrayRef<int64_t> shape) const = 0;
  /// Whether two encodings are the same layout for a tile of `shape`.
  virtual bool areEquivalent(mlir::Attribute a, mlir::Attribute b, llvm::ArrayRef<int64_t> shape) const = 0;
  /// Whether each thread holds the same elements of two tiles like `half` and of `whole`, which joins them along a
  /// further last dimension, or along the only one.
  virtual bool areHalves(mlir::RankedTensorType half, mlir::RankedTensorType whole) const = 0;
};

/// The rules for `tile`'s encoding; null where it has none.
const EncodingRules *encodingRulesOf(mlir::RankedTensorType tile);

/// Checks that an op's result has the encoding that its rule gives for the operand; reports an error at the op where it
/// has not.
llvm::LogicalResult verifyResultEncoding(mlir::Operation *op, mlir::RankedTensorType source,
                                         mlir::RankedTensorType result, mlir::Attribute expected);

/// Checks that encodings let an op join or separate two tiles like `half` inside of threads; reports an error at the op
/// where they do not.
llvm::LogicalResult verifyHalves(mlir::Operation *op, mlir::Type half, mlir::Type whole);

} // namespace nereid::tt
