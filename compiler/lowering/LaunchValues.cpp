// Takes the arguments of a launch, and the index of one of its programs.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/LaunchValues.h"

#include <algorithm>

using namespace mlir;
using namespace nereid;

std::array<int64_t, 3> lowering::gridOf(const explain::LaunchShape &launch) {
  std::array<int64_t, 3> grid{};
  llvm::transform(launch.grid, grid.begin(), [](uint64_t n) { return int64_t(std::max<uint64_t>(n, 1)); });
  return grid;
}

analysis::ScalarValues lowering::valuesAt(double part, tt::FuncOp function, std::array<int64_t, 3> ctas,
                                          const std::vector<artifact::Parameter> &parameters,
                                          const explain::LaunchShape &launch) {
  std::array<int64_t, 3> program{};
  for (auto [index, extent] : llvm::zip_equal(program, ctas))
    index = std::min<int64_t>(int64_t(double(extent) * part), extent - 1);
  analysis::ScalarValues values(program, ctas);
  for (auto [argument, parameter] : llvm::zip(function.getArguments(), parameters))
    if (parameter.position < launch.scalars.size() && launch.scalars[parameter.position])
      values.set(argument, *launch.scalars[parameter.position]);
  // The launcher's own parameters follow; integers among them are the extents of a grid whose CTAs stay.
  const std::array<int64_t, 3> programs = gridOf(launch);
  unsigned dim = 0;
  for (BlockArgument argument :
       function.getArguments().drop_front(std::min<size_t>(parameters.size(), function.getNumArguments())))
    if (argument.getType().isInteger(32) && dim < 3)
      values.set(argument, programs[dim++]);
  return values;
}
