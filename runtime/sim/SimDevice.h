// The simulated GPU as a device: it loads the PTX of an artifact and runs it on the CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"
#include "runtime/sim/counters/LaunchProfile.h"

#include <optional>

namespace nereid::sim {

/// Settings of all launches from now on.
struct SimSettings {
  uint64_t seed = 0;            ///< chooses among the orders that a GPU may run threads in
  uint64_t maxInstructions = 0; ///< of a CTA or cluster; 0: a default
  bool wantsCounters = false;   ///< launches are counted, for `profileOf`
};
void setSimSettings(const SimSettings &settings);

/// Whether kernels of that target run on a simulated GPU.
bool isSimulated(const artifact::Target &target);

/// A GPU of the target's compute capability. It also takes artifacts for earlier ones, and those that were compiled for
/// a real GPU if they hold their PTX. For `hip`, a GPU of the target's architecture; null for one that is not
/// simulated. A launch is done on return; it ignores the stream.
runtime::Device *findSimDevice(const artifact::Target &target);
/// The GPU of a target that is known to be simulated.
runtime::Device &simDevice(const artifact::Target &target);

/// The last launch of a kernel of a simulated GPU that was counted; null where there is none.
std::shared_ptr<const LaunchProfile> profileOf(const runtime::Kernel &kernel);

} // namespace nereid::sim
