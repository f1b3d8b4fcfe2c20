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

/// Runs every CTA of the grid with the observers that the launch makes; returns the number of instructions of threads.
Expected<uint64_t> runGrid(const Code &code, const Launch &launch);

} // namespace nereid::sim
