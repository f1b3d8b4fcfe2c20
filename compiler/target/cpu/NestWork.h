// Counts the cycles of a nest by the ops that it evaluates for each vector.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/ScalarValues.h"
#include "compiler/target/cpu/CpuTarget.h"

namespace nereid::cpu {

struct NestWork {
  double cycles = 0;       ///< where all that it reads is in the first cache
  double memoryCycles = 0; ///< in which that is moved
  double bytes = 0;        ///< of arguments
};

/// `memoryBytes` is the size of all arrays; 0: unknown.
NestWork workOf(const Nest &nest, CpuKernel &kernel, analysis::ScalarValues &values, uint64_t memoryBytes);

} // namespace nereid::cpu
