// Tests which arguments of kernels count as written, from IR text.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/WrittenArguments.h"

#include "compiler/driver/Compiler.h"

#include "gtest/gtest.h"

using namespace nereid;

/// The indices of the written arguments of the public function, as "0 2"; other text where parsing fails.
static std::string written(const std::string &text) {
  auto context = driver::createContext();
  context->allowUnregisteredDialects();
  support::DiagnosticEngine diagnostics;
  auto module = driver::parse(*context, "module {" + text + "}", "test", diagnostics);
  if (!module)
    return diagnostics.render();
  std::string numbers;
  for (tt::FuncOp function : module->getOps<tt::FuncOp>()) {
    const llvm::SmallBitVector bits =
        function.isPublic() ? analysis::writtenArguments(function) : llvm::SmallBitVector();
    for (unsigned index : bits.set_bits())
      numbers += (numbers.empty() ? "" : " ") + std::to_string(index);
  }
  return numbers;
}

static std::string writtenBy(const std::string &body, const std::string &others = "") {
  return written("tt.func public @kernel(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %c: i1, %n: i32) {\n"
                 "  %zero = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n" +
                 body + "\n  tt.return }\n" + others);
}

TEST(WrittenArguments, loads_write_nothing) {
  EXPECT_EQ(writtenBy("%v = tt.load %p : !tt.ptr<f32>"), "");
  EXPECT_EQ(writtenBy("%v = tt.load %p {isVolatile = true} : !tt.ptr<f32>"), "");
}

TEST(WrittenArguments, a_store_writes_its_pointer_and_not_what_its_value_was_read_from) {
  EXPECT_EQ(writtenBy("%v = tt.load %p : !tt.ptr<f32>\n tt.store %q, %v : !tt.ptr<f32>"), "1");
}

TEST(WrittenArguments, tiles_of_pointers_are_followed) {
  EXPECT_EQ(writtenBy("%t = tt.splat %q : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>\n"
                      "%r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n"
                      "%a = tt.addptr %t, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>\n"
                      "%b = tt.bitcast %a : tensor<8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<i32>>\n"
                      "%x = tt.expand_dims %b {axis = 0 : i32} : tensor<8x!tt.ptr<i32>> -> tensor<1x8x!tt.ptr<i32>>\n"
                      "%v = tt.load %p : !tt.ptr<f32>\n"
                      "%i = arith.constant dense<1> : tensor<1x8xi32>\n"
                      "tt.store %x, %i : tensor<1x8x!tt.ptr<i32>>"),
            "1");
}

TEST(WrittenArguments, a_choice_of_pointers_counts_for_each) {
  const std::string choice = "%s = arith.select %c, %p, %q : !tt.ptr<f32>\n%v = arith.constant 1.0 : f32\n";
  EXPECT_EQ(writtenBy(choice + "tt.store %s, %v : !tt.ptr<f32>"), "0 1");
  EXPECT_EQ(writtenBy(choice + "%r = tt.load %s : !tt.ptr<f32>"), "");
  EXPECT_EQ(writtenBy("%s = scf.if %c -> (!tt.ptr<f32>) { scf.yield %p : !tt.ptr<f32> }"
                      " else { scf.yield %q : !tt.ptr<f32> }\n"
                      "%v = arith.constant 1.0 : f32\ntt.store %s, %v : !tt.ptr<f32>"),
            "0 1");
}

/// A loop that carries two pointers and swaps them in each iteration, with `inside` for `%a` and `%b`.
static std::string swapping(const std::string &inside, const std::string &after) {
  return "%f = arith.constant 1.0 : f32\n"
         "%l:2 = scf.for %i = %zero to %n step %one iter_args(%a = %p, %b = %q) -> (!tt.ptr<f32>, !tt.ptr<f32>) : i32 "
         "{\n" +
         inside + "\nscf.yield %b, %a : !tt.ptr<f32>, !tt.ptr<f32> }\n" + after;
}

TEST(WrittenArguments, what_a_loop_carries_counts_for_every_source) {
  EXPECT_EQ(writtenBy(swapping("tt.store %a, %f : !tt.ptr<f32>", "")), "0 1");
  EXPECT_EQ(writtenBy(swapping("", "tt.store %l#1, %f : !tt.ptr<f32>")), "0 1");
  EXPECT_EQ(writtenBy(swapping("%v = tt.load %a : !tt.ptr<f32>", "")), "");
}

TEST(WrittenArguments, while_loops_are_followed) {
  EXPECT_EQ(writtenBy("%w = scf.while (%a = %q) : (!tt.ptr<f32>) -> !tt.ptr<f32> {\n"
                      "  scf.condition(%c) %a : !tt.ptr<f32>\n} do {\n^bb0(%b: !tt.ptr<f32>):\n"
                      "  %m = tt.addptr %b, %one : !tt.ptr<f32>, i32\n  scf.yield %m : !tt.ptr<f32> }\n"
                      "%v = tt.load %p : !tt.ptr<f32>\ntt.store %w, %v : !tt.ptr<f32>"),
            "1");
}

TEST(WrittenArguments, calls_write_what_the_function_writes_and_pass_pointers_on) {
  const std::string callees = "tt.func private @put(%x: !tt.ptr<f32>, %from: !tt.ptr<f32>) {\n"
                              "  %v = tt.load %from : !tt.ptr<f32>\n  tt.store %x, %v : !tt.ptr<f32>\n  tt.return }\n"
                              "tt.func private @next(%x: !tt.ptr<f32>, %by: i32) -> !tt.ptr<f32> {\n"
                              "  %y = tt.addptr %x, %by : !tt.ptr<f32>, i32\n  tt.return %y : !tt.ptr<f32> }\n";
  EXPECT_EQ(writtenBy("tt.call @put(%q, %p) : (!tt.ptr<f32>, !tt.ptr<f32>) -> ()", callees), "1");
  EXPECT_EQ(writtenBy("%m = tt.call @next(%p, %n) : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>\n"
                      "%v = tt.load %m : !tt.ptr<f32>",
                      callees),
            "");
  EXPECT_EQ(writtenBy("%m = tt.call @next(%p, %n) : (!tt.ptr<f32>, i32) -> !tt.ptr<f32>\n"
                      "%v = tt.load %q : !tt.ptr<f32>\ntt.store %m, %v : !tt.ptr<f32>",
                      callees),
            "0");
}

TEST(WrittenArguments, a_function_that_calls_itself_is_followed_once) {
  EXPECT_EQ(writtenBy("tt.call @again(%p) : (!tt.ptr<f32>) -> ()",
                      "tt.func private @again(%x: !tt.ptr<f32>) {\n"
                      "  tt.call @again(%x) : (!tt.ptr<f32>) -> ()\n  tt.return }\n"),
            "");
}

TEST(WrittenArguments, a_pointer_that_becomes_a_number_is_lost) {
  EXPECT_EQ(writtenBy("%a = tt.ptr_to_int %p : !tt.ptr<f32> -> i64"), "0");
}

TEST(WrittenArguments, a_pointer_stored_as_data_is_lost) {
  EXPECT_EQ(written("tt.func public @kernel(%p: !tt.ptr<f32>, %table: !tt.ptr<!tt.ptr<f32>>, %q: !tt.ptr<f32>) {\n"
                    "  tt.store %table, %p : !tt.ptr<!tt.ptr<f32>>\n"
                    "  tt.return }"),
            "0 1");
}

TEST(WrittenArguments, a_pointer_read_from_memory_is_no_argument) {
  EXPECT_EQ(written("tt.func public @kernel(%table: !tt.ptr<!tt.ptr<f32>>, %p: !tt.ptr<f32>, %c: i1) {\n"
                    "  %x = tt.load %table, %c, %p : !tt.ptr<!tt.ptr<f32>>\n"
                    "  %v = arith.constant 1.0 : f32\n  tt.store %x, %v : !tt.ptr<f32>\n"
                    "  tt.return }"),
            "1");
}

TEST(WrittenArguments, ops_that_nothing_is_known_of_write) {
  EXPECT_EQ(writtenBy("\"other.op\"(%p) : (!tt.ptr<f32>) -> ()"), "0");
  EXPECT_EQ(writtenBy("\"other.loop\"() ({ \"other.op\"(%q) : (!tt.ptr<f32>) -> () }) : () -> ()"), "1");
}

TEST(WrittenArguments, numbers_are_never_written) {
  EXPECT_EQ(writtenBy("%v = tt.load %p : !tt.ptr<f32>\n\"other.op\"(%n, %c) : (i32, i1) -> ()"), "");
}
