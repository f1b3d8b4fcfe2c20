// A launch on the simulated GPU as the report and the estimate need it.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/counters/Counters.h"
#include "runtime/sim/ptx/Launch.h"

namespace nereid::sim {

class Module;

enum class RegisterSource : uint8_t { Assembler, Liveness };

struct LaunchProfile {
  std::string kernel;
  uint32_t capability = 90; ///< of the simulated GPU
  Dim grid, block, cluster;
  uint32_t sharedBytes = 0; ///< of a CTA, static and dynamic
  uint32_t registers = 0;   ///< of a thread
  RegisterSource registerSource = RegisterSource::Liveness;
  std::shared_ptr<const Module> module; ///< for the text of lines
  Counters counters;
};

/// Registers are those of the liveness analysis.
LaunchProfile profileOf(std::shared_ptr<const Module> module, const Launch &launch, Counters counters);

} // namespace nereid::sim
