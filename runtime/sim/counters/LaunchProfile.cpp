// Describes a launch that was counted.
// SPDX-License-Identifier: MIT
#include "runtime/sim/counters/LaunchProfile.h"

#include "artifact/NvidiaGpus.h"
#include "runtime/sim/machine/Module.h"
#include "runtime/sim/ptx/Liveness.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::sim;

/// An assembler spills registers where the text bounds them.
static uint32_t registersOf(const Function &function, Dim block) {
  uint32_t registers = liveRegisters(function);
  if (function.maxRegisters)
    registers = std::min(registers, function.maxRegisters);
  const uint64_t threads = (block.count() + 31) / 32 * 32 * function.minCtas;
  if (threads)
    registers = std::min(registers, uint32_t(artifact::kRegisterFile / threads / artifact::kRegisterGranule *
                                             artifact::kRegisterGranule));
  return registers;
}

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
      profile.registers = registersOf(function, launch.block);
  profile.module = std::move(module);
  profile.counters = std::move(counters);
  return profile;
}
