// Tests that texts beyond a limit and invalid bytes are errors, and that they do not overflow the parser's stack.
// SPDX-License-Identifier: MIT
#include "test/unit/syntax/ParseText.h"

#include "compiler/syntax/Lexer.h"
#include "compiler/syntax/Numbers.h"

#include "gtest/gtest.h"

using namespace nereid::syntax;
using nereid::support::DiagnosticEngine;
using nereid::support::SourceFile;

static std::string repeat(llvm::StringRef text, size_t times) {
  std::string result;
  result.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i)
    result += text;
  return result;
}

// `before` many times, `middle`, `after` as many times, as the value of x.
static Codes codesOfNest(size_t times, llvm::StringRef before, llvm::StringRef middle = "a",
                         llvm::StringRef after = "") {
  return ParsedText("x = " + repeat(before, times) + middle.str() + repeat(after, times) + "\n").codes();
}

TEST(SyntaxLimits, NestsUpToTheLimitAreParsed) {
  EXPECT_EQ(codesOfNest(maxExpressionNesting - 1, "(", "a", ")"), Codes{});
  EXPECT_EQ(codesOfNest(maxExpressionNesting, "(", "a", ")"), Codes{"expression-too-deep"});
}

TEST(SyntaxLimits, NestsOfEveryKindEndInOneError) {
  static constexpr struct {
    const char *before, *after;
  } nests[] = {{"(", ")"},
               {"[", "]"},
               {"{", "}"},
               {"{a: ", "}"},
               {"{**", "}"},
               {"f(", ")"},
               {"f(*", ")"},
               {"f(b=", ")"},
               {"a[", "]"},
               {"a[:", "]"},
               {"-", ""},
               {"not ", ""},
               {"a ** ", ""},
               {"lambda: ", ""},
               {"lambda b=", ": c"},
               {"a if b else ", ""},
               {"(b := ", ")"},
               {"[a for b in ", "]"},
               {"[a for b in c if ", "]"},
               {"[*", "]"},
               {"f'{", "}'"},
               {"a not in (", ")"},
               {"(yield ", ")"},
               {"(await ", ")"}};
  for (const auto &nest : nests)
    EXPECT_EQ(codesOfNest(10'000, nest.before, "a", nest.after), Codes{"expression-too-deep"}) << nest.before;
  EXPECT_EQ(codesOfNest(1'000'000, "(", "a", ")"), Codes{"expression-too-deep"});
  EXPECT_EQ(codesOfNest(1'000'000, "-"), Codes{"expression-too-deep"});
}

TEST(SyntaxLimits, UnclosedNestsAreOneError) {
  for (const char *opener : {"(", "[", "{", "f(", "a[", "{a: ", "lambda a=("})
    EXPECT_EQ(codesOfNest(100'000, opener), Codes{"unclosed-bracket"}) << opener;
}

TEST(SyntaxLimits, TooDeepTextDoesNotHideLaterErrors) {
  std::string text = "x = " + repeat("(", 10'000) + "a" + repeat(")", 10'000) + "\ny = = 1\n";
  EXPECT_EQ(ParsedText(text).codes(), (Codes{"expression-too-deep", "expected-expression"}));
}

TEST(SyntaxLimits, ChainsUpToTheLimitAreParsed) {
  ParsedText parsed("x = a" + repeat(" + a", maxExpressionDepth - 1) + "\n");
  ASSERT_EQ(parsed.codes(), Codes{});
  EXPECT_EQ(parsed.value()->depth, maxExpressionDepth);
  for (const char *link : {" + a", " * a", " | a", ".b", "()", "[0]"}) {
    EXPECT_EQ(codesOfNest(1, "a" + repeat(link, maxExpressionDepth - 1), ""), Codes{}) << link;
    EXPECT_EQ(codesOfNest(1, "a" + repeat(link, maxExpressionDepth), ""), Codes{"expression-too-long"}) << link;
    EXPECT_EQ(codesOfNest(1, "a" + repeat(link, 20'000), ""), Codes{"expression-too-long"}) << link;
  }
}

// Brackets do not restart the count: a recursive walk covers all of them.
TEST(SyntaxLimits, NestedChainsCountTogether) {
  EXPECT_EQ(codesOfNest(100, "(", "a", " + a + a + a)"), Codes{});
  EXPECT_EQ(codesOfNest(190, "(", "a", repeat(" + a", 100) + ")"), Codes{"expression-too-long"});
}

TEST(SyntaxLimits, FlatListsHaveNoLimit) {
  for (const char *link : {" and a", " or a", " < a", ", a", " == a is a"})
    EXPECT_EQ(codesOfNest(1, "a" + repeat(link, 20'000), ""), Codes{}) << link;
  EXPECT_EQ(ParsedText(repeat("a = ", 20'000) + "a\n").codes(), Codes{});
}

TEST(SyntaxLimits, BlocksHaveALimit) {
  auto blocks = [](size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i)
      text += std::string(i, ' ') + "if a:\n";
    return ParsedText(text + std::string(count, ' ') + "a\n").codes();
  };
  EXPECT_EQ(blocks(maxBlockDepth), Codes{});
  EXPECT_EQ(blocks(maxBlockDepth + 1), Codes{"block-too-deep"});
  EXPECT_EQ(blocks(3000), Codes{"block-too-deep"});
}

TEST(SyntaxLimits, EachElifIsABlock) {
  EXPECT_EQ(ParsedText("if a: b\n" + repeat("elif a: b\n", 150)).codes(), Codes{});
  EXPECT_EQ(ParsedText("if a: b\n" + repeat("elif a: b\n", 100'000)).codes(), Codes{"block-too-deep"});
}

TEST(SyntaxLimits, ManyErrorsEndTheCheck) {
  Codes lexer = ParsedText(repeat("$\n", 1000)).codes();
  EXPECT_EQ(lexer.size(), maxSyntaxErrors + 1);
  EXPECT_EQ(lexer.back(), "too-many-errors");
  Codes parser = ParsedText(repeat("x = = 1\n", 1000)).codes();
  EXPECT_EQ(parser.size(), maxSyntaxErrors + 1);
  EXPECT_EQ(parser.back(), "too-many-errors");
}

TEST(SyntaxLimits, LongNumbersAreErrors) {
  EXPECT_EQ(codesOfNest(maxIntDigits, "", "", "9"), Codes{});
  EXPECT_EQ(codesOfNest(maxIntDigits + 1, "", "", "9"), Codes{"number-too-long"});
  EXPECT_EQ(codesOfNest(1'000'000, "", "0x1", "f"), Codes{"number-too-long"});
  EXPECT_EQ(codesOfNest(1'000'000, "", "1.", "9"), Codes{});
}

TEST(SyntaxLimits, BytesThatAreNoTextAreLocated) {
  ParsedText nul(std::string("x = 1\ny\0z", 9));
  EXPECT_EQ(nul.codes(), Codes{"nul-byte"});
  EXPECT_EQ(nul.diagnostics.render(), "k.py:2:2: error: source text holds a NUL byte; Python text cannot [nul-byte]\n"
                                      "y\\x00z\n"
                                      " ^~~~\n");
  ParsedText invalid("# caf\xE9\n");
  EXPECT_EQ(invalid.diagnostics.render(), "k.py:1:6: error: byte 0xE9 is not valid UTF-8; save the file as UTF-8 "
                                          "[invalid-utf8]\n"
                                          "# caf\\xE9\n"
                                          "     ^~~~\n");
  for (const char *bytes : {"\x80", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"})
    EXPECT_EQ(ParsedText(std::string("x = '") + bytes + "'\n").codes(), Codes{"invalid-utf8"});
}

TEST(SyntaxLimits, LongTextIsAnError) {
  EXPECT_EQ(ParsedText("#" + std::string(SourceFile::maxBytes - 1, ' ')).codes(), Codes{});
  EXPECT_EQ(ParsedText("#" + std::string(SourceFile::maxBytes, ' ')).codes(), Codes{"text-too-long"});
}

TEST(SyntaxLimits, OneFunctionIsExpected) {
  auto codes = [](std::string text) {
    SourceFile file("k.py", std::move(text));
    AstContext context;
    DiagnosticEngine diagnostics;
    bool isNull = parseFunction(file, context, diagnostics) == nullptr;
    EXPECT_EQ(isNull, diagnostics.hasErrors());
    return diagnostics.all().empty() ? "" : diagnostics.all().front().code().str();
  };
  EXPECT_EQ(codes("def f(): pass\n"), "");
  EXPECT_EQ(codes("    @a\n    @b(c)\n\n    async def f():\n        pass\n  # less indented\n"), "");
  EXPECT_EQ(codes("\tdef f():\n\t\tpass\n\n"), "");
  EXPECT_EQ(codes(""), "expected-function");
  EXPECT_EQ(codes("x = 1\n"), "expected-function");
  EXPECT_EQ(codes("@a\nclass B: pass\n"), "expected-function");
  EXPECT_EQ(codes("def f(): pass\nx = 1\n"), "text-after-function");
  EXPECT_EQ(codes("  def f():\n    pass\n x = 1\n"), "unmatched-dedent");
}
