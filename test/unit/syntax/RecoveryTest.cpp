// Tests that one wrong statement gives one message, and that the statements around it are still checked.
// SPDX-License-Identifier: MIT
#include "test/unit/syntax/ParseText.h"

#include "gtest/gtest.h"

using namespace nereid::syntax;

// The lines of all messages.
static std::vector<unsigned> errorLines(std::string text) {
  ParsedText parsed(std::move(text));
  EXPECT_EQ(parsed.module == nullptr, parsed.diagnostics.hasErrors());
  std::vector<unsigned> lines;
  for (const auto &diagnostic : parsed.diagnostics.all())
    lines.push_back(parsed.file.position(diagnostic.where.range.begin).line);
  return lines;
}

using Lines = std::vector<unsigned>;

TEST(SyntaxRecovery, EachStatementSpeaksOnce) {
  EXPECT_EQ(errorLines("x = = 1 = = 2\ny = 1\nz = )\n"), (Lines{1, 3}));
  EXPECT_EQ(errorLines("x = $ + + $\ny = 'a\nz = 1\n"), (Lines{1, 1, 2})); // the lexer reports each
}

TEST(SyntaxRecovery, BlockOfAWrongHeadIsStillRead) {
  EXPECT_EQ(errorLines("if a = 1:\n    b = = 2\n    c\nelse:\n    d = = 3\ne\n"), (Lines{1, 2, 5}));
  EXPECT_EQ(errorLines("for a on b:\n    break\n"), Lines{1});
  EXPECT_EQ(errorLines("def f(1):\n    return\n"), Lines{1});
  EXPECT_EQ(errorLines("def f()\n    return 1\ng = = 1\n"), (Lines{1, 3}));
}

TEST(SyntaxRecovery, ErrorsInsideABlockStayThere) {
  EXPECT_EQ(errorLines("def f():\n    if a:\n        x = = 1\n    return )\ny = = 2\n"), (Lines{3, 4, 5}));
}

TEST(SyntaxRecovery, UnclosedBracketEndsAtTheNextStatement) {
  EXPECT_EQ(errorLines("def f():\n    x = g(a,\n          b\n    return x\ny = = 1\n"), (Lines{2, 5}));
  EXPECT_EQ(errorLines("x = [\ndef f():\n    pass\n"), Lines{1});
}

TEST(SyntaxRecovery, StringWithoutEndIsNoBracketError) {
  EXPECT_EQ(errorLines("x = f('a\n"), Lines{1});
  EXPECT_EQ(errorLines("x = f('a)\nreturn_ = 1\n"), Lines{1});
  EXPECT_EQ(errorLines("x = f\"{a['b}\"\ny = = 1\n"), (Lines{1, 2}));
}

TEST(SyntaxRecovery, WrongIndentationIsOneMessage) {
  EXPECT_EQ(errorLines("a\n    b\n    c\nd = = 1\n"), (Lines{2, 4}));
  EXPECT_EQ(errorLines("if a:\n        b\n    c\n    d\ne\n"), Lines{3});
  EXPECT_EQ(errorLines("if a:\nb\n"), Lines{2});
  EXPECT_EQ(errorLines("if a:\n    b\n\tc\n\td\n"), Lines{3});
}

TEST(SyntaxRecovery, MessagesAreInSourceOrder) {
  EXPECT_EQ(errorLines("x = = 1\ny = $\nz = = 1\nw = 'a\n"), (Lines{1, 2, 3, 4}));
}

TEST(SyntaxRecovery, MatchIsPassedOverAsAWhole) {
  EXPECT_EQ(errorLines("match a b:\n    case [x, *_]:\n        pass\ny = = 1\n"), (Lines{1, 4}));
}
