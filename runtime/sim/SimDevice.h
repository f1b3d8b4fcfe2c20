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
  uint32_t devices = 1;         ///< simulated GPUs, with one address space
};
void setSimSettings(const SimSettings &settings);

//--- several GPUs --------------------------------------------------------------------------

uint32_t simDeviceCount();
/// The number of the GPU that launches of the calling thread go to; 0 at first.
uint32_t currentSimDevice();
/// Code `sim-launch`: there is no such GPU.
runtime::Expected<void> setCurrentSimDevice(uint32_t number);

/// From now on launches of the calling thread wait for `runCollected`. Code `sim-launch`: they do so already.
runtime::Expected<void> collectLaunches();
bool areLaunchesCollected();
/// Whether any thread collects.
bool isAnyCollected();
/// Runs what has been collected: launches on different GPUs at the same time, those on one GPU in order.
runtime::Expected<void> runCollected();
/// Drops what has been collected.
void dropCollected();

/// The first address of memory that stands for that of several GPUs, for `multimem` instructions.
uint64_t addMulticastMemory(std::vector<uint64_t> members, uint64_t bytes);
void removeMulticastMemory(uint64_t begin);

//--- devices and kernels -------------------------------------------------------------------

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
