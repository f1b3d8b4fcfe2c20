// Describes a launch that was counted.
// SPDX-License-Identifier: MIT
#include "runtime/sim/LaunchProfile.h"

#include "runtime/sim/Liveness.h"
#include "runtime/sim/Module.h"

using namespace nereid::sim;

LaunchProfile nereid::sim::profileOf(std::shared_ptr<const Module> module, const Launch &launch, Counters counters) {
  LaunchProfile profile;
  profile.kernel = launch.entry;
  profile.grid = launch.grid;
  profile.block = launch.block;
  profile.cluster = launch.cluster;
  const Code &code = module->state.entries.find(launch.entry)->second;
  profile.sharedBytes = code.staticSharedBytes + launch.sharedBytes;
  for (const Function &function : module->state.text.functions)
    if (function.name == launch.entry)
      profile.registers = liveRegisters(function);
  profile.module = std::move(module);
  profile.counters = std::move(counters);
  return profile;
}
