// Tests arithmetic of bytes that is done on words, by executing the lowered code.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

/// BODY computes %c, of type R, from bytes %a and %b, which are loaded as words.
const std::string bytesText = R"(
tt.func public @kernel(%x: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %o: !tt.ptr<R> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>>
  %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
  %a = tt.load %xp : tensor<256x!tt.ptr<i8>>
  %ys = tt.splat %y : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>>
  %yp = tt.addptr %ys, %r : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
  %b = tt.load %yp : tensor<256x!tt.ptr<i8>>
  BODY
  %os = tt.splat %o : !tt.ptr<R> -> tensor<256x!tt.ptr<R>>
  %op = tt.addptr %os, %r : tensor<256x!tt.ptr<R>>, tensor<256xi32>
  tt.store %op, %c : tensor<256x!tt.ptr<R>>
  tt.return
})";

/// All bytes, in steps that no word repeats.
std::vector<uint8_t> allBytes(unsigned step) {
  std::vector<uint8_t> bytes(256);
  for (unsigned index = 0; index < 256; ++index)
    bytes[index] = index * step + step;
  return bytes;
}

void check(const std::string &body, const std::string &result, size_t resultBytes) {
  SCOPED_TRACE(body);
  for (unsigned step : {1u, 37u, 129u}) {
    expectSameAsCpu(
        {.text = replaced(replaced(bytesText, "BODY", body), "R", result),
         .parameters = {Buffer::of(allBytes(step)), Buffer::of(allBytes(step + 58)), Buffer::zeros(256 * resultBytes)},
         .warps = {1, 2}});
  }
}

TEST(LoweringPackedBytes, OpsOfTwoTiles) {
  for (const char *op : {"andi", "ori", "xori", "addi", "subi", "muli", "shli", "shrsi", "shrui"})
    check("%c = arith." + std::string(op) + " %a, %b : tensor<256xi8>", "i8", 1);
}

TEST(LoweringPackedBytes, OpsWithConstants) {
  for (const char *op : {"andi", "ori", "xori", "addi", "subi", "shli", "shrsi", "shrui"})
    for (int constant : {0, 4, 8, 15, -128})
      check("%k = arith.constant dense<" + std::to_string(constant) + "> : tensor<256xi8>\n  %c = arith." +
                std::string(op) + " %a, %k : tensor<256xi8>",
            "i8", 1);
  check("%k = arith.constant dense<8> : tensor<256xi8>\n  %c = arith.subi %k, %a : tensor<256xi8>", "i8", 1);
}

TEST(LoweringPackedBytes, ConversionsAreExact) {
  for (const char *op : {"sitofp", "uitofp"})
    for (auto [to, bytes] : {std::pair("f16", 2), {"bf16", 2}, {"f32", 4}, {"f64", 8}})
      check("%c = arith." + std::string(op) + " %a : tensor<256xi8> to tensor<256x" + to + ">", to, bytes);
}

TEST(LoweringPackedBytes, WordsOfTwoTiles) {
  // Weights of 4 bits: a word of the result has bytes of two words.
  check(R"(%mask = arith.constant dense<15> : tensor<256xi8>
  %four = arith.constant dense<4> : tensor<256xi8>
  %eight = arith.constant dense<8> : tensor<256xi8>
  %low = arith.andi %a, %mask : tensor<256xi8>
  %low1 = arith.subi %low, %eight : tensor<256xi8>
  %high = arith.shrsi %b, %four : tensor<256xi8>
  %both = tt.join %low1, %high : tensor<256xi8> -> tensor<256x2xi8>
  %real = arith.sitofp %both : tensor<256x2xi8> to tensor<256x2xbf16>
  %c0, %c1 = tt.split %real : tensor<256x2xbf16> -> tensor<256xbf16>
  %c = arith.subf %c0, %c1 : tensor<256xbf16>)",
        "bf16", 2);
}

TEST(LoweringPackedBytes, WordsCarriedByALoop) {
  const std::string body = R"(%n = arith.constant STEPS : i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %f:2 = scf.for %i = %zero to %n step %one iter_args(%p = %a, %q = %b) -> (tensor<256xi8>, tensor<256xi8>) : i32 {
    %sum = arith.addi %p, %q : tensor<256xi8>
    %product = arith.muli %sum, %q : tensor<256xi8>
    scf.yield %q, %product : tensor<256xi8>, tensor<256xi8>
  }
  %d = arith.subi %f#0, %f#1 : tensor<256xi8>
  %c = arith.sitofp %d : tensor<256xi8> to tensor<256xf16>)";
  for (const char *steps : {"0", "1", "5"})
    check(replaced(body, "STEPS", steps), "f16", 2);
}

} // namespace
} // namespace nereid::simt
