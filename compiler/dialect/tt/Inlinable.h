// What a dialect says to the inliner when its ops may go wherever their function's callers are.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Transforms/InliningUtils.h"

namespace nereid::tt {

struct Inlinable : mlir::DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(mlir::Operation *, mlir::Region *, bool, mlir::IRMapping &) const final { return true; }
};

} // namespace nereid::tt
