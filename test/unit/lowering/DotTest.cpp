// Tests dots by executing them: every kind of instruction, extents below the instruction's, warps that hold copies.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

struct DotCase {
  int64_t batch = 0; ///< 0: two dimensions
  int64_t m = 16, n = 16, k = 16;
  std::string element = "f16", result = "f32", precision = "ieee";
};

std::string shaped(const DotCase &dot, int64_t rows, int64_t columns, const std::string &element) {
  const std::string batch = dot.batch ? llvm::formatv("{0}x", dot.batch).str() : "";
  return llvm::formatv("tensor<{0}{1}x{2}x{3}>", batch, rows, columns, element).str();
}

/// Loads an operand from `stored` integers, in order, and converts it.
std::string operand(const DotCase &dot, const char *name, int64_t rows, int64_t columns, const std::string &stored) {
  const int64_t count = std::max<int64_t>(dot.batch, 1) * rows * columns;
  const std::string from = shaped(dot, rows, columns, stored), to = shaped(dot, rows, columns, dot.element);
  std::string text = llvm::formatv(R"(
  %r{0} = tt.make_range {{end = {1} : i32, start = 0 : i32} : tensor<{1}xi32>
  %s{0} = tt.splat %{0} : !tt.ptr<{2}> -> tensor<{1}x!tt.ptr<{2}>>
  %p{0} = tt.addptr %s{0}, %r{0} : tensor<{1}x!tt.ptr<{2}>>, tensor<{1}xi32>
  %l{0} = tt.load %p{0} : tensor<{1}x!tt.ptr<{2}>>
  %i{0} = tt.reshape %l{0} : tensor<{1}x{2}> -> {3}
)",
                                   name, count, stored, from);
  if (dot.element == stored)
    return text + llvm::formatv("  %v{0} = arith.bitcast %i{0} : {1} to {1}\n", name, from).str();
  return text + llvm::formatv("  %v{0} = arith.sitofp %i{0} : {1} to {2}\n", name, from, to).str();
}

std::string kernel(const DotCase &dot, const std::string &stored) {
  const int64_t count = std::max<int64_t>(dot.batch, 1) * dot.m * dot.n;
  const bool isInteger = dot.result == "i32";
  const std::string accumulators = shaped(dot, dot.m, dot.n, dot.result);
  return llvm::formatv(R"(
tt.func public @kernel(%x: !tt.ptr<{0}>, %y: !tt.ptr<{0}>, %o: !tt.ptr<{1}>) {{{2}{3}
  %c = arith.constant dense<{4}> : {5}
  %d = tt.dot %vx, %vy, %c, inputPrecision = {6} : {7} * {8} -> {5}
  %f = tt.reshape %d : {5} -> tensor<{9}x{1}>
  %r = tt.make_range {{end = {9} : i32, start = 0 : i32} : tensor<{9}xi32>
  %os = tt.splat %o : !tt.ptr<{1}> -> tensor<{9}x!tt.ptr<{1}>>
  %op = tt.addptr %os, %r : tensor<{9}x!tt.ptr<{1}>>, tensor<{9}xi32>
  tt.store %op, %f : tensor<{9}x!tt.ptr<{1}>>
  tt.return
})",
                       stored, dot.result, operand(dot, "x", dot.m, dot.k, stored),
                       operand(dot, "y", dot.k, dot.n, stored), isInteger ? "3" : "3.0", accumulators, dot.precision,
                       shaped(dot, dot.m, dot.k, dot.element), shaped(dot, dot.k, dot.n, dot.element), count)
      .str();
}

void expectExact(const DotCase &dot) {
  SCOPED_TRACE(llvm::formatv("{0} x {1} x {2} of {3} {4}, {5} of them", dot.m, dot.n, dot.k, dot.element, dot.precision,
                             dot.batch)
                   .str());
  const int64_t batch = std::max<int64_t>(dot.batch, 1);
  expectSameAsCpu({.text = kernel(dot, "i8"),
                   .parameters = {Buffer::of(someNumbers<int8_t>(batch * dot.m * dot.k)),
                                  Buffer::of(someNumbers<int8_t>(batch * dot.k * dot.n, 2)),
                                  Buffer::zeros(batch * dot.m * dot.n * (dot.result == "f64" ? 8 : 4))},
                   .warps = {1, 4}});
}

constexpr std::array<int64_t, 3> extents[] = {{16, 16, 16}, {1, 1, 1},  {32, 8, 64}, {2, 4, 2},
                                              {64, 32, 8},  {8, 64, 4}, {4, 1, 32},  {1, 32, 16}};

TEST(Dot, HalfFloats) {
  for (const char *element : {"f16", "bf16"})
    for (auto [m, n, k] : extents)
      expectExact({.m = m, .n = n, .k = k, .element = element});
}

TEST(Dot, SingleFloats) {
  for (const char *precision : {"tf32", "ieee", "bf16x3"})
    for (auto [m, n, k] : extents)
      expectExact({.m = m, .n = n, .k = k, .element = "f32", .precision = precision});
}

TEST(Dot, BytesAndDoubles) {
  for (auto [m, n, k] : extents) {
    expectExact({.m = m, .n = n, .k = k, .element = "i8", .result = "i32"});
    expectExact({.m = m, .n = n, .k = k, .element = "f64", .result = "f64"});
  }
}

/// Elements of 8 bits, or two of 4 bits in each, of a tile of rows x depth whose rows are contiguous.
std::string smallElements(const char *name, int64_t rows, int64_t depth, bool isPacked) {
  const int64_t stored = isPacked ? depth / 2 : depth;
  std::string text = llvm::formatv(R"(
  %r{0} = tt.make_range {{end = {1} : i32, start = 0 : i32} : tensor<{1}xi32>
  %k{0} = tt.make_range {{end = {2} : i32, start = 0 : i32} : tensor<{2}xi32>
  %w{0} = arith.constant dense<{2}> : tensor<{1}xi32>
  %m{0} = arith.muli %r{0}, %w{0} : tensor<{1}xi32>
  %e{0} = tt.expand_dims %m{0} {{axis = 1 : i32} : tensor<{1}xi32> -> tensor<{1}x1xi32>
  %b{0} = tt.broadcast %e{0} : tensor<{1}x1xi32> -> tensor<{1}x{2}xi32>
  %f{0} = tt.expand_dims %k{0} {{axis = 0 : i32} : tensor<{2}xi32> -> tensor<1x{2}xi32>
  %c{0} = tt.broadcast %f{0} : tensor<1x{2}xi32> -> tensor<{1}x{2}xi32>
  %o{0} = arith.addi %b{0}, %c{0} : tensor<{1}x{2}xi32>
  %s{0} = tt.splat %{0} : !tt.ptr<i8> -> tensor<{1}x{2}x!tt.ptr<i8>>
  %p{0} = tt.addptr %s{0}, %o{0} : tensor<{1}x{2}x!tt.ptr<i8>>, tensor<{1}x{2}xi32>
  %l{0} = tt.load %p{0} : tensor<{1}x{2}x!tt.ptr<i8>>
)",
                                   name, rows, stored);
  if (isPacked)
    text += llvm::formatv(R"(
  %fifteen{0} = arith.constant dense<15> : tensor<{1}x{2}xi8>
  %four{0} = arith.constant dense<4> : tensor<{1}x{2}xi8>
  %low{0} = arith.andi %l{0}, %fifteen{0} : tensor<{1}x{2}xi8>
  %high{0} = arith.shrsi %l{0}, %four{0} : tensor<{1}x{2}xi8>
  %j{0} = tt.join %low{0}, %high{0} : tensor<{1}x{2}xi8> -> tensor<{1}x{2}x2xi8>
  %i{0} = tt.reshape %j{0} : tensor<{1}x{2}x2xi8> -> tensor<{1}x{3}xi8>
)",
                          name, rows, stored, depth);
  text += llvm::formatv("  %v{0} = arith.sitofp %{1}{0} : tensor<{2}x{3}xi8> to tensor<{2}x{3}xf16>\n", name,
                        isPacked ? "i" : "l", rows, depth);
  return text;
}

/// Lanes hold wide runs along k of both operands.
TEST(Dot, SmallElementsInRows) {
  for (bool isPacked : {false, true})
    for (auto [m, n, k] : {std::array<int64_t, 3>{16, 32, 64}, {16, 16, 32}, {32, 16, 128}}) {
      const std::string text =
          llvm::formatv(R"(
tt.func public @kernel(%x: !tt.ptr<i8> {{tt.divisibility = 16 : i32}, %y: !tt.ptr<i8> {{tt.divisibility = 16 : i32},
                       %o: !tt.ptr<f32>) {{{0}{1}
  %t = tt.trans %vy {{order = array<i32: 1, 0>} : tensor<{3}x{4}xf16> -> tensor<{4}x{3}xf16>
  %z = arith.constant dense<0.0> : tensor<{2}x{3}xf32>
  %d = tt.dot %vx, %t, %z, inputPrecision = ieee : tensor<{2}x{4}xf16> * tensor<{4}x{3}xf16> -> tensor<{2}x{3}xf32>
  %f = tt.reshape %d : tensor<{2}x{3}xf32> -> tensor<{5}xf32>
  %r = tt.make_range {{end = {5} : i32, start = 0 : i32} : tensor<{5}xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<{5}x!tt.ptr<f32>>
  %op = tt.addptr %os, %r : tensor<{5}x!tt.ptr<f32>>, tensor<{5}xi32>
  tt.store %op, %f : tensor<{5}x!tt.ptr<f32>>
  tt.return
})",
                        smallElements("x", m, k, false), smallElements("y", n, k, isPacked), m, n, k, m * n)
              .str();
      expectSameAsCpu({.text = text,
                       .parameters = {Buffer::of(someNumbers<int8_t>(m * k)), Buffer::of(someNumbers<int8_t>(n * k, 2)),
                                      Buffer::zeros(m * n * 4)},
                       .warps = {1, 4}});
    }
}

TEST(Dot, Batches) {
  expectExact({.batch = 4, .m = 16, .n = 8, .k = 32});
  expectExact({.batch = 2, .m = 4, .n = 16, .k = 8, .element = "f32"});
  expectExact({.batch = 8, .m = 1, .n = 2, .k = 4, .element = "i8", .result = "i32"});
}

/// Enough multiplications that a loop is emitted, with operands in shared memory.
TEST(Dot, LoopsOverElements) {
  constexpr std::array<int64_t, 3> large[] = {{32, 32, 128}, {8, 64, 256}, {64, 16, 512}, {128, 1, 512}};
  for (auto [m, n, k] : large)
    expectExact({.m = m, .n = n, .k = k, .element = "f32"});
}

/// Thirteen bits do not fit the instruction's types, so that the remaining terms matter.
TEST(Dot, PartsOfSingleFloats) {
  for (const char *precision : {"tf32x3", "bf16x3", "bf16x6"}) {
    std::vector<int16_t> x = someNumbers<int16_t>(16 * 16), y = someNumbers<int16_t>(16 * 16, 2);
    for (std::vector<int16_t> *numbers : {&x, &y})
      for (int16_t &number : *numbers)
        number = number & 8191;
    DotCase dot{.element = "f32", .precision = precision};
    expectSameAsCpu({.text = kernel(dot, "i16"),
                     .parameters = {Buffer::of(x), Buffer::of(y), Buffer::zeros(16 * 16 * 4, Buffer::Kind::Single)},
                     .maxUlp = std::string(precision) == "bf16x3" ? 200.0 : 8.0,
                     .warps = {1, 4}});
  }
}

} // namespace
} // namespace nereid::simt
