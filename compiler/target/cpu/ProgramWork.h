// Adds up the cycles of one program on a core, by the nests and dots of its plan.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/ScalarValues.h"
#include "compiler/target/cpu/CpuTarget.h"

namespace nereid::cpu {

struct ProgramWork {
  double vectors = 0; ///< cycles of nests that compute
  double dots = 0;    ///< cycles of multiplications
  double memory = 0;  ///< cycles in which a nest or a dot waits for memory, beside those
  double bytes = 0;   ///< to and from the memory of arguments

  double cycles() const { return vectors + dots + memory; }
  ProgramWork repeated(double times) const;
  void add(const ProgramWork &other);
};

/// Counts for one program of a launch, whose scalars are `values`.
class WorkCounter {
public:
  /// `memoryBytes` is the size of all arrays; 0: unknown.
  WorkCounter(CpuKernel &kernel, analysis::ScalarValues &values, uint64_t memoryBytes)
      : kernel(kernel), values(values), memoryBytes(memoryBytes) {}

  ProgramWork of(const Sequence &sequence);

private:
  ProgramWork ofStep(const Step &step);
  ProgramWork ofControl(const Step &step);
  ProgramWork ofNest(const Nest &nest);
  ProgramWork ofDot(const Step &step);

  CpuKernel &kernel;
  analysis::ScalarValues &values;
  const uint64_t memoryBytes;
};

/// Bytes that a core reads in a cycle from arrays of this size; 0: unknown size.
double bytesPerCycle(const CpuFeatures &machine, uint64_t bytes);

} // namespace nereid::cpu
