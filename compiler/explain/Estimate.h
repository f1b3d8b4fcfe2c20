// What a launch of a kernel costs by the rates of a GPU, known before code generation.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nereid::explain {

/// What is known of a launch before it.
struct LaunchShape {
  std::array<uint64_t, 3> grid{1, 1, 1};
  std::vector<std::optional<int64_t>> scalars; ///< values of integers, by the parameter's position in the source
  uint64_t memoryBytes = 0;                    ///< that the arrays of the arguments have together; 0: unknown
  double memoryPeak = 0;        ///< bytes a second of the GPU's memory, as its clock and width say; 0: unknown
  uint32_t multiprocessors = 0; ///< 0: those of the GPU that the architecture stands for
};

/// Resources, and the time as far as a target has a model of it.
struct Estimate {
  double microseconds = 0;                   ///< 0: the target has no model of times
  std::string limit;                         ///< what the time is made of most: "DRAM", "tensor cores", "latency"
  uint64_t sharedBytes = 0, sharedLimit = 0; ///< of a CTA
  uint32_t registers = 0;                    ///< of a thread
  uint32_t spilled = 0;                      ///< registers of a thread that do not fit
  uint32_t residentCtas = 0;                 ///< of a multiprocessor
  double waves = 0;
  uint64_t bytes = 0;  ///< that all programs move to and from global memory
  uint64_t cycles = 0; ///< of one program that has the multiprocessor for itself

  bool canLaunch() const { return sharedBytes <= sharedLimit && residentCtas > 0; }
};

} // namespace nereid::explain
