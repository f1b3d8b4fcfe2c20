// Runs what tiles are lowered to on this machine: each thread of a block is a fiber.
// SPDX-License-Identifier: MIT
//
// A target of its own takes the place of the GPU: barriers and shuffles are calls at which fibers wait for each other.
// Between two of them a fiber runs alone, in an order that the caller chooses, so that a missing barrier shows.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace nereid::simt {

/// The packed block of the plain ABI, built up argument by argument.
class Arguments {
public:
  template <typename T> Arguments &add(T value) {
    bytes.resize((bytes.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    bytes.resize(bytes.size() + sizeof(T));
    std::memcpy(bytes.data() + bytes.size() - sizeof(T), &value, sizeof(T));
    return *this;
  }
  /// With the two scratch pointers behind.
  std::vector<char> packed(char *scratch = nullptr) const;

private:
  std::vector<char> bytes;
};

enum class Order : uint8_t { Ascending, Descending, Mixed };

class SimtKernel {
public:
  /// From `tt` text, through the layouts that the GPU pipeline gives it, or from `ttg` text as it is. Null, with the
  /// diagnostics in `error`, where it does not compile.
  static std::unique_ptr<SimtKernel> compile(const std::string &text, unsigned numWarps, std::string *error = nullptr,
                                             bool hasWarpGroups = false, bool hasTensorCopies = false);
  ~SimtKernel();

  /// Every program of the grid. False where fibers wait for each other for ever: threads that do not all come to a
  /// barrier, or lanes to a shuffle.
  bool run(std::array<uint32_t, 3> grid, const Arguments &arguments, Order order = Order::Ascending) const;

  uint32_t sharedBytes = 0, scratchBytes = 0;                           ///< of a program
  unsigned barriers = 0, matrixLoads = 0, matrixStores = 0, copies = 0; ///< in the text of the LLVM IR
  std::string llir;                                                     ///< before optimisation
  std::string ttgir;

private:
  SimtKernel();
  struct Code;
  std::unique_ptr<Code> code;
  unsigned numThreads = 0;
};

} // namespace nereid::simt
