// Tests atomic accesses by executing the lowered code: each element is accessed once, all copies get the result.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

/// Combines SIZE elements at x + i / SHARE with those of v, where i < n; writes the previous values, plus 1 where
/// masked.
const std::string tileText = R"(
tt.func public @kernel(%x: !tt.ptr<T> {tt.divisibility = 16 : i32}, %v: !tt.ptr<T>, %o: !tt.ptr<T>, %n: i32) {
  %i = tt.make_range {end = SIZE : i32, start = 0 : i32} : tensor<SIZExi32>
  %ns = tt.splat %n : i32 -> tensor<SIZExi32>
  %m = arith.cmpi slt, %i, %ns : tensor<SIZExi32>
  %xs = tt.splat %x : !tt.ptr<T> -> tensor<SIZEx!tt.ptr<T>>
  %xp = tt.addptr %xs, %i : tensor<SIZEx!tt.ptr<T>>, tensor<SIZExi32>
  %vs = tt.splat %v : !tt.ptr<T> -> tensor<SIZEx!tt.ptr<T>>
  %vp = tt.addptr %vs, %i : tensor<SIZEx!tt.ptr<T>>, tensor<SIZExi32>
  %value = tt.load %vp : tensor<SIZEx!tt.ptr<T>>
  %old = tt.atomic_rmw OP, SEM, %xp, %value, %m : (tensor<SIZEx!tt.ptr<T>>, tensor<SIZExT>, tensor<SIZExi1>) -> tensor<SIZExT>
  %os = tt.splat %o : !tt.ptr<T> -> tensor<SIZEx!tt.ptr<T>>
  %op = tt.addptr %os, %i : tensor<SIZEx!tt.ptr<T>>, tensor<SIZExi32>
  tt.store %op, %old, %m : tensor<SIZEx!tt.ptr<T>>
  tt.return
})";

void expectCombined(const std::string &type, const std::string &op, unsigned bytes, int size, int masked,
                    const std::string &semantic = "acq_rel, gpu") {
  std::string text = replaced(replaced(tileText, "SIZE", std::to_string(size)), "OP", op);
  // Small f16 numbers, whose sums are exact.
  std::vector<uint16_t> halves(size_t(size) * bytes / 2);
  for (size_t i = 0; i < halves.size(); ++i)
    halves[i] = type == "f16" ? 0x4800 + 16 * (i % 8) : type == "bf16" ? 0x4100 + i % 8 : 2 * i + 1;
  expectSameAsCpu({.text = replaced(replaced(text, "SEM", semantic), "T", type),
                   .parameters = {Buffer::of(halves), Buffer::of(halves), Buffer::zeros(size_t(size) * bytes),
                                  int32_t(size - masked)}});
}

TEST(LoweringAtomic, EveryOperationOnIntegers) {
  for (const char *op : {"add", "max", "min", "umax", "umin", "and", "or", "xor", "exch"}) {
    expectCombined("i32", op, 4, 128, 3);
    expectCombined("i64", op, 8, 128, 3);
  }
}

TEST(LoweringAtomic, SumsOfFloatsOfEveryWidth) {
  for (int size : {1, 2, 64, 512}) {
    expectCombined("f16", "fadd", 2, size, 0);
    expectCombined("bf16", "fadd", 2, size, 0);
  }
  for (int size : {1, 16, 256}) {
    expectCombined("f32", "fadd", 4, size, 1);
    expectCombined("f64", "fadd", 8, size, 1);
  }
}

TEST(LoweringAtomic, EverySemanticAndScope) {
  for (const char *semantic : {"relaxed, cta", "acquire, gpu", "release, sys", "acq_rel, sys"})
    expectCombined("i32", "add", 4, 32, 0, semantic);
}

TEST(LoweringAtomic, CopiesOfAnElementAreAddedOnce) {
  // All lanes and warps that share a row of the tile hold the column; each gets the result of the one access.
  const std::string text = R"(
tt.func public @kernel(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %one = arith.constant dense<1> : tensor<8x1xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x1x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %i1 : tensor<8x1x!tt.ptr<i32>>, tensor<8x1xi32>
  %old = tt.atomic_rmw add, relaxed, gpu, %xp, %one : (tensor<8x1x!tt.ptr<i32>>, tensor<8x1xi32>) -> tensor<8x1xi32>
  %wide = tt.broadcast %old : tensor<8x1xi32> -> tensor<8x64xi32>
  %cols = arith.constant dense<64> : tensor<8x1xi32>
  %row = arith.muli %i1, %cols : tensor<8x1xi32>
  %rows = tt.broadcast %row : tensor<8x1xi32> -> tensor<8x64xi32>
  %columns = tt.broadcast %j1 : tensor<1x64xi32> -> tensor<8x64xi32>
  %offs = arith.addi %rows, %columns : tensor<8x64xi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<8x64x!tt.ptr<i32>>
  %op = tt.addptr %os, %offs : tensor<8x64x!tt.ptr<i32>>, tensor<8x64xi32>
  tt.store %op, %wide : tensor<8x64x!tt.ptr<i32>>
  tt.return
})";
  expectSameAsCpu(
      {.text = text,
       .parameters = {Buffer::of(std::vector<int32_t>{5, 1, 4, 1, 5, 9, 2, 6}), Buffer::zeros(8 * 64 * 4)}});
}

TEST(LoweringAtomic, ScalarsByOneThreadForAll) {
  const std::string text = R"(
tt.func public @kernel(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>, %w: !tt.ptr<i64>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %true = arith.constant true
  %w1 = arith.constant 1099511627776 : i64
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %op = tt.addptr %os, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  scf.for %k = %c0 to %c5 step %c1 : i32 {
    %old = tt.atomic_rmw add, acq_rel, gpu, %x, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    %wide = tt.atomic_rmw add, acq_rel, gpu, %w, %w1 : (!tt.ptr<i64>, i64) -> i64
    %seen = tt.atomic_cas acq_rel, sys, %x, %old, %c5 : (!tt.ptr<i32>, i32, i32) -> i32
    %low = arith.trunci %wide : i64 to i32
    %both = arith.addi %old, %low : i32
    %sum = arith.addi %both, %seen : i32
    %s = tt.splat %sum : i32 -> tensor<64xi32>
    %before = tt.load %op : tensor<64x!tt.ptr<i32>>
    %after = arith.addi %before, %s : tensor<64xi32>
    tt.store %op, %after : tensor<64x!tt.ptr<i32>>
  }
  tt.return
})";
  expectSameAsCpu(
      {.text = text,
       .parameters = {Buffer::of(std::vector<int32_t>{3}), Buffer::zeros(256), Buffer::of(std::vector<int64_t>{7})}});
}

TEST(LoweringAtomic, SwapsOfEveryWidth) {
  for (auto [type, bytes] : {std::pair("i16", 2), {"i32", 4}, {"i64", 8}, {"f32", 4}}) {
    const std::string text = replaced(R"(
tt.func public @kernel(%x: !tt.ptr<T>, %c: !tt.ptr<T>, %o: !tt.ptr<T>) {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %xs = tt.splat %x : !tt.ptr<T> -> tensor<32x!tt.ptr<T>>
  %xp = tt.addptr %xs, %i : tensor<32x!tt.ptr<T>>, tensor<32xi32>
  %cs = tt.splat %c : !tt.ptr<T> -> tensor<32x!tt.ptr<T>>
  %cp = tt.addptr %cs, %i : tensor<32x!tt.ptr<T>>, tensor<32xi32>
  %cmp = tt.load %cp : tensor<32x!tt.ptr<T>>
  %os = tt.splat %o : !tt.ptr<T> -> tensor<32x!tt.ptr<T>>
  %op = tt.addptr %os, %i : tensor<32x!tt.ptr<T>>, tensor<32xi32>
  %value = tt.load %op : tensor<32x!tt.ptr<T>>
  %old = tt.atomic_cas acq_rel, gpu, %xp, %cmp, %value : (tensor<32x!tt.ptr<T>>, tensor<32xT>, tensor<32xT>) -> tensor<32xT>
  tt.store %op, %old : tensor<32x!tt.ptr<T>>
  tt.return
})",
                                      "T", type);
    std::vector<char> memory(32 * size_t(bytes)), compared(memory.size());
    for (size_t i = 0; i < memory.size(); ++i) {
      memory[i] = static_cast<char>(i);
      compared[i] = static_cast<char>(i / bytes % 3 ? i : i + 1); // two of three are equal
    }
    expectSameAsCpu(
        {.text = text, .parameters = {Buffer::of(memory), Buffer::of(compared), Buffer::zeros(memory.size())}});
  }
}

TEST(LoweringAtomic, WritesAreReleasedBehindABarrier) {
  const std::string text = R"(
tt.func public @kernel(%x: !tt.ptr<f32>, %f: !tt.ptr<i32>) {
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %one = arith.constant dense<1.0> : tensor<512xf32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  STORE
  %old = tt.atomic_rmw add, SEM, gpu, %f, %c1 : (!tt.ptr<i32>, i32) -> i32
  LOAD
  tt.return
})";
  const std::string store = "tt.store %xp, %one : tensor<512x!tt.ptr<f32>>";
  const std::string load = "%y = tt.load %xp : tensor<512x!tt.ptr<f32>>\n  tt.store %xp, %y : tensor<512x!tt.ptr<f32>>";
  auto barriers = [&](const std::string &semantic, const std::string &before, const std::string &after) {
    std::string error;
    auto kernel = SimtKernel::compile(
        replaced(replaced(replaced(text, "SEM", semantic), "STORE", before), "LOAD", after), 4, &error);
    EXPECT_TRUE(kernel) << error;
    return kernel ? kernel->barriers() : 0;
  };
  EXPECT_EQ(barriers("relaxed", store, load), 0u);
  EXPECT_EQ(barriers("release", store, load), 1u);
  EXPECT_EQ(barriers("release", "", load), 0u);
  EXPECT_EQ(barriers("acquire", store, load), 1u);
  EXPECT_EQ(barriers("acquire", store, ""), 0u);
  EXPECT_EQ(barriers("acq_rel", store, load), 2u);
}

} // namespace
} // namespace nereid::simt
