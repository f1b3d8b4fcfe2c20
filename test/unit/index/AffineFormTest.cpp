// Tests affine forms, prefixes and growth: how each is written in scalars, and where there is none.
// SPDX-License-Identifier: MIT
#include "compiler/index/AffineForm.h"
#include "compiler/index/Growth.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::index;

namespace {
/// A kernel's body, whose values are found by the attribute `name` of the op that defines them.
class Body {
public:
  explicit Body(const std::string &body) {
    context.loadDialect<tt::TtDialect, arith::ArithDialect, scf::SCFDialect>();
    module = parseSourceString<ModuleOp>(
        "tt.func public @f(%p: !tt.ptr<f32>, %n: i32, %m: i32) {\n" + body + "\n tt.return }", &context);
  }

  tt::FuncOp kernel() { return *module->getOps<tt::FuncOp>().begin(); }
  Value operator[](StringRef name) {
    Value found;
    module->walk([&](Operation *op) {
      if (auto attribute = op->getAttrOfType<StringAttr>("name"); attribute && attribute.getValue() == name)
        found = op->getResult(0);
    });
    return found;
  }

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

Polynomial number(int64_t value) { return Polynomial::ofConstant(value); }

constexpr const char *rowsAndColumns = R"(
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %c4 = arith.constant dense<4> : tensor<16x1xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %far = arith.muli %rows, %c4 : tensor<16x1xi32>
  %wide = tt.broadcast %far : tensor<16x1xi32> -> tensor<16x16xi32>
  %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %long = tt.broadcast %columns : tensor<1x16xi32> -> tensor<16x16xi32>
  %at = arith.addi %wide, %long : tensor<16x16xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %q = tt.addptr %s, %at {name = "pointers"} : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  %t = tt.trans %q {order = array<i32: 1, 0>, name = "transposed"} : tensor<16x16x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
)";
} // namespace

TEST(Polynomial, refuses_coefficients_that_overflow) {
  const Polynomial x = Polynomial::ofVariable(0), large = number(int64_t{1} << 62);
  EXPECT_EQ(x.plus(x, -1), Polynomial());
  EXPECT_EQ(*x.plus(number(3)), *number(3).plus(x));
  EXPECT_EQ(*x.times(number(6))->dividedBy(3), *x.times(number(2)));
  EXPECT_FALSE(x.times(number(6))->dividedBy(4));
  EXPECT_FALSE(large.plus(large));
  EXPECT_FALSE(large.times(number(2)));
}

TEST(AffineForm, of_rows_and_columns) {
  Body body(rowsAndColumns);
  AffineInfo info;
  const AffineForm *form = info.affine(body["pointers"]);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->base, body.kernel().getArgument(0));
  EXPECT_TRUE(form->start.isZero());
  EXPECT_EQ(form->steps[0], number(16));
  EXPECT_EQ(form->steps[1], number(4));
  EXPECT_TRUE(isContiguous(*form, 1, body["pointers"]));
  EXPECT_EQ(info.affine(body["transposed"])->steps[0], number(4));
  EXPECT_EQ(info.dependence(body["pointers"]), 3u);
}

TEST(AffineForm, of_what_a_loop_carries) {
  Body body(R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %x, %y = scf.for %i = %c0 to %n step %c3 iter_args(%a = %m, %b = %m) -> (i32, i32) : i32 {
      %steady = arith.addi %a, %c1 {name = "steady"} : i32
      %doubled = arith.addi %b, %b {name = "doubled"} : i32
      %count = arith.addi %i, %c1 {name = "count"} : i32
      scf.yield %steady, %doubled : i32, i32
    })");
  AffineInfo info(AffineInfo::Scalars::TakenApart);
  // m + iterations + 1
  EXPECT_EQ(info.affine(body["steady"])->start.terms().size(), 3u);
  // 3 * iterations + 1
  EXPECT_EQ(info.affine(body["count"])->start.terms().back().coefficient, 3);
  // Two times what the loop carries, which has no form.
  EXPECT_EQ(info.affine(body["doubled"])->start.terms().front().coefficient, 2);
}

TEST(AffineForm, of_a_remainder_that_is_assumed_not_to_wrap) {
  Body body(R"(
    %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
    %s = tt.splat %n : i32 -> tensor<16xi32>
    %rest = arith.remsi %r, %s {name = "rest"} : tensor<16xi32>)");
  AffineInfo info;
  EXPECT_FALSE(info.affine(body["rest"]));
  const AffineForm *form = info.assumed(body["rest"]);
  ASSERT_TRUE(form && form->assumptions.size() == 1);
  EXPECT_EQ(info.remainderOf(form->assumptions.front())->extent, 16);
}

TEST(PrefixMask, tells_where_sums_may_wrap) {
  Body body(R"(
    %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
    %s = tt.splat %n : i32 -> tensor<16xi32>
    %e = tt.splat %m : i32 -> tensor<16xi32>
    %index = arith.addi %r, %s : tensor<16xi32>
    %pointers = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %q = tt.addptr %pointers, %index : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %inside = arith.cmpi slt, %index, %e {name = "inside"} : tensor<16xi32>
    %other = arith.addi %r, %e : tensor<16xi32>
    %wide = arith.extsi %other : tensor<16xi32> to tensor<16xi64>
    %zero = arith.constant dense<0> : tensor<16xi64>
    %below = arith.cmpi sge, %zero, %wide {name = "below"} : tensor<16xi64>
    %back = arith.cmpi slt, %e, %index {name = "back"} : tensor<16xi32>)");
  AffineInfo info;
  const PrefixMask *inside = info.prefix(body["inside"]);
  ASSERT_TRUE(inside);
  EXPECT_FALSE(inside->mayWrap);
  const PrefixMask *below = info.prefix(body["below"]);
  ASSERT_TRUE(below);
  EXPECT_TRUE(below->mayWrap);
  EXPECT_EQ(below->bound.terms().front().coefficient, 1); // sge, with the sides exchanged
  EXPECT_FALSE(info.prefix(body["back"]));
  info.setExact(true);
  EXPECT_FALSE(info.prefix(body["below"]));
}

TEST(Growth, of_iterations_and_programs) {
  Body body(R"(
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %id = tt.get_program_id x : i32
    %begin = arith.muli %id, %n {name = "begin"} : i32
    %from = tt.addptr %p, %begin {name = "from"} : !tt.ptr<f32>, i32
    scf.for %i = %c0 to %n step %c8 iter_args(%a = %from) -> (!tt.ptr<f32>) : i32 {
      %place = arith.muli %i, %m {name = "place"} : i32
      %at = tt.addptr %a, %place {name = "at"} : !tt.ptr<f32>, i32
      %next = tt.addptr %a, %c8 : !tt.ptr<f32>, i32
      scf.yield %next : !tt.ptr<f32>
    })");
  AffineInfo info;
  Growth programs(info, body.kernel());
  const auto ofBegin = programs.of(body["begin"]), ofFrom = programs.of(body["from"]);
  ASSERT_TRUE(ofBegin && ofFrom);
  EXPECT_EQ(*ofFrom, *ofBegin->times(number(4)));
  Growth iterations(info, *body.kernel().getOps<scf::ForOp>().begin());
  const auto ofPlace = iterations.of(body["place"]), ofAt = iterations.of(body["at"]);
  ASSERT_TRUE(ofPlace && ofAt);
  EXPECT_EQ(ofPlace->terms().front().coefficient, 8);
  EXPECT_EQ(*ofAt, *number(32).plus(*ofPlace, 4));
  EXPECT_TRUE(iterations.of(body["begin"])->isZero());
}
