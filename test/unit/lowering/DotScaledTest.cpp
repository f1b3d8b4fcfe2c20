// Tests dots of microscaling formats, which GPUs compute in bf16 or f16, with numbers for which f32 gives the same.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

struct Side {
  std::string format;  ///< as in `lhs = `
  std::string element; ///< of the tile
  bool isScaled = true;
  bool isKPacked = true;
};

struct ScaledShape {
  int64_t m = 16, n = 16, k = 64;
};

/// Codes of elements that are all small multiples of 1/16.
std::vector<uint8_t> codesOf(const Side &side, size_t bytes, uint64_t seed) {
  std::vector<uint8_t> codes = someNumbers<uint8_t>(bytes, seed);
  for (size_t i = 0; i < bytes; ++i) {
    if (side.format == "e4m3")
      codes[i] = (codes[i] & 0x8f) | 0x30;
    else if (side.format == "e5m2")
      codes[i] = (codes[i] & 0x87) | 0x38;
    else if (side.format == "bf16" && i % 2) // the high byte
      codes[i] = 0x3f;
    else if (side.format == "bf16")
      codes[i] &= 0xe0;
    else if (side.format == "fp16" && i % 2)
      codes[i] = (codes[i] & 0x83) | 0x3c;
    else if (side.format == "fp16")
      codes[i] = 0;
  }
  return codes;
}

/// Scales from a half to four.
std::vector<uint8_t> scaleCodes(size_t count, uint64_t seed) {
  std::vector<uint8_t> codes = someNumbers<uint8_t>(count, seed);
  for (uint8_t &code : codes)
    code = 126 + code % 4;
  return codes;
}

std::string tileType(int64_t rows, int64_t columns, const std::string &element) {
  return llvm::formatv("tensor<{0}x{1}x{2}>", rows, columns, element).str();
}

/// Loads %NAME, [rows, columns], as %vNAME.
std::string loaded(const char *name, int64_t rows, int64_t columns, const std::string &element) {
  return llvm::formatv(R"(
  %r{0} = tt.make_range {{end = {1} : i32, start = 0 : i32} : tensor<{1}xi32>
  %s{0} = tt.splat %{0} : !tt.ptr<{2}> -> tensor<{1}x!tt.ptr<{2}>>
  %p{0} = tt.addptr %s{0}, %r{0} : tensor<{1}x!tt.ptr<{2}>>, tensor<{1}xi32>
  %l{0} = tt.load %p{0} : tensor<{1}x!tt.ptr<{2}>>
  %v{0} = tt.reshape %l{0} : tensor<{1}x{2}> -> {3}
)",
                       name, rows * columns, element, tileType(rows, columns, element))
      .str();
}

void expectScaled(ScaledShape shape, const Side &a, const Side &b) {
  SCOPED_TRACE(llvm::formatv("{0} x {1}, {2} x {3} x {4}", a.format, b.format, shape.m, shape.n, shape.k).str());
  const int64_t aPacked = a.format == "e2m1" ? 2 : 1, bPacked = b.format == "e2m1" ? 2 : 1, groups = shape.k / 32;
  const int64_t aRows = a.isKPacked ? shape.m : shape.m / aPacked, aColumns = a.isKPacked ? shape.k / aPacked : shape.k;
  const int64_t bRows = b.isKPacked ? shape.k / bPacked : shape.k, bColumns = b.isKPacked ? shape.n : shape.n / bPacked;
  auto bytesOf = [](const Side &side) { return side.element.size() == 3 ? 2 : 1; }; // i16 or i8
  auto scaled = [](const Side &side, const char *name) {
    return side.isScaled ? llvm::formatv(" scale %v{0}", name).str() : std::string();
  };
  auto scaleType = [&](const Side &side, int64_t rows) {
    return side.isScaled ? ", " + tileType(rows, groups, "i8") : std::string();
  };
  auto floatOf = [](const Side &side) {
    return side.format == "e4m3"   ? "f8E4M3FN"
           : side.format == "e5m2" ? "f8E5M2"
           : side.format == "fp16" ? "f16"
           : side.format == "bf16" ? "bf16"
                                   : "i8";
  };
  auto asFloat = [&](const Side &side, const char *name, int64_t rows, int64_t columns) {
    if (side.format == "e2m1")
      return llvm::formatv("  %f{0} = arith.bitcast %v{0} : {1} to {1}\n", name, tileType(rows, columns, "i8")).str();
    return llvm::formatv("  %f{0} = tt.bitcast %v{0} : {1} -> {2}\n", name, tileType(rows, columns, side.element),
                         tileType(rows, columns, floatOf(side)))
        .str();
  };
  const int64_t count = shape.m * shape.n;
  const std::string result = tileType(shape.m, shape.n, "f32");
  std::string text =
      llvm::formatv("tt.func public @kernel(%x: !tt.ptr<{0}>, %s: !tt.ptr<i8>, %y: !tt.ptr<{1}>, %t: !tt.ptr<i8>, "
                    "%o: !tt.ptr<f32>) {{{2}{3}{4}{5}{6}{7}  %c = arith.constant dense<1.0> : {8}\n",
                    a.element, b.element, loaded("x", aRows, aColumns, a.element), loaded("s", shape.m, groups, "i8"),
                    loaded("y", bRows, bColumns, b.element), loaded("t", shape.n, groups, "i8"),
                    asFloat(a, "x", aRows, aColumns), asFloat(b, "y", bRows, bColumns), result)
          .str();
  text += llvm::formatv("  %r = tt.dot_scaled %fx{0}, %fy{1}, %c lhs = {2} rhs = {3} {{fastMath = false, lhs_k_pack = "
                        "{4}, rhs_k_pack = {5}} : {6}{7} * {8}{9} -> {10}\n",
                        scaled(a, "s"), scaled(b, "t"), a.format, b.format, a.isKPacked ? "true" : "false",
                        b.isKPacked ? "true" : "false", tileType(aRows, aColumns, floatOf(a)), scaleType(a, shape.m),
                        tileType(bRows, bColumns, floatOf(b)), scaleType(b, shape.n), result)
              .str();
  text += replaced(
              replaced(replaced(replaced(storeFlat, "RESULT", result), "COUNT", std::to_string(count)), "xU>", "xf32>"),
              "ptr<U>", "ptr<f32>") +
          "  tt.return\n}";
  expectSameAsCpu({.text = text,
                   .parameters = {Buffer::of(codesOf(a, aRows * aColumns * bytesOf(a), 1)),
                                  Buffer::of(scaleCodes(shape.m * groups, 2)),
                                  Buffer::of(codesOf(b, bRows * bColumns * bytesOf(b), 3)),
                                  Buffer::of(scaleCodes(shape.n * groups, 4)), Buffer::zeros(count * 4)},
                   .warps = {1, 4}});
}

const Side sides[] = {{"e2m1", "i8"}, {"e4m3", "i8"}, {"e5m2", "i8"}, {"bf16", "i16"}, {"fp16", "i16"}};

TEST(DotScaled, EveryPairOfFormats) {
  for (const Side &a : sides)
    for (const Side &b : sides)
      expectScaled({}, a, b);
}

TEST(DotScaled, WithoutScales) {
  expectScaled({}, {"e2m1", "i8", false}, {"e4m3", "i8"});
  expectScaled({}, {"e4m3", "i8"}, {"bf16", "i16", false});
  expectScaled({}, {"e2m1", "i8", false}, {"fp16", "i16", false});
}

TEST(DotScaled, PackedAlongOtherDimensions) {
  expectScaled({32, 16, 64}, {"e2m1", "i8", true, false}, {"e2m1", "i8"});
  expectScaled({16, 32, 32}, {"e2m1", "i8"}, {"e2m1", "i8", true, false});
  expectScaled({32, 8, 128}, {"e2m1", "i8", true, false}, {"e2m1", "i8", true, false});
}

} // namespace
} // namespace nereid::simt
