// Tests the source ranges of nodes, operators and names. (The golden trees show the ranges of nodes.)
// SPDX-License-Identifier: MIT
#include "test/unit/syntax/ParseText.h"

#include "gtest/gtest.h"

using namespace nereid::syntax;

namespace {
struct Ranges : testing::Test {
  std::string at(SourceRange range) const { return parsed->file.text(range).str() + "@" + std::to_string(range.begin); }
  template <typename T> const T *parse(std::string text) {
    parsed = std::make_unique<ParsedText>(text);
    EXPECT_EQ(parsed->codes(), Codes{});
    return llvm::cast<T>(parsed->value());
  }
  std::unique_ptr<ParsedText> parsed;
};
} // namespace

TEST_F(Ranges, BinaryOperatorLiesBetweenBrackets) {
  const auto *node = parse<BinOp>("(a + b) // (c)\n");
  EXPECT_EQ(at(node->opRange), "//@8");
  EXPECT_EQ(at(node->range), "(a + b) // (c)@0");
  EXPECT_EQ(at(node->left->range), "a + b@1");
  EXPECT_EQ(at(node->right->range), "c@12");
}

TEST_F(Ranges, ComparisonOperatorsOfTwoWords) {
  const auto *node = parse<Compare>("a is  not b not in c < d\n");
  EXPECT_EQ(at(node->opRanges[0]), "is  not@2");
  EXPECT_EQ(at(node->opRanges[1]), "not in@12");
  EXPECT_EQ(at(node->opRanges[2]), "<@21");
}

TEST_F(Ranges, OtherOperators) {
  EXPECT_EQ(at(parse<BinOp>("a ** -b\n")->opRange), "**@2");
  EXPECT_EQ(at(parse<UnaryOp>("not a\n")->opRange), "not@0");
  EXPECT_EQ(at(parse<BoolOp>("a and b and c\n")->opRanges[1]), "and@8");
  const auto &module = *(parsed = std::make_unique<ParsedText>("a.b //= 1\n"))->module;
  EXPECT_EQ(at(llvm::cast<AugAssign>(module.body.front())->opRange), "//=@4");
}

TEST_F(Ranges, NamesInsideNodes) {
  EXPECT_EQ(at(parse<Attribute>("a . b\n")->nameRange), "b@4");
  const auto *call = parse<Call>("f(a, b = 1, **c)\n");
  EXPECT_EQ(at(call->keywords[0].nameRange), "b@5");
  EXPECT_EQ(at(call->keywords[0].range), "b = 1@5");
  EXPECT_EQ(at(call->keywords[1].range), "**c@12");
}

TEST_F(Ranges, FunctionAndItsParts) {
  parsed = std::make_unique<ParsedText>("@a\nasync def  f(b: c = 1, *d) -> e:\n  pass\n\n# end\n");
  const auto *function = llvm::cast<FunctionDef>(parsed->module->body.front());
  EXPECT_EQ(at(function->nameRange), "f@14");
  EXPECT_EQ(at(function->range), "async def  f(b: c = 1, *d) -> e:\n  pass@3");
  EXPECT_EQ(at(function->decorators.front()->range), "a@1");
  EXPECT_EQ(at(function->parameters[0].range), "b: c@16");
  EXPECT_EQ(at(function->parameters[0].nameRange), "b@16");
  EXPECT_EQ(at(function->parameters[1].nameRange), "d@27");
}

TEST_F(Ranges, GeneratorTakesTheBracketsOfItsCall) {
  const auto *call = parse<Call>("f(a for a in b)\n");
  EXPECT_EQ(at(call->args.front()->range), "(a for a in b)@1");
}

TEST_F(Ranges, SlicesAndTuplesInAnIndex) {
  const auto *node = parse<Subscript>("a[1:, :b:2, None]\n");
  const auto *tuple = llvm::cast<Tuple>(node->index);
  EXPECT_EQ(at(tuple->range), "1:, :b:2, None@2");
  EXPECT_EQ(at(tuple->elements[0]->range), "1:@2");
  EXPECT_EQ(at(tuple->elements[1]->range), ":b:2@6");
  EXPECT_EQ(llvm::cast<Slice>(tuple->elements[1])->lower, nullptr);
}

TEST_F(Ranges, ElifStartsAtItsWord) {
  parsed = std::make_unique<ParsedText>("if a: b\nelif c: d\nelse: e\n");
  const auto *outer = llvm::cast<If>(parsed->module->body.front());
  const auto *inner = llvm::cast<If>(outer->orelse.front());
  EXPECT_EQ(at(inner->range), "elif c: d\nelse: e@8");
  EXPECT_EQ(outer->range.end, inner->range.end);
}

TEST_F(Ranges, CutOutHasThePlacesOfItsFile) {
  ParsedText cutOut("def f(a):\n  return a +\n", {.firstLine = 41, .removedColumns = 4});
  EXPECT_EQ(cutOut.diagnostics.render(),
            "k.py:42:17: error: expected an expression after `+`, found end of line [expected-expression]\n"
            "      return a +\n"
            "                ^\n");
}
