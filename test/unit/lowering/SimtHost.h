// Runs lowered tiles on this machine, with a fiber for each thread of a CTA.
// SPDX-License-Identifier: MIT
//
// A test target replaces the GPU: barriers and shuffles are calls at which fibers wait for each other. Between two of
// them a fiber runs alone, in an order that the caller chooses, so that a missing barrier is exposed.
#pragma once

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

/// LateLanes: in the last four warps, all lanes but the first run only where no other thread gets on.
enum class Order : uint8_t { Ascending, Descending, Mixed, LateLanes };

class SimtKernel {
public:
  /// Compiles `tt` text, through the layouts of the GPU pipeline, or `ttg` text as it is. Null, with the diagnostics in
  /// `error`, where it does not compile.
  static std::unique_ptr<SimtKernel> compile(const std::string &text, unsigned numWarps, std::string *error = nullptr,
                                             bool hasWarpGroups = false, bool hasTensorCopies = false,
                                             unsigned numCtas = 1);
  ~SimtKernel();

  /// Runs every program of the grid. False where fibers wait forever: not all threads reach a barrier, or not all lanes
  /// a shuffle.
  bool run(std::array<uint32_t, 3> grid, const Arguments &arguments, Order order = Order::Ascending) const;

  uint32_t sharedBytes = 0, scratchBytes = 0;                           ///< per program
  unsigned barriers = 0, matrixLoads = 0, matrixStores = 0, copies = 0; ///< counts in the LLVM IR
  std::string llir;                                                     ///< before optimisation
  std::string ttgir;

private:
  SimtKernel();
  struct Code;
  std::unique_ptr<Code> code;
  unsigned numThreads = 0, numCtas = 1;
};

} // namespace nereid::simt
