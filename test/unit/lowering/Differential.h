// Runs a kernel on the CPU target and as a GPU's threads, and compares what both write.
// SPDX-License-Identifier: MIT
#pragma once

#include "test/unit/lowering/SimtHost.h"
#include "test/unit/target_cpu/LoadedKernel.h"

#include <string>
#include <variant>
#include <vector>

namespace nereid::simt {

using cpu_test::replaced;

/// Memory that a kernel gets a pointer to.
struct Buffer {
  enum class Kind : uint8_t { Bytes, Single, Double } kind = Kind::Bytes;
  std::vector<char> bytes;

  template <typename T> static Buffer of(const std::vector<T> &values, Kind kind = Kind::Bytes) {
    Buffer buffer{kind, std::vector<char>(values.size() * sizeof(T))};
    std::memcpy(buffer.bytes.data(), values.data(), buffer.bytes.size());
    return buffer;
  }
  static Buffer zeros(size_t count, Kind kind = Kind::Bytes) { return {kind, std::vector<char>(count)}; }
};

/// A parameter: a buffer, or a scalar.
using Parameter = std::variant<Buffer, int32_t, int64_t, float>;

struct Case {
  std::string text; ///< `tt`, with one kernel named @kernel
  std::vector<Parameter> parameters;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  double maxUlp = 0; ///< floats may differ by so much; NaN is NaN
  std::vector<unsigned> warps = {1, 2, 4, 8};
  bool hasWarpGroups = false; ///< matrix instructions of four warps
  /// Each text must be in the ttg.
  std::vector<std::string> expected = {};
};

/// Expects what the CPU target writes, from every number of warps, in every order of threads.
void expectSameAsCpu(const Case &test);
/// The buffers after a run on the CPU.
std::vector<std::vector<char>> runOnCpu(const Case &test);

/// Numbers of all sizes and both signs, the same at each call.
template <typename T> std::vector<T> someNumbers(size_t count, uint64_t seed = 1) {
  std::vector<T> numbers(count);
  uint64_t state = seed;
  for (T &number : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    if constexpr (std::is_floating_point_v<T>)
      number = static_cast<T>(static_cast<int32_t>(state >> 32)) / static_cast<T>(1 << 28);
    else
      number = static_cast<T>(state >> 33);
  }
  return numbers;
}

} // namespace nereid::simt
