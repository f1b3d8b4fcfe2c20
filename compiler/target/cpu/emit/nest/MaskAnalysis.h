// What the part of a nest that is being emitted implies for masks, and for values under them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/nest/NestContext.h"

namespace nereid::cpu {

class MaskAnalysis {
public:
  explicit MaskAnalysis(NestContext &context) : context(context), nest(context.nest) {}

  /// The truth value that the part, or the bound of a loop, implies for a mask; nullopt where neither does.
  std::optional<bool> impliedValue(mlir::Value mask, const IndexMap &map, unsigned requester, unsigned depth = 0) const;
  /// Whether all lanes in which no prefix holds have one value that can be computed without memory accesses.
  bool isUniformWhenInactive(mlir::Value value, const IndexMap &map, unsigned depth = 0);

private:
  bool isCounted(unsigned dim, const Polynomial &bound) const;
  bool computeUniformWhenInactive(mlir::Value value, const IndexMap &map, unsigned depth);

  NestContext &context;
  const Nest &nest;
  llvm::DenseMap<std::pair<mlir::Value, uint64_t>, bool> uniformWhenInactive;
};

} // namespace nereid::cpu
