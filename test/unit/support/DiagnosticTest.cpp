// Tests that diagnostics are collected, ordered and printed.
// SPDX-License-Identifier: MIT
#include "compiler/support/Diagnostic.h"

#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

using namespace nereid::support;

namespace {
NEREID_DECLARE_DIAGNOSTIC(Mismatch, Error, "mismatch", "`{0}` has {1}, `{2}` has {3}; they must match", TypeError)
NEREID_DECLARE_DIAGNOSTIC(Advice, Warning, "advice", "slow", CompilationError)
} // namespace

// The printed diagnostic of a range of the text, without the first line.
static std::string marks(std::string text, SourceRange range, std::optional<uint32_t> caret = std::nullopt) {
  SourceFile file("k.py", std::move(text));
  DiagnosticEngine engine;
  Diagnostic &diagnostic = engine.report(Advice, {&file, range});
  if (caret)
    diagnostic.pointAt(*caret);
  std::string drawn = engine.render();
  return drawn.substr(drawn.find('\n') + 1);
}

TEST(Diagnostic, HasPlaceMessageCodeMarksAndNotes) {
  SourceFile file("dir/k.py", "b = 1\n    v = a + b\n");
  DiagnosticEngine engine;
  engine.report(Mismatch, {&file, {14, 19}}, "a", 8, "b", 16)
      .pointAt(16)
      .note("`b` created here", {&file, {0, 1}})
      .note("while compiling `f`");
  EXPECT_EQ(engine.render(), "dir/k.py:2:11: error: `a` has 8, `b` has 16; they must match [mismatch]\n"
                             "    v = a + b\n"
                             "        ~~^~~\n"
                             "dir/k.py:1:1: note: `b` created here\n"
                             "note: while compiling `f`\n");
  EXPECT_EQ(engine.all().front().kind->pythonError, PythonError::TypeError);
  EXPECT_EQ(toString(engine.all().front().kind->pythonError), "TypeError");
}

TEST(Diagnostic, NeedsNoLocation) {
  DiagnosticEngine engine;
  engine.report(Advice, {});
  EXPECT_EQ(engine.render(), "warning: slow [advice]\n");
}

TEST(Diagnostic, OnlyErrorsCountAsErrors) {
  DiagnosticEngine engine;
  engine.report(Advice, {});
  EXPECT_FALSE(engine.hasErrors());
  engine.add(Mismatch, {}, "text");
  EXPECT_EQ(engine.errorCount(), 1u);
  engine.truncate(1);
  EXPECT_EQ(engine.size(), 1u);
  EXPECT_FALSE(engine.hasErrors());
}

TEST(Diagnostic, SortsByPlaceAndKeepsOrderOtherwise) {
  SourceFile file("k.py", "abc\n");
  DiagnosticEngine engine;
  for (const char *text : {"first", "none"})
    engine.add(Mismatch, {}, text);
  engine.add(Mismatch, {&file, {2, 3}}, "c");
  engine.add(Mismatch, {&file, {0, 1}}, "a1");
  engine.add(Mismatch, {&file, {0, 2}}, "a2");
  engine.sortByPosition(1);
  std::vector<std::string> order;
  for (const Diagnostic &diagnostic : engine.all())
    order.push_back(diagnostic.message);
  EXPECT_EQ(order, (std::vector<std::string>{"first", "a1", "a2", "c", "none"}));
}

TEST(Diagnostic, MarksStopAtTheEndOfTheLine) {
  EXPECT_EQ(marks("f(a,\n  b)\n", {0, 10}), "f(a,\n^~~~\n");
  EXPECT_EQ(marks("f(\n", {2, 2}), "f(\n  ^\n");
  EXPECT_EQ(marks("f(", {2, 9}), "f(\n  ^\n");
  EXPECT_EQ(marks("", {0, 0}), "\n^\n");
}

TEST(Diagnostic, TabsAndWideCharactersKeepMarksInPlace) {
  EXPECT_EQ(marks("\ta\n", {1, 2}), "        a\n        ^\n");
  EXPECT_EQ(marks("a\tb\n", {2, 3}), "a       b\n        ^\n");
  EXPECT_EQ(marks("\xE5\x80\xBC+b\n", {0, 5}, 3), "\xE5\x80\xBC+b\n~~^~\n");
}

TEST(Diagnostic, ControlCharactersAreEscaped) {
  EXPECT_EQ(marks("a\x1b[31mb\x7f\n", {0, 1}), "a\\x1B[31mb\\x7F\n^\n");
  EXPECT_EQ(marks("a\xE2\x80\xAE"
                  "b\n",
                  {4, 5}),
            "a<U+202E>b\n         ^\n");
  EXPECT_EQ(marks("\xFF"
                  "a\n",
                  {1, 2}),
            "\\xFFa\n    ^\n");
  DiagnosticEngine engine;
  SourceFile file("a\x1b\n.py", "x\n");
  engine.add(Advice, {&file, {0, 1}}, "b\x1b[0m\nsecond").note("c\x07");
  EXPECT_EQ(engine.render(), "a\\x1B\\x0A.py:1:1: warning: b\\x1B[0m\nsecond [advice]\nx\n^\nnote: c\\x07\n");
}

TEST(Diagnostic, LongLinesAreCutAroundTheCaret) {
  std::string text = std::string(500, 'a') + "+" + std::string(500, 'b') + "\n";
  std::string drawn = marks(text, {499, 502}, 500);
  EXPECT_EQ(drawn,
            "..." + std::string(60, 'a') + "+" + std::string(89, 'b') + "...\n" + std::string(62, ' ') + "~^~\n");
  EXPECT_EQ(marks(std::string(161, 'a'), {0, 1}), std::string(90, 'a') + "...\n^\n");
  EXPECT_EQ(marks(std::string(160, 'a'), {0, 1}), std::string(160, 'a') + "\n^\n");
}

TEST(Diagnostic, CutsFallBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += "\xC3\xA9"; // é
  std::string drawn = marks(text, {301, 302}, 300);
  EXPECT_EQ(drawn.find("\\x"), std::string::npos) << drawn;
}
