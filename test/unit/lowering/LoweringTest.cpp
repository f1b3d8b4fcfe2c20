// Tests the lowering of tiles by executing the code: memory, layouts, control flow.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

TEST(Lowering, MaskedAdditionOfSeveralPrograms) {
  const std::string text = R"(
tt.func public @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                       %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = DIV : i32}) {
  %c = arith.constant 256 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c : i32
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %s = tt.splat %start : i32 -> tensor<256xi32>
  %offs = arith.addi %s, %r : tensor<256xi32>
  %ns = tt.splat %n : i32 -> tensor<256xi32>
  %m = arith.cmpi slt, %offs, %ns : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %offs : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %a = tt.load %xp, %m : tensor<256x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %offs : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %b = tt.load %yp, %m : tensor<256x!tt.ptr<f32>>
  %sum = arith.addf %a, %b : tensor<256xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %op = tt.addptr %os, %offs : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %op, %sum, %m : tensor<256x!tt.ptr<f32>>
  tt.return
})";
  for (int32_t count : {1000, 1008})
    expectSameAsCpu({.text = replaced(text, "DIV", count % 16 ? "1" : "16"),
                     .parameters = {Buffer::of(someNumbers<float>(count)), Buffer::of(someNumbers<float>(count, 2)),
                                    Buffer::zeros(count * 4), count},
                     .grid = {4, 1, 1}});
}

/// Copies 2 rows of 64 elements, every third masked off and replaced by `other`.
const std::string plainCopyText = R"(
tt.func public @kernel(%x: !tt.ptr<T> {tt.divisibility = 16 : i32}, %o: !tt.ptr<T> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<T> -> tensor<128x!tt.ptr<T>>
  %xp = tt.addptr %xs, %r : tensor<128x!tt.ptr<T>>, tensor<128xi32>
  %c3 = arith.constant dense<3> : tensor<128xi32>
  %c0 = arith.constant dense<0> : tensor<128xi32>
  %mod = arith.remsi %r, %c3 : tensor<128xi32>
  %m = arith.cmpi ne, %mod, %c0 : tensor<128xi32>
  %other = arith.constant dense<OTHER> : tensor<128xT>
  %a = tt.load %xp : tensor<128x!tt.ptr<T>>
  %b = tt.load %xp, %m, %other : tensor<128x!tt.ptr<T>>
  %c = tt.load %xp, %m : tensor<128x!tt.ptr<T>>
  %os = tt.splat %o : !tt.ptr<T> -> tensor<128x!tt.ptr<T>>
  %op = tt.addptr %os, %r : tensor<128x!tt.ptr<T>>, tensor<128xi32>
  tt.store %op, %a : tensor<128x!tt.ptr<T>>
  %c128 = arith.constant dense<128> : tensor<128xi32>
  %op2 = tt.addptr %op, %c128 : tensor<128x!tt.ptr<T>>, tensor<128xi32>
  tt.store %op2, %b : tensor<128x!tt.ptr<T>>
  %op3 = tt.addptr %op2, %c128 : tensor<128x!tt.ptr<T>>, tensor<128xi32>
  tt.store %op3, %c : tensor<128x!tt.ptr<T>>
  %op4 = tt.addptr %op3, %c128 : tensor<128x!tt.ptr<T>>, tensor<128xi32>
  tt.store %op4, %a, %m : tensor<128x!tt.ptr<T>>
  tt.return
})";

TEST(Lowering, EveryElementTypeIsLoadedAndStored) {
  const std::pair<const char *, size_t> types[] = {{"i8", 1},  {"i16", 2},  {"i32", 4}, {"i64", 8},
                                                   {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}};
  for (auto [type, bytes] : types) {
    const bool isFloat = std::string(type).find('f') != std::string::npos;
    expectSameAsCpu({.text = replaced(replaced(plainCopyText, "OTHER", isFloat ? "2.0" : "7"), "T", type),
                     .parameters = {Buffer::of(someNumbers<uint8_t>(128 * bytes)), Buffer::zeros(512 * bytes)}});
  }
}

/// Copies a tile of ROWS x COLS, transposed.
const std::string transposeText = R"(
tt.func public @kernel(%x: !tt.ptr<T> {tt.divisibility = 16 : i32}, %o: !tt.ptr<T> {tt.divisibility = 16 : i32}) {
)" + loadTile + R"(  %t = tt.trans %a {order = array<i32: 1, 0>} : tensor<ROWSxCOLSxT> -> tensor<COLSxROWSxT>
  %j2 = tt.expand_dims %j {axis = 1 : i32} : tensor<COLSxi32> -> tensor<COLSx1xi32>
  %i2 = tt.expand_dims %i {axis = 0 : i32} : tensor<ROWSxi32> -> tensor<1xROWSxi32>
  %rowc = arith.constant dense<ROWS> : tensor<COLSx1xi32>
  %row2 = arith.muli %j2, %rowc : tensor<COLSx1xi32>
  %rows2 = tt.broadcast %row2 : tensor<COLSx1xi32> -> tensor<COLSxROWSxi32>
  %columns2 = tt.broadcast %i2 : tensor<1xROWSxi32> -> tensor<COLSxROWSxi32>
  %offs2 = arith.addi %rows2, %columns2 : tensor<COLSxROWSxi32>
  %os = tt.splat %o : !tt.ptr<T> -> tensor<COLSxROWSx!tt.ptr<T>>
  %op = tt.addptr %os, %offs2 : tensor<COLSxROWSx!tt.ptr<T>>, tensor<COLSxROWSxi32>
  tt.store %op, %t : tensor<COLSxROWSx!tt.ptr<T>>
  tt.return
})";

TEST(Lowering, TransposedTilesChangeTheirLayout) {
  for (auto [type, bytes] : {std::pair("i8", 1), {"f16", 2}, {"f32", 4}, {"i64", 8}})
    for (auto [rows, cols] : {std::pair(16, 64), {64, 16}, {32, 32}, {128, 2}, {4, 8}}) {
      std::string text = replaced(replaced(transposeText, "ROWS", std::to_string(rows)), "COLS", std::to_string(cols));
      const size_t size = size_t(rows) * cols * bytes;
      expectSameAsCpu({.text = replaced(text, "T", type),
                       .parameters = {Buffer::of(someNumbers<uint8_t>(size)), Buffer::zeros(size)}});
    }
}

TEST(Lowering, ShapesKeepElementsInOrder) {
  expectSameAsCpu({.text = R"(
tt.func public @kernel(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %r = tt.make_range {end = 320 : i32, start = 64 : i32} : tensor<256xi32>
  %a = tt.reshape %r : tensor<256xi32> -> tensor<4x8x8xi32>
  %b = tt.trans %a {order = array<i32: 2, 0, 1>} : tensor<4x8x8xi32> -> tensor<8x4x8xi32>
  %c = tt.reshape %b : tensor<8x4x8xi32> -> tensor<256xi32>
  %first = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %op = tt.addptr %os, %first : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  tt.store %op, %c : tensor<256x!tt.ptr<i32>>
  %one = tt.make_range {end = 6 : i32, start = 5 : i32} : tensor<1xi32>
  %s = tt.unsplat %one : tensor<1xi32>
  %c300 = arith.constant 300 : i32
  %p = tt.addptr %o, %c300 : !tt.ptr<i32>, i32
  tt.store %p, %s : !tt.ptr<i32>
  tt.return
})",
                   .parameters = {Buffer::zeros(4), Buffer::zeros(1300)}});
}

TEST(Lowering, CarriedTilesAndPointersGoRoundTheLoop) {
  expectSameAsCpu({.text = R"(
tt.func public @kernel(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %r : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  %zero = arith.constant dense<0> : tensor<512xi32>
  %step = arith.constant dense<512> : tensor<512xi32>
  %two = arith.constant dense<2> : tensor<512xi32>
  %res:4 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %xp, %last = %zero, %idx = %r)
      -> (tensor<512xi32>, tensor<512x!tt.ptr<i32>>, tensor<512xi32>, tensor<512xi32>) : i32 {
    %v = tt.load %p : tensor<512x!tt.ptr<i32>>
    %d = arith.muli %acc, %two : tensor<512xi32>
    %sum = arith.addi %d, %v : tensor<512xi32>
    %is = tt.splat %i : i32 -> tensor<512xi32>
    %sum2 = arith.addi %sum, %is : tensor<512xi32>
    %next = tt.addptr %p, %step : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
    %nidx = arith.addi %idx, %step : tensor<512xi32>
    scf.yield %sum2, %next, %v, %nidx : tensor<512xi32>, tensor<512x!tt.ptr<i32>>, tensor<512xi32>, tensor<512xi32>
  }
  %all = arith.addi %res#0, %res#2 : tensor<512xi32>
  %all2 = arith.xori %all, %res#3 : tensor<512xi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %op = tt.addptr %os, %r : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  tt.store %op, %all2 : tensor<512x!tt.ptr<i32>>
  tt.return
})",
                   .parameters = {Buffer::of(someNumbers<int32_t>(512 * 5)), Buffer::zeros(2048), 5}});
}

TEST(Lowering, BranchesAndWhileLoopsHandTilesOver) {
  const std::string text = R"(
tt.func public @kernel(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %ones = arith.constant dense<1> : tensor<64xi32>
  %w:2 = scf.while (%k = %n, %t = %r) : (i32, tensor<64xi32>) -> (i32, tensor<64xi32>) {
    %go = arith.cmpi sgt, %k, %c0 : i32
    scf.condition(%go) %k, %t : i32, tensor<64xi32>
  } do {
  ^bb0(%k: i32, %t: tensor<64xi32>):
    %less = arith.subi %k, %c1 : i32
    %odd = arith.andi %k, %c1 : i32
    %isOdd = arith.cmpi eq, %odd, %c1 : i32
    %u = scf.if %isOdd -> (tensor<64xi32>) {
      %ks = tt.splat %k : i32 -> tensor<64xi32>
      %a = arith.addi %t, %ks : tensor<64xi32>
      scf.yield %a : tensor<64xi32>
    } else {
      %a = arith.shli %t, %ones : tensor<64xi32>
      scf.yield %a : tensor<64xi32>
    }
    scf.yield %less, %u : i32, tensor<64xi32>
  }
  %index = arith.index_cast %n : i32 to index
  %sel = scf.index_switch %index -> tensor<64xi32>
  case 4 {
    %a = arith.addi %w#1, %ones : tensor<64xi32>
    scf.yield %a : tensor<64xi32>
  }
  case 7 {
    %a = arith.muli %w#1, %w#1 : tensor<64xi32>
    scf.yield %a : tensor<64xi32>
  }
  default {
    scf.yield %w#1 : tensor<64xi32>
  }
  %isBig = arith.cmpi sgt, %n, %c3 : i32
  scf.if %isBig {
    tt.store %x, %n : !tt.ptr<i32>
  }
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %op = tt.addptr %os, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %op, %sel : tensor<64x!tt.ptr<i32>>
  tt.return
})";
  for (int32_t count : {0, 3, 4, 7})
    expectSameAsCpu({.text = text, .parameters = {Buffer::zeros(4), Buffer::zeros(256), count}, .warps = {1, 4}});
}

TEST(Lowering, NumbersThatStartAsConstantsWrapInLaterIterations) {
  expectSameAsCpu({.text = R"(
tt.func public @kernel(%o: !tt.ptr<i64> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1> : tensor<128xi32>
  %factor = arith.constant dense<1103515245> : tensor<128xi32>
  %add = arith.constant dense<1013904223> : tensor<128xi32>
  %zero = arith.constant dense<0> : tensor<128xi64>
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %all:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %one, %sum = %zero) -> (tensor<128xi32>, tensor<128xi64>) : i32 {
    %p = arith.muli %x, %factor : tensor<128xi32>
    %y = arith.addi %p, %add : tensor<128xi32>
    %w = arith.extsi %y : tensor<128xi32> to tensor<128xi64>
    %t = arith.addi %sum, %w : tensor<128xi64>
    scf.yield %y, %t : tensor<128xi32>, tensor<128xi64>
  }
  %os = tt.splat %o : !tt.ptr<i64> -> tensor<128x!tt.ptr<i64>>
  %op = tt.addptr %os, %r : tensor<128x!tt.ptr<i64>>, tensor<128xi32>
  tt.store %op, %all#1 : tensor<128x!tt.ptr<i64>>
  tt.return
})",
                   .parameters = {Buffer::zeros(1024), 20},
                   .warps = {1, 4}});
}

TEST(Lowering, QuotientsOfIndicesThatWrapDoNotRepeat) {
  expectSameAsCpu({.text = R"(
tt.func public @kernel(%o: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %pid = tt.get_program_id x : i32
  %big = arith.constant 507459888 : i32
  %c512 = arith.constant 512 : i32
  %sixteen = arith.constant dense<16> : tensor<512xi32>
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %base = arith.muli %pid, %big : i32
  %bases = tt.splat %base : i32 -> tensor<512xi32>
  %i = arith.addi %bases, %r : tensor<512xi32>
  %q = arith.divsi %i, %sixteen : tensor<512xi32>
  %start = arith.muli %pid, %c512 : i32
  %starts = tt.splat %start : i32 -> tensor<512xi32>
  %offs = arith.addi %starts, %r : tensor<512xi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %op = tt.addptr %os, %offs : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  tt.store %op, %q : tensor<512x!tt.ptr<i32>>
  tt.return
})",
                   .parameters = {Buffer::zeros(512 * 4 * 10)},
                   .grid = {10, 1, 1},
                   .warps = {1, 4}});
}

TEST(Lowering, CallsThatReduceWaitForEachOther) {
  expectSameAsCpu({.text = R"(
tt.func private @inner(%p: !tt.ptr<i32>) -> i32 attributes {noinline = true} {
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %a = tt.addptr %ps, %r : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %x = tt.load %a : tensor<128x!tt.ptr<i32>>
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%l: i32, %m: i32):
    %t = arith.addi %l, %m : i32
    tt.reduce.return %t : i32
  }) : (tensor<128xi32>) -> i32
  tt.return %s : i32
}
tt.func private @outer(%p: !tt.ptr<i32>) -> i32 attributes {noinline = true} {
  %s = tt.call @inner(%p) : (!tt.ptr<i32>) -> i32
  tt.return %s : i32
}
tt.func public @kernel(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %c128 = arith.constant 128 : i32
  %c1 = arith.constant 1 : i32
  %y = tt.addptr %x, %c128 : !tt.ptr<i32>, i32
  %a = tt.call @outer(%x) : (!tt.ptr<i32>) -> i32
  %b = tt.call @outer(%y) : (!tt.ptr<i32>) -> i32
  tt.store %o, %a : !tt.ptr<i32>
  %p = tt.addptr %o, %c1 : !tt.ptr<i32>, i32
  tt.store %p, %b : !tt.ptr<i32>
  tt.return
})",
                   .parameters = {Buffer::of(someNumbers<int32_t>(256)), Buffer::zeros(8)},
                   .warps = {4, 8}});
}

TEST(Lowering, CallsOfFunctionsThatStayApart) {
  expectSameAsCpu({.text = R"(
tt.func private @helper(%a: i32, %b: f32) -> (i32, f32) attributes {noinline = true} {
  %c = arith.constant 3 : i32
  %s = arith.muli %a, %c : i32
  %f = arith.addf %b, %b : f32
  tt.return %s, %f : i32, f32
}
tt.func private @one(%p: !tt.ptr<i32>, %flag: i1) -> i32 attributes {noinline = true} {
  %v = tt.load %p, %flag : !tt.ptr<i32>
  tt.return %v : i32
}
tt.func public @kernel(%x: !tt.ptr<i32>, %o: !tt.ptr<f32>, %b: f32) {
  %pid = tt.get_program_id y : i32
  %num = tt.get_num_programs y : i32
  %p = tt.addptr %x, %pid : !tt.ptr<i32>, i32
  %c1 = arith.constant 1 : i32
  %flag = arith.cmpi ne, %pid, %c1 : i32
  %v = tt.call @one(%p, %flag) : (!tt.ptr<i32>, i1) -> i32
  %r:2 = tt.call @helper(%v, %b) : (i32, f32) -> (i32, f32)
  %sum = arith.addi %r#0, %num : i32
  %f = arith.sitofp %sum : i32 to f32
  %g = arith.addf %f, %r#1 : f32
  %q = tt.addptr %o, %pid : !tt.ptr<f32>, i32
  tt.store %q, %g : !tt.ptr<f32>
  tt.return
})",
                   .parameters = {Buffer::of(std::vector<int32_t>{5, 6, 7}), Buffer::zeros(12), 1.5f},
                   .grid = {1, 3, 1},
                   .warps = {1, 4}});
}

TEST(Lowering, AddressesComeFromMemory) {
  expectSameAsCpu({.text = R"(
tt.func public @kernel(%x: !tt.ptr<i32>, %index: !tt.ptr<i64>, %o: !tt.ptr<i32>) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %is = tt.splat %index : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
  %ip = tt.addptr %is, %r : tensor<64x!tt.ptr<i64>>, tensor<64xi32>
  %i = tt.load %ip : tensor<64x!tt.ptr<i64>>
  %four = arith.constant dense<4> : tensor<64xi64>
  %bytes = arith.muli %i, %four : tensor<64xi64>
  %base = tt.ptr_to_int %x : !tt.ptr<i32> -> i64
  %bases = tt.splat %base : i64 -> tensor<64xi64>
  %address = arith.addi %bases, %bytes : tensor<64xi64>
  %p = tt.int_to_ptr %address : tensor<64xi64> -> tensor<64x!tt.ptr<i32>>
  %v = tt.load %p cacheModifier = cg evictionPolicy = evict_last {isVolatile = true} : tensor<64x!tt.ptr<i32>>
  %wide = arith.extsi %r : tensor<64xi32> to tensor<64xi64>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %op = tt.addptr %os, %wide : tensor<64x!tt.ptr<i32>>, tensor<64xi64>
  tt.store %op, %v : tensor<64x!tt.ptr<i32>>
  tt.return
})",
                   .parameters = {Buffer::of(someNumbers<int32_t>(64)), Buffer::of([] {
                                    std::vector<int64_t> index(64);
                                    for (int64_t i = 0; i < 64; ++i)
                                      index[i] = (i * 37 + 11) % 64;
                                    return index;
                                  }()),
                                  Buffer::zeros(256)},
                   .warps = {1, 2, 8}});
}

TEST(Lowering, MissingFormsAreDiagnosed) {
  std::string error;
  EXPECT_FALSE(SimtKernel::compile(R"(
tt.func public @kernel(%o: !tt.ptr<f32>, %a: f32) {
  %t = math.tan %a : f32
  tt.store %o, %t : !tt.ptr<f32>
  tt.return
})",
                                   4, &error));
  EXPECT_EQ(error, "`tan` of fp32 is not supported on this target\n");
}

} // namespace
} // namespace nereid::simt
