// Tests the ranges of integers: one expectation for each source of them.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/index/AxisInfo.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::index;

namespace {
constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kGreatest = std::numeric_limits<int32_t>::max();

/// The ranges of the results of a body's ops that have the attribute `wanted`, in order.
std::vector<IntegerRange> rangesOf(const std::string &body) {
  MLIRContext context;
  context.loadDialect<tt::TtDialect, arith::ArithDialect, scf::SCFDialect, imported::LlvmDialect>();
  auto module = parseSourceString<ModuleOp>(
      "tt.func public @f(%n: i32, %m: i32, %wide: i64, %ptr: !tt.ptr<f32>) {\n" + body + "\n tt.return }", &context);
  if (!module)
    return {};
  auto function = *module->getOps<tt::FuncOp>().begin();
  const AxisInfoAnalysis axes(function);
  std::vector<IntegerRange> ranges;
  function.walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (attribute.getName() == "wanted")
        ranges.push_back(axes.of(op->getResult(0)).range);
  });
  return ranges;
}
} // namespace

TEST(IntegerRanges, of_programs_and_indices) {
  const auto ranges = rangesOf(R"(
    %p = tt.get_program_id x {wanted} : i32
    %i = tt.make_range {start = 4 : i32, end = 36 : i32, wanted} : tensor<32xi32>
    %c = arith.constant {wanted} dense<[1, -7, 3, 9]> : tensor<4xi32>
    %s = tt.splat %p : i32 -> tensor<32xi32>
    %sum = arith.addi %s, %i {wanted} : tensor<32xi32>
    %w = arith.extsi %p : i32 to i64
    %c8 = arith.constant 8 : i64
    %scaled = arith.muli %w, %c8 {wanted} : i64
    %u = arith.extui %n {wanted} : i32 to i64
    %t = arith.trunci %wide {wanted} : i64 to i32)");
  const std::vector<IntegerRange> wanted = {{0, kGreatest - 1},       {4, 35},         {-7, 9},
                                            {kLeast, kGreatest}, // it may wrap around
                                            {0, 8 * (kGreatest - 1)}, {0, 4294967295}, {kLeast, kGreatest}};
  EXPECT_EQ(ranges, wanted);
}

TEST(IntegerRanges, of_offsets) {
  const auto ranges = rangesOf(R"(
    %p = tt.get_program_id x : i32
    %c7 = arith.constant dense<7> : tensor<32xi32>
    %s = tt.splat %p : i32 -> tensor<32xi32>
    %i = tt.make_range {start = 4 : i32, end = 36 : i32} : tensor<32xi32>
    %pointers = tt.splat %ptr : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
    %sum = arith.addi %s, %i {wanted} : tensor<32xi32>
    %near = tt.addptr %pointers, %sum : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %other = arith.addi %s, %i {wanted} : tensor<32xi32>
    %rest = arith.remsi %other, %c7 {wanted} : tensor<32xi32>
    %far = tt.addptr %pointers, %rest : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
    %factor = arith.constant dense<1664525> : tensor<32xi32>
    %hash = arith.muli %s, %factor {wanted} : tensor<32xi32>
    %place = arith.remsi %hash, %c7 {wanted} : tensor<32xi32>
    %any = tt.addptr %pointers, %place : tensor<32x!tt.ptr<f32>>, tensor<32xi32>)");
  const std::vector<IntegerRange> wanted = {{4, kGreatest}, {4, kGreatest}, {0, 6}, {kLeast, kGreatest}, {-6, 6}};
  EXPECT_EQ(ranges, wanted);
}

TEST(IntegerRanges, of_quotients_and_bits) {
  const auto ranges = rangesOf(R"(
    %p = tt.get_program_id x : i32
    %c7 = arith.constant 7 : i32
    %c3 = arith.constant 3 : i32
    %minus = arith.constant -7 : i32
    %a = arith.remsi %p, %c7 {wanted} : i32
    %b = arith.remsi %n, %c7 {wanted} : i32
    %c = arith.divsi %p, %n {wanted} : i32
    %d = arith.divsi %minus, %c3 {wanted} : i32
    %e = arith.andi %n, %c7 {wanted} : i32
    %f = arith.ori %a, %c3 {wanted} : i32
    %g = arith.shrsi %minus, %c3 {wanted} : i32
    %h = arith.shli %a, %c3 {wanted} : i32
    %i = arith.minsi %n, %c7 {wanted} : i32
    %j = arith.maxsi %n, %c7 {wanted} : i32
    %k = arith.remsi %p, %n {wanted} : i32)");
  const std::vector<IntegerRange> wanted = {{0, 6},
                                            {-6, 6},
                                            {1 - kGreatest, kGreatest - 1},
                                            {-2, -2},
                                            {0, 7},
                                            {3, 7}, // no less than either
                                            {-1, -1},
                                            {0, 48},
                                            {kLeast, 7},
                                            {7, kGreatest},
                                            {0, kGreatest - 1}};
  EXPECT_EQ(ranges, wanted);
}

TEST(IntegerRanges, of_loops_and_branches) {
  const auto ranges = rangesOf(R"(
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %c100 = arith.constant 100 : i32
    %minus = arith.constant -4 : i32
    %up, %down = scf.for %i = %c0 to %c100 step %c4 iter_args(%x = %c0, %y = %c0) -> (i32, i32) : i32 {
      %same = arith.addi %i, %c0 {wanted} : i32
      %more = arith.addi %x, %c4 {wanted} : i32
      %less = arith.addi %y, %minus {wanted} : i32
      scf.yield %more, %less : i32, i32
    }
    %is = arith.cmpi slt, %n, %c0 : i32
    %one = scf.if %is -> (i32) {
      scf.yield %c4 : i32
    } else {
      scf.yield %c100 : i32
    }
    %either = arith.addi %one, %c0 {wanted} : i32)");
  const std::vector<IntegerRange> wanted = {{0, 99}, {kLeast, kGreatest}, {kLeast, kGreatest}, {4, 100}};
  EXPECT_EQ(ranges, wanted);
}

TEST(IntegerRanges, of_assumptions) {
  const auto ranges = rangesOf(R"(
    %c0 = arith.constant 0 : i32
    %c100 = arith.constant 100 : i32
    %a = arith.cmpi sgt, %n, %c0 : i32
    %b = arith.cmpi sle, %n, %c100 : i32
    %ab = arith.andi %a, %b : i1
    llvm.intr.assume %ab : i1
    %x = arith.addi %n, %c0 {wanted} : i32
    scf.if %a {
      %c = arith.cmpi slt, %m, %c100 : i32
      llvm.intr.assume %c : i1
    }
    %y = arith.addi %m, %c0 {wanted} : i32)");
  const std::vector<IntegerRange> wanted = {{1, 100}, {kLeast, kGreatest}}; // a branch assumes nothing for others
  EXPECT_EQ(ranges, wanted);
}
