// Finds the register in which a thread holds an element.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/Layout.h"

namespace nereid::lowering {

/// Maps coordinates to the register in which a thread of lane 0 and warp 0 holds the element; coordinates beyond the
/// tile wrap around, as in layouts.
class RegisterMap {
public:
  explicit RegisterMap(mlir::RankedTensorType type) : shape(type.getShape()), layout(ttg::linearLayoutOf(type)) {
    for (int32_t index = 0; index < layout.inSize(layout::kRegister); ++index)
      registers.try_emplace(layout.applyFlat({{layout::kRegister, index}}), index);
  }

  unsigned size() const { return layout.inSize(layout::kRegister); }
  layout::LinearLayout::Coordinates coordinates(unsigned index) const {
    return layout.apply({{layout::kRegister, int32_t(index)}});
  }
  unsigned at(layout::LinearLayout::Coordinates coordinates) const {
    uint64_t flat = 0;
    for (auto [coordinate, extent] : llvm::zip_equal(coordinates, shape))
      flat = flat * extent + coordinate % extent;
    return registers.lookup(flat);
  }
  int64_t extent(unsigned dim) const { return shape[dim]; }

private:
  llvm::ArrayRef<int64_t> shape;
  const layout::LinearLayout &layout;
  llvm::DenseMap<uint64_t, unsigned> registers;
};

} // namespace nereid::lowering
