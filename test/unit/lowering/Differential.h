// Runs a kernel on the CPU target and as simulated GPU threads, and compares the results.
// SPDX-License-Identifier: MIT
#pragma once

#include "test/unit/lowering/SimtHost.h"
#include "test/unit/target_cpu/LoadedKernel.h"

#include <string>
#include <variant>
#include <vector>

namespace nereid::simt {

using cpu_test::replaced;

/// `text` with every name replaced by its value.
inline std::string withNames(std::string text, std::initializer_list<std::pair<const char *, std::string>> names) {
  for (const auto &[name, value] : names)
    text = replaced(text, name, value);
  return text;
}

/// Memory that a kernel gets a pointer to.
struct Buffer {
  /// How elements are compared: bytes exactly, numbers with all NaNs equal.
  enum class Kind : uint8_t { Bytes, Half, BFloat, Single, Double } kind = Kind::Bytes;
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
  double maxUlp = 0; ///< tolerance for floats; NaNs are equal
  std::vector<unsigned> warps = {1, 2, 4, 8};
  bool hasWarpGroups = false;   ///< wgmma
  bool hasTensorCopies = false; ///< TMA
  unsigned numCtas = 1;         ///< of a cluster
  /// Texts that the ttg must contain.
  std::vector<std::string> expected = {};
  /// Texts with the number of times that the ttg must contain them.
  std::vector<std::pair<std::string, size_t>> counted = {};
};

/// Loads ROWS x COLS elements of type T from %x as %a, row-major; %i and %j count rows and columns.
inline const std::string loadTile = R"(  %i = tt.make_range {end = ROWS : i32, start = 0 : i32} : tensor<ROWSxi32>
  %j = tt.make_range {end = COLS : i32, start = 0 : i32} : tensor<COLSxi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<ROWSxi32> -> tensor<ROWSx1xi32>
  %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<COLSxi32> -> tensor<1xCOLSxi32>
  %cols = arith.constant dense<COLS> : tensor<ROWSx1xi32>
  %row = arith.muli %i1, %cols : tensor<ROWSx1xi32>
  %rows = tt.broadcast %row : tensor<ROWSx1xi32> -> tensor<ROWSxCOLSxi32>
  %columns = tt.broadcast %j1 : tensor<1xCOLSxi32> -> tensor<ROWSxCOLSxi32>
  %offs = arith.addi %rows, %columns : tensor<ROWSxCOLSxi32>
  %xs = tt.splat %x : !tt.ptr<T> -> tensor<ROWSxCOLSx!tt.ptr<T>>
  %xp = tt.addptr %xs, %offs : tensor<ROWSxCOLSx!tt.ptr<T>>, tensor<ROWSxCOLSxi32>
  %a = tt.load %xp : tensor<ROWSxCOLSx!tt.ptr<T>>
)";
/// Stores %r of type RESULT to %o, as COUNT elements of type U.
inline const std::string storeFlat = R"(  %flat = tt.reshape %r : RESULT -> tensor<COUNTxU>
  %k = tt.make_range {end = COUNT : i32, start = 0 : i32} : tensor<COUNTxi32>
  %os = tt.splat %o : !tt.ptr<U> -> tensor<COUNTx!tt.ptr<U>>
  %op = tt.addptr %os, %k : tensor<COUNTx!tt.ptr<U>>, tensor<COUNTxi32>
  tt.store %op, %flat : tensor<COUNTx!tt.ptr<U>>
)";

/// Expects the CPU target's results for every number of warps and every order of threads.
void expectSameAsCpu(const Case &test);
/// The buffers after a run on the CPU.
std::vector<std::vector<char>> runOnCpu(const Case &test);

/// Numbers of all magnitudes and both signs, the same at each call.
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

/// 0 to 3 as f16: sums of their products are exact.
Buffer smallNumbers(size_t count, uint64_t seed);

} // namespace nereid::simt
