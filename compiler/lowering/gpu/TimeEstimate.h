// Combines the work of a launch's programs with occupancy, waves and a GPU's rates.
// SPDX-License-Identifier: MIT
//
// A multiprocessor runs rounds of as many CTAs as fit at once. A round takes as long as one program alone, or as the
// unit that all of them keep busy most, whichever is longer; the whole launch as long as its rounds, or as the traffic
// with L2 or DRAM.
#pragma once

#include "artifact/Artifact.h"
#include "compiler/explain/Estimate.h"
#include "compiler/lowering/gpu/ProgramWork.h"

namespace nereid::lowering {

struct GpuRates {
  int64_t multiprocessors = 1;
  double clockHz = 1, tensorClockHz = 1; ///< boost; sustained while tensor cores are busy
  double dramBytes = 1, l2Bytes = 1;     ///< per second and GPU, that copies reach
  double localBytes = 128;               ///< of L1 and shared memory, per cycle of a multiprocessor
  double latencySeconds = 0;             ///< of an access to DRAM
  double launchSeconds = 0;              ///< from one launch to the next, of an empty kernel
};

/// A kernel after the phase "plan".
struct TimedKernel {
  tt::FuncOp function;
  const OpCostModel &costs;
  IterationCycles iterations;
  GpuRates rates;
  double warps = 1;          ///< of a CTA
  double threads = 32;       ///< of a CTA
  bool isPersistent = false; ///< CTAs stay, and share the programs
  const std::vector<artifact::Parameter> &parameters;
};

/// Completes an estimate whose resources are set: registers, spills, CTAs that fit a multiprocessor.
void estimateTime(const TimedKernel &kernel, const explain::LaunchShape &launch, explain::Estimate &estimate);

} // namespace nereid::lowering
