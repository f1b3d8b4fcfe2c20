// Decides how a dot's operands are multiplied: by vectors, by pairs or fours of narrow elements, or by matrix tiles.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/prepare/DotForm.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

DotForm cpu::dotForm(tt::DotOp dot, const DotMachine &machine) {
  return dotForm(dot, tt::elementOf(dot.getA().getType()), machine);
}

DotForm cpu::dotForm(tt::DotOp dot, Type element, const DotMachine &machine) {
  ArrayRef<int64_t> d = tt::shapeOf(dot.getType());
  const int64_t rows = d[d.size() - 2], columns = d.back(), depth = tt::shapeOf(dot.getA().getType()).back();
  const Type result = tt::elementOf(dot.getType());
  // A matrix tile has 16 rows of 64 bytes; an instruction on vectors has at least four lanes.
  constexpr int64_t tileRows = 16, tileBytes = 64, fewestLanes = 4;
  auto fillsTiles = [&](int64_t bytes) {
    return rows % tileRows == 0 && columns % tileRows == 0 && depth * bytes % tileBytes == 0;
  };
  auto fillsGroups = [&](int64_t group) { return depth % group == 0 && columns % fewestLanes == 0; };
  if (element.isBF16() && result.isF32()) {
    if (machine.hasAmxBf16 && fillsTiles(2))
      return {2, true};
    if (machine.hasAvx512Bf16 && fillsGroups(2))
      return {2, false};
  } else if (element.isInteger(8)) {
    if (machine.hasAmxInt8 && fillsTiles(1))
      return {4, true};
    if (machine.hasVnni && fillsGroups(4))
      return {4, false};
  } else if (element.isInteger(16) && machine.registerBits >= 256 && fillsGroups(2)) {
    return {2, false};
  }
  return {};
}
