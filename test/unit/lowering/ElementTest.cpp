// Tests elementwise ops by executing the lowered code: integers at their limits, conversions, functions.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "gtest/gtest.h"

#include <limits>

namespace nereid::simt {
namespace {

/// BODY computes %c, of type R, from %a and %b of type T.
const std::string binaryText = R"(
tt.func public @kernel(%x: !tt.ptr<T>, %y: !tt.ptr<T>, %o: !tt.ptr<R>) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<T> -> tensor<256x!tt.ptr<T>>
  %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<T>>, tensor<256xi32>
  %a = tt.load %xp : tensor<256x!tt.ptr<T>>
  %ys = tt.splat %y : !tt.ptr<T> -> tensor<256x!tt.ptr<T>>
  %yp = tt.addptr %ys, %r : tensor<256x!tt.ptr<T>>, tensor<256xi32>
  %b = tt.load %yp : tensor<256x!tt.ptr<T>>
  BODY
  %os = tt.splat %o : !tt.ptr<R> -> tensor<256x!tt.ptr<R>>
  %op = tt.addptr %os, %r : tensor<256x!tt.ptr<R>>, tensor<256xi32>
  tt.store %op, %c : tensor<256x!tt.ptr<R>>
  tt.return
})";

std::string binary(const std::string &body, const std::string &type, const std::string &result) {
  return replaced(replaced(replaced(binaryText, "BODY", body), "T", type), "R", result);
}

/// 16 numbers against 16 numbers.
template <typename T> std::pair<std::vector<T>, std::vector<T>> pairs(const std::vector<T> &edges) {
  std::vector<T> left, right;
  for (size_t i = 0; i < 256; ++i) {
    left.push_back(edges[i / 16 % edges.size()]);
    right.push_back(edges[i % 16 % edges.size()]);
  }
  return {left, right};
}

TEST(LoweringElement, IntegersAtTheirEdges) {
  using Limits = std::numeric_limits<int32_t>;
  auto [left, right] = pairs<int32_t>({0, 1, -1, 2, 3, 31, 32, 33, -32, 100, Limits::max(), Limits::min(),
                                       Limits::max() - 1, Limits::min() + 1, 0x55555555, 7});
  for (const char *op : {"divsi", "divui", "remsi", "remui", "shli", "shrsi", "shrui", "maxsi", "minui", "addi", "subi",
                         "muli", "andi", "xori"})
    expectSameAsCpu({.text = binary("%c = arith." + std::string(op) + " %a, %b : tensor<256xi32>", "i32", "i32"),
                     .parameters = {Buffer::of(left), Buffer::of(right), Buffer::zeros(1024)},
                     .warps = {2}});
  for (const char *predicate : {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"})
    expectSameAsCpu(
        {.text =
             binary("%m = arith.cmpi " + std::string(predicate) +
                        ", %a, %b : tensor<256xi32>\n %c = arith.select %m, %a, %b : tensor<256xi1>, tensor<256xi32>",
                    "i32", "i32"),
         .parameters = {Buffer::of(left), Buffer::of(right), Buffer::zeros(1024)},
         .warps = {2}});
  expectSameAsCpu({.text = binary("%c = tt.mulhiui %a, %b : tensor<256xi32>", "i32", "i32"),
                   .parameters = {Buffer::of(left), Buffer::of(right), Buffer::zeros(1024)},
                   .warps = {2}});
}

TEST(LoweringElement, IndexArithmeticThatWrapsIsDataToo) {
  // Sums and products of a range are emitted as base and offset; used as data they wrap.
  expectSameAsCpu({.text = binary(R"(
  %big = arith.constant dense<2147483000> : tensor<256xi32>
  %m = arith.constant dense<16777619> : tensor<256xi32>
  %s1 = arith.addi %r, %big : tensor<256xi32>
  %s2 = arith.muli %s1, %m : tensor<256xi32>
  %s3 = arith.subi %s2, %r : tensor<256xi32>
  %wide = arith.extsi %s3 : tensor<256xi32> to tensor<256xi64>
  %wide2 = arith.extsi %s1 : tensor<256xi32> to tensor<256xi64>
  %three = arith.constant dense<3> : tensor<256xi64>
  %t = arith.muli %wide, %three : tensor<256xi64>
  %u = arith.addi %t, %wide2 : tensor<256xi64>
  %shift = arith.constant dense<5> : tensor<256xi64>
  %c = arith.shli %u, %shift : tensor<256xi64>)",
                                  "i64", "i64"),
                   .parameters = {Buffer::zeros(2048), Buffer::zeros(2048), Buffer::zeros(2048)}});
}

TEST(LoweringElement, FloatsCompareAndSelect) {
  using Limits = std::numeric_limits<float>;
  auto [left, right] =
      pairs<float>({0.0f, -0.0f, 1.0f, -1.0f, 2.5f, -2.5f, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                    Limits::max(), Limits::min(), Limits::denorm_min(), 7.0f, 0.1f, -3.0f, 1e-30f});
  auto check = [&](const std::string &body, double maxUlp = 0) {
    expectSameAsCpu({.text = binary(body, "f32", "f32"),
                     .parameters = {Buffer::of(left), Buffer::of(right), Buffer::zeros(1024, Buffer::Kind::Single)},
                     .maxUlp = maxUlp,
                     .warps = {2}});
  };
  for (const char *predicate :
       {"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"})
    check("%m = arith.cmpf " + std::string(predicate) +
          ", %a, %b : tensor<256xf32>\n %c = arith.select %m, %a, %b : tensor<256xi1>, tensor<256xf32>");
  for (const char *op : {"maximumf", "minimumf", "addf", "subf", "mulf", "divf", "remf"})
    check("%c = arith." + std::string(op) + " %a, %b : tensor<256xf32>");
  check("%c = tt.precise_divf %a, %b : tensor<256xf32>");
  check("%c = tt.clampf %a, %b, %a, propagateNan = all : tensor<256xf32>");
  check("%c = arith.negf %a : tensor<256xf32>");
  check("%c = math.fma %a, %b, %a : tensor<256xf32>");
}

TEST(LoweringElement, ConversionsRoundOnce) {
  std::vector<float> singles = someNumbers<float>(256);
  std::vector<double> doubles = someNumbers<double>(256);
  std::vector<int32_t> integers = someNumbers<int32_t>(256);
  const float edges[] = {1.0f,     1.0009765625f, 1.00048828125f, 65504.0f, 65519.9f,
                         65520.0f, 1e-8f,         6e-8f,          3.1e38f,  1e38f};
  std::copy(std::begin(edges), std::end(edges), singles.begin());
  doubles[0] = 1.0 + 0x1p-9 + 0x1p-40, doubles[1] = 1.0 + 0x1p-8, doubles[2] = 1e300, doubles[3] = 1e-300;
  integers[0] = 0x01010001, integers[1] = -0x01010001, integers[2] = 0x7fffffff;
  struct Conversion {
    const char *from, *to, *op;
    size_t bytes;
  };
  const Conversion conversions[] = {
      {"f32", "f16", "arith.truncf", 2},  {"f32", "bf16", "arith.truncf", 2}, {"f64", "f32", "arith.truncf", 4},
      {"f64", "f16", "arith.truncf", 2},  {"f64", "bf16", "arith.truncf", 2}, {"i32", "f32", "arith.sitofp", 4},
      {"i32", "bf16", "arith.sitofp", 2}, {"i32", "f16", "arith.uitofp", 2},  {"f32", "i32", "arith.fptosi", 4},
      {"f32", "f64", "arith.extf", 8},    {"i32", "i64", "arith.extui", 8},   {"i32", "i8", "arith.trunci", 1}};
  for (const Conversion &conversion : conversions) {
    const std::string from = conversion.from;
    Buffer source = from == "f32" ? Buffer::of(singles) : from == "f64" ? Buffer::of(doubles) : Buffer::of(integers);
    if (std::string(conversion.op) == "arith.fptosi") // out of range gives an arbitrary value
      source = Buffer::of(std::vector<float>(256, -123.75f));
    const std::string body =
        "%c = " + std::string(conversion.op) + " %a : tensor<256x" + from + "> to tensor<256x" + conversion.to + ">";
    expectSameAsCpu({.text = binary(body, from, conversion.to),
                     .parameters = {source, source, Buffer::zeros(256 * conversion.bytes)},
                     .warps = {1, 4}});
  }
  std::vector<int64_t> longs = someNumbers<int64_t>(256);
  for (int i = 0; i < 128; ++i) // close to the midpoint of two adjacent floats, by less than f64 resolves
    longs[i] = ((int64_t{1} << (62 - i % 8)) + (int64_t{1} << (54 - i % 8)) + (i / 8 % 3 - 1)) * (i % 2 ? -1 : 1);
  for (const char *to : {"f16", "bf16"})
    for (const char *op : {"sitofp", "uitofp"})
      expectSameAsCpu(
          {.text =
               binary("%c = arith." + std::string(op) + " %a : tensor<256xi64> to tensor<256x" + to + ">", "i64", to),
           .parameters = {Buffer::of(longs), Buffer::of(longs), Buffer::zeros(512)},
           .warps = {2}});
  for (const char *to : {"f16", "bf16"})
    expectSameAsCpu(
        {.text = binary("%c = tt.fp_to_fp %a, rounding = rtz : tensor<256xf32> -> tensor<256x" + std::string(to) + ">",
                        "f32", to),
         .parameters = {Buffer::of(singles), Buffer::of(singles), Buffer::zeros(512)},
         .warps = {2}});
}

TEST(LoweringElement, HalvesComputeInTheirFormat) {
  using Kind = Buffer::Kind;
  for (auto [type, kind] : {std::pair("f16", Kind::Half), {"bf16", Kind::BFloat}})
    for (const char *op : {"addf", "subf", "mulf", "divf", "maximumf"})
      expectSameAsCpu(
          {.text = binary("%c = arith." + std::string(op) + " %a, %b : tensor<256x" + type + ">", type, type),
           .parameters = {Buffer::of(someNumbers<uint16_t>(256)), Buffer::of(someNumbers<uint16_t>(256, 9)),
                          Buffer::zeros(512, kind)},
           .warps = {2}});
}

TEST(LoweringElement, FunctionsAgreeWithTheCpu) {
  for (const char *function : {"exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "erf", "tanh", "sqrt",
                               "rsqrt", "absf", "floor", "ceil", "trunc", "round", "roundeven"}) {
    for (auto [type, kind] : {std::pair("f32", Buffer::Kind::Single), {"f64", Buffer::Kind::Double}}) {
      const bool isWide = kind == Buffer::Kind::Double;
      const Buffer source = isWide ? Buffer::of(someNumbers<double>(256)) : Buffer::of(someNumbers<float>(256));
      expectSameAsCpu(
          {.text = binary("%c = math." + std::string(function) + " %a : tensor<256x" + type + ">", type, type),
           .parameters = {source, source, Buffer::zeros(256 * (isWide ? 8 : 4), kind)},
           .maxUlp = isWide ? 4.0 : 16.0, // ex2.approx of a rounded product
           .warps = {2}});
    }
  }
}

} // namespace
} // namespace nereid::simt
