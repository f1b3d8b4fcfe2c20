// Helpers of the simulator's tests: the text of a kernel, packed parameters, a launch.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/Simulator.h"

#include "gtest/gtest.h"

#include <cstring>
#include <string>
#include <vector>

namespace nereid {

/// A module with the entry `kernel`.
inline std::string simKernel(const std::string &params, const std::string &body, const std::string &before = {}) {
  return ".version 8.0\n.target sm_90a\n.address_size 64\n" + before + "\n.visible .entry kernel(" + params + ")\n{\n" +
         body + "\n}\n";
}

/// Parameters with their natural alignment.
struct SimArguments {
  std::vector<char> bytes;
  template <typename T> SimArguments &add(T value) {
    bytes.resize((bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    bytes.insert(bytes.end(), reinterpret_cast<const char *>(&value), reinterpret_cast<const char *>(&value + 1));
    return *this;
  }
};

inline sim::Expected<sim::Counters> runSim(const std::string &ptx, const SimArguments &arguments, sim::Dim grid,
                                           sim::Dim block, uint64_t seed = 0, uint64_t maxInstructions = 0,
                                           uint32_t sharedBytes = 0, sim::Dim cluster = {},
                                           std::vector<sim::MakeObserver> observers = {}) {
  auto module = sim::parse(ptx);
  if (!module)
    return module.error();
  sim::Launch launch;
  launch.entry = "kernel";
  launch.grid = grid;
  launch.block = block;
  launch.cluster = cluster;
  launch.sharedBytes = sharedBytes;
  launch.params = arguments.bytes;
  launch.seed = seed;
  launch.maxInstructions = maxInstructions;
  launch.observers = std::move(observers);
  return sim::run(**module, launch);
}

} // namespace nereid
