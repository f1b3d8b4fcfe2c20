// Tests the output of prints and assertions, once per element or thread.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/SimtHost.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <sstream>

namespace nereid::simt {
namespace {

/// The lines that a kernel without parameters prints, sorted, since threads have no order.
std::vector<std::string> linesOf(const std::string &body, unsigned numWarps) {
  std::string error;
  auto kernel = SimtKernel::compile("tt.func public @kernel() {\n" + body + "\n  tt.return\n}", numWarps, &error);
  EXPECT_TRUE(kernel) << error;
  if (!kernel)
    return {};
  testing::internal::CaptureStdout();
  EXPECT_TRUE(kernel->run({1, 2, 1}, Arguments()));
  std::fflush(stdout);
  std::istringstream text(testing::internal::GetCapturedStdout());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);)
    lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(LoweringDebug, PrintsEachElementOnce) {
  const std::string body = R"(
  %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  tt.print " 50% x: " {hex = false, isSigned = array<i32: 1>} : %e : tensor<1x16xi32>)";
  for (unsigned numWarps : {1, 4}) {
    const std::vector<std::string> lines = linesOf(body, numWarps);
    ASSERT_EQ(lines.size(), 32u);
    EXPECT_EQ(lines[0], "pid (0, 0, 0) idx (0,  0) 50% x: 0");
    EXPECT_EQ(lines[15], "pid (0, 0, 0) idx (0, 15) 50% x: 15");
    EXPECT_EQ(lines[16], "pid (0, 1, 0) idx (0,  0) 50% x: 0");
  }
}

/// Threads hold 4 x 8 elements.
TEST(LoweringDebug, PaddedTilesShowWhatExists) {
  const std::string body = R"(
  %i = tt.make_range {end = 12 : i32, start = 7 : i32} : tensor<5xi32>
  %e = tt.expand_dims %i {axis = 0 : i32} : tensor<5xi32> -> tensor<1x5xi32>
  %b = tt.broadcast %e : tensor<1x5xi32> -> tensor<3x5xi32>
  tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %b : tensor<3x5xi32>
  %n = arith.constant dense<12> : tensor<3x5xi32>
  %c = arith.cmpi slt, %b, %n : tensor<3x5xi32>
  tt.assert %c, "not there" : tensor<3x5xi1>)";
  for (unsigned numWarps : {1, 4}) {
    const std::vector<std::string> lines = linesOf(body, numWarps);
    ASSERT_EQ(lines.size(), 30u);
    EXPECT_EQ(lines[0], "pid (0, 0, 0) idx (0, 0) x: 7");
    EXPECT_EQ(lines[14], "pid (0, 0, 0) idx (2, 4) x: 11");
  }
}

TEST(LoweringDebug, EachThreadPrintsScalars) {
  const std::string body = R"(
  %a = arith.constant -3 : i16
  %b = arith.constant 1.5 : f16
  %c = arith.constant 255 : i64
  tt.print " v: " {hex = false, isSigned = array<i32: 1, 0>} : %a, %b : i16, f16
  tt.print " h: " {hex = true, isSigned = array<i32: 1>} : %c : i64
  tt.print " f: " {hex = true, isSigned = array<i32: 0>} : %b : f16
  tt.print " here" {hex = false, isSigned = array<i32>})";
  const std::vector<std::string> lines = linesOf(body, 2);
  const char *expected[] = {"pid (0, 0, 0) here", "pid (0, 0, 0) idx () f: 0x1.8p+0",
                            "pid (0, 0, 0) idx () h: 0x00000000000000ff", "pid (0, 0, 0) idx () v: (operand 0) -3",
                            "pid (0, 0, 0) idx () v: (operand 1) 1.500000"};
  ASSERT_EQ(lines.size(), 2 * 5 * 64u); // two programs of two warps
  for (unsigned kind = 0; kind < 5; ++kind)
    EXPECT_EQ(std::count(lines.begin(), lines.end(), expected[kind]), 64) << expected[kind];
}

TEST(LoweringDebug, AssertionsNameTheLine) {
  const std::string body = R"(
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %n = arith.constant dense<LIMIT> : tensor<32xi32>
  %c = arith.cmpi slt, %i, %n : tensor<32xi32>
  tt.assert %c, "too many" : tensor<32xi1> loc("k.py":7:5))";
  auto failureOf = [&](const char *limit) {
    std::string text = body, failure;
    text.replace(text.find("LIMIT"), 5, limit);
    auto kernel = SimtKernel::compile("tt.func public @kernel() {\n" + text + "\n  tt.return\n}", 1);
    EXPECT_TRUE(kernel);
    if (kernel)
      kernel->run({1, 2, 1}, Arguments(), Order::Ascending, &failure);
    return failure;
  };
  EXPECT_EQ(failureOf("32"), "");
  const std::string failure = failureOf("31");
  EXPECT_NE(failure.find("k.py:7: device-side assertion failed: too many"), std::string::npos) << failure;
  EXPECT_NE(failure.find("lane 31"), std::string::npos) << failure;
}

} // namespace
} // namespace nereid::simt
