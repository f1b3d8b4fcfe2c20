// The inliner interface of a dialect all of whose ops may be inlined, also into regions of its ops.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Transforms/InliningUtils.h"

namespace nereid::tt {

struct Inlinable : mlir::DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(mlir::Region *, mlir::Region *, bool, mlir::IRMapping &) const final { return true; }
  bool isLegalToInline(mlir::Operation *, mlir::Region *, bool, mlir::IRMapping &) const final { return true; }
};

} // namespace nereid::tt
