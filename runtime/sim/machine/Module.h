// A parsed module, and how its grids are run.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Decode.h"

#include <string_view>

namespace nereid::sim {

class Module {
public:
  ModuleState state;
};

/// Decodes the entries of a text by the functions of `opcodes`.
Expected<std::shared_ptr<const Module>> parseModule(std::string_view ptx, const OpcodeTable &opcodes);

struct GridLaunch {
  const Code &code;
  const Launch &launch;
};
struct GridResults {
  std::vector<uint64_t> threadInstructions; ///< of each grid
  std::optional<Error> error;
  size_t failed = 0; ///< the grid with the error
};
/// Runs every CTA of the grids with the observers that the launches make: those of one device one after another, those
/// of several at the same time.
GridResults runGrids(std::span<const GridLaunch> requests);

} // namespace nereid::sim
