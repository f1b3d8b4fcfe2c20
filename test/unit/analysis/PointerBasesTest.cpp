// Tests that values and pointers are followed through every kind of loop and branch.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/PointerBases.h"
#include "compiler/analysis/ValueFlow.h"
#include "compiler/dialect/tt/Dialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace nereid;

namespace {

/// A function with this body, whose parameters are `p`, `q` (pointers), `c` (i1), `n` (i32) and `k` (index).
struct Parsed {
  explicit Parsed(const std::string &body) {
    context.loadDialect<tt::TtDialect, arith::ArithDialect, scf::SCFDialect>();
    const std::string text =
        "tt.func public @kernel(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %c: i1, %n: i32, %k: index) {\n"
        "%zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n" +
        body + "\ntt.return\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
  }
  tt::FuncOp function() { return *module->getOps<tt::FuncOp>().begin(); }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
};

/// Which parameter the pointer of the body's last store starts from; -1 where that is not provable.
int baseIn(const std::string &body) {
  Parsed parsed(body);
  tt::StoreOp last;
  parsed.function().walk([&](tt::StoreOp store) { last = store; });
  BlockArgument base = analysis::baseOf(last.getPtr());
  return base ? int(base.getArgNumber()) : -1;
}

const std::string kStore = "%x = arith.constant 1.0 : f32\ntt.store %r, %x : !tt.ptr<f32>";

TEST(PointerBases, loops_that_move_a_pointer) {
  EXPECT_EQ(baseIn("%r = scf.for %i = %zero to %n step %one iter_args(%a = %q) -> !tt.ptr<f32> : i32 {\n"
                   "  %b = tt.addptr %a, %i : !tt.ptr<f32>, i32\n"
                   "  scf.yield %b : !tt.ptr<f32>\n}\n" +
                   kStore),
            1);
}

TEST(PointerBases, while_loops_that_move_a_pointer) {
  const std::string loop = "%r = scf.while (%a = %q) : (!tt.ptr<f32>) -> !tt.ptr<f32> {\n"
                           "  scf.condition(%c) %a : !tt.ptr<f32>\n"
                           "} do {\n^bb0(%a: !tt.ptr<f32>):\n";
  EXPECT_EQ(baseIn(loop + "  %b = tt.addptr %a, %n : !tt.ptr<f32>, i32\n  scf.yield %b : !tt.ptr<f32>\n}\n" + kStore),
            1);
  EXPECT_EQ(baseIn(loop + "  scf.yield %p : !tt.ptr<f32>\n}\n" + kStore), -1);
}

TEST(PointerBases, branches_that_choose_a_pointer) {
  auto either = [](const std::string &otherwise) {
    return "%r = scf.if %c -> !tt.ptr<f32> {\n  scf.yield %q : !tt.ptr<f32>\n} else {\n  scf.yield " + otherwise +
           " : !tt.ptr<f32>\n}\n" + kStore;
  };
  EXPECT_EQ(baseIn(either("%q")), 1);
  EXPECT_EQ(baseIn(either("%p")), -1);
  EXPECT_EQ(baseIn("%r = scf.index_switch %k -> !tt.ptr<f32>\ncase 2 {\n  scf.yield %p : !tt.ptr<f32>\n}\n"
                   "default {\n  scf.yield %p : !tt.ptr<f32>\n}\n" +
                   kStore),
            0);
}

TEST(PointerBases, pointers_from_elsewhere) {
  EXPECT_EQ(baseIn("%w = arith.extsi %n : i32 to i64\n%r = tt.int_to_ptr %w : i64 -> !tt.ptr<f32>\n" + kStore), -1);
  EXPECT_EQ(baseIn("%w = arith.extsi %n : i32 to i64\n%h = tt.int_to_ptr %w : i64 -> !tt.ptr<!tt.ptr<f32>>\n"
                   "%r = tt.load %h : !tt.ptr<!tt.ptr<f32>>\n" +
                   kStore),
            -1);
}

TEST(ValueFlow, a_loop_that_runs_once_still_relates_all_its_values) {
  Parsed parsed("%r = scf.for %i = %zero to %one step %one iter_args(%a = %n) -> i32 : i32 {\n"
                "  scf.yield %i : i32\n}\n");
  auto loop = *parsed.function().getOps<scf::ForOp>().begin();
  EXPECT_EQ(analysis::forwardedTo(loop.getResult(0)).size(), 2u);
  EXPECT_EQ(analysis::forwardedTo(loop.getRegionIterArg(0)).size(), 2u);
  EXPECT_TRUE(analysis::forwardedTo(loop.getInductionVar()).empty());
  OpOperand &yielded = loop.getBody()->getTerminator()->getOpOperand(0);
  EXPECT_EQ(analysis::forwardedFrom(yielded).size(), 2u);
  EXPECT_TRUE(analysis::forwardedFrom(loop->getOpOperand(0)).empty());
}

TEST(ValueFlow, a_condition_forwards_to_the_body_and_the_results) {
  Parsed parsed("%r = scf.while (%a = %n) : (i32) -> i32 {\n  scf.condition(%c) %a : i32\n"
                "} do {\n^bb0(%b: i32):\n  scf.yield %b : i32\n}\n");
  auto loop = *parsed.function().getOps<scf::WhileOp>().begin();
  Operation *condition = loop.getConditionOp();
  EXPECT_TRUE(analysis::forwardedFrom(condition->getOpOperand(0)).empty());
  EXPECT_EQ(analysis::forwardedFrom(condition->getOpOperand(1)).size(), 2u);
  EXPECT_EQ(analysis::forwardedTo(loop.getBeforeArguments()[0]).size(), 2u);
  EXPECT_EQ(analysis::forwardedTo(loop.getAfterArguments()[0]).size(), 1u);
}

} // namespace
