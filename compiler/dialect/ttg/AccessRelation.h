// How accesses to global memory relate the layouts of their tiles.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

namespace nereid::ttg {

/// Pointers and masks have the layout of the access; a stored value and a result may be converted.
LayoutRelation accessRelation(tt::MemoryAccessOpInterface access);

template <typename Op> struct AccessRelation : LayoutRelationOpInterface::ExternalModel<AccessRelation<Op>, Op> {
  LayoutRelation getLayoutRelation(mlir::Operation *op) const {
    return accessRelation(llvm::cast<tt::MemoryAccessOpInterface>(op));
  }
};

} // namespace nereid::ttg
