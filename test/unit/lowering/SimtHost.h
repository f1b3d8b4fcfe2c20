// Compiles a kernel for a GPU and runs its PTX on the simulated one.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/Simulator.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace nereid::simt {

/// Builds the packed parameter buffer of the plain ABI, argument by argument.
class Arguments {
public:
  template <typename T> Arguments &add(T value) {
    bytes.resize((bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    bytes.resize(bytes.size() + sizeof(T));
    std::memcpy(bytes.data() + bytes.size() - sizeof(T), &value, sizeof(T));
    return *this;
  }
  /// With the two scratch pointers appended.
  std::vector<char> packed(char *scratch = nullptr) const;

private:
  std::vector<char> bytes;
};

/// Orders of warps and of asynchronous operations, by the simulator's seed: as late as possible in ascending order, at
/// once, two mixtures.
enum class Order : uint8_t { Ascending, AtOnce, Mixed, OtherMixed };

class SimtKernel {
public:
  /// Compiles `tt` text, through the layouts of the GPU pipeline, or `ttg` text as it is. Null, with the diagnostics in
  /// `error`, where it does not compile.
  static std::unique_ptr<SimtKernel> compile(const std::string &text, unsigned numWarps, std::string *error = nullptr,
                                             bool hasWarpGroups = false, bool hasTensorCopies = false,
                                             unsigned numCtas = 1);

  /// Runs every program of the grid. False where it fails, for example as threads wait forever; `failure` is why.
  bool run(std::array<uint32_t, 3> grid, const Arguments &arguments, Order order = Order::Ascending,
           std::string *failure = nullptr) const;
  /// How often the PTX has the text.
  unsigned countOf(const std::string &text) const;
  unsigned barriers() const { return countOf("bar.sync") + countOf("barrier.sync"); }
  unsigned asyncCopies() const { return countOf("cp.async.ca") + countOf("cp.async.cg"); }

  uint32_t sharedBytes = 0, scratchBytes = 0; ///< per program
  uint32_t checks = 0;                        ///< of runs: a set of sim::Check
  std::string ptx;
  std::string ttgir;

private:
  std::shared_ptr<const sim::Module> module;
  unsigned numThreads = 0, numCtas = 1;
};

} // namespace nereid::simt
