// Reads an operand of a dot element by element: from registers, or from shared memory at the first use.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/RegisterMap.h"
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"

#include <optional>

namespace nereid::lowering {

/// One operand: in registers, or in a buffer from which its registers are filled at their first use.
class DotOperand {
public:
  /// Elements are converted to the type `wide`.
  DotOperand(TtgFunctionEmitter &emitter, mlir::Value tile, mlir::Type wide, unsigned alongK);

  bool isInBuffer() const { return reader.has_value(); }
  int64_t extent(unsigned dim) const { return map.extent(dim); }
  int64_t depth() const { return map.extent(alongK); }
  /// The register of an element.
  unsigned registerOf(const layout::LinearLayout::Coordinates &coordinates) const { return map.at(coordinates); }
  /// The least number of steps along k such that no shared access spans two groups of them.
  int64_t depthOfAccess() const { return leastDepth; }
  /// Moves to `iteration` of the loop, which has `steps` steps along k.
  void begin(llvm::Value *iteration, int64_t steps);
  /// Later reads of a buffer compute their addresses anew.
  void rematerialiseAddresses() {
    if (reader)
      reader->rematerialiseAddresses();
  }
  llvm::Value *at(layout::LinearLayout::Coordinates coordinates, int64_t k);

private:
  TtgFunctionEmitter &emitter;
  mlir::RankedTensorType type;
  mlir::Type wide;
  unsigned alongK;
  RegisterMap map;
  Tile registers, widened;
  layout::SharedAccessPattern pattern;
  std::optional<SharedReader> reader;
  llvm::DenseMap<unsigned, const layout::SharedAccess *> accessOf; ///< by register
  int64_t leastDepth = 1;
};

} // namespace nereid::lowering
