// Compares tokens with those of Python's own tokenizer, with balanced indentation.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Lexer.h"

#include "gtest/gtest.h"

using namespace nereid::syntax;
using nereid::support::DiagnosticEngine;
using nereid::support::SourceFile;

// Names and operators as in the source, layout as NEWLINE, INDENT, DEDENT, an error as ERROR; separated by spaces.
static std::string tokensOf(std::string text, FirstIndent firstIndent = FirstIndent::IsError) {
  SourceFile file("k.py", std::move(text));
  DiagnosticEngine diagnostics;
  std::string result;
  for (const Token &token : lex(file, diagnostics, firstIndent)) {
    switch (token.kind) {
    case TokenKind::EndOfText:
      return result;
    case TokenKind::Newline:
      result += "NEWLINE ";
      break;
    case TokenKind::Indent:
      result += "INDENT ";
      break;
    case TokenKind::Dedent:
      result += "DEDENT ";
      break;
    case TokenKind::Error:
      result += "ERROR ";
      break;
    default:
      result += file.text(token.range).str() + " ";
    }
  }
  ADD_FAILURE() << "no end of text";
  return result;
}

TEST(Lexer, LongestOperatorWins) {
  EXPECT_EQ(tokensOf("a**=b//=c<<=d>>=e!=f->g:=h...i"), "a **= b //= c <<= d >>= e != f -> g := h ... i NEWLINE ");
  EXPECT_EQ(tokensOf("a<=b<c<<d**e*f//g/h..i"), "a <= b < c << d ** e * f // g / h . . i NEWLINE ");
}

TEST(Lexer, KeywordsAreWholeWords) {
  SourceFile file("k.py", "if iff None none match case type _");
  DiagnosticEngine diagnostics;
  std::vector<TokenKind> kinds;
  for (const Token &token : lex(file, diagnostics, FirstIndent::IsError))
    kinds.push_back(token.kind);
  using enum TokenKind;
  EXPECT_EQ(kinds, (std::vector<TokenKind>{If, Name, None, Name, Name, Name, Name, Name, Newline, EndOfText}));
}

TEST(Lexer, BlankAndCommentLinesHaveNoLayout) {
  EXPECT_EQ(tokensOf("\n  \n# a\n\t# b\na\n\n   # c\nb # d\n  \n"), "a NEWLINE b NEWLINE ");
  EXPECT_EQ(tokensOf(""), "");
  EXPECT_EQ(tokensOf("# only a comment"), "");
}

TEST(Lexer, IndentationIsBalanced) {
  EXPECT_EQ(tokensOf("a\n  b\n    c\n  d\ne\n"),
            "a NEWLINE INDENT b NEWLINE INDENT c NEWLINE DEDENT d NEWLINE DEDENT e NEWLINE ");
  EXPECT_EQ(tokensOf("a\n  b\n    c"), "a NEWLINE INDENT b NEWLINE INDENT c NEWLINE DEDENT DEDENT ");
  EXPECT_EQ(tokensOf("a\n\tb\n\t\tc\nd"), "a NEWLINE INDENT b NEWLINE INDENT c NEWLINE DEDENT DEDENT d NEWLINE ");
}

TEST(Lexer, CommonIndentationOfACutOutIsNone) {
  EXPECT_EQ(tokensOf("    a\n      b\n    c\n", FirstIndent::IsCommon), "a NEWLINE INDENT b NEWLINE DEDENT c NEWLINE ");
  EXPECT_EQ(tokensOf("    a\n", FirstIndent::IsError), "INDENT a NEWLINE DEDENT ");
}

TEST(Lexer, LinesJoinInBracketsAndAfterBackslash) {
  EXPECT_EQ(tokensOf("a = (b,  # c\n\n   d\n) + \\\n  e\nf"), "a = ( b , d ) + e NEWLINE f NEWLINE ");
}

TEST(Lexer, EveryLineEndCounts) {
  EXPECT_EQ(tokensOf("a\r\nb\rc\n\r\nd"), "a NEWLINE b NEWLINE c NEWLINE d NEWLINE ");
  EXPECT_EQ(tokensOf("\xEF\xBB\xBF"
                     "a\n"),
            "a NEWLINE ");
}

TEST(Lexer, NumbersEndWherePythonsDo) {
  EXPECT_EQ(tokensOf("1..a 1.5.b 1if 0xfor x 1_0e-5j+.5"), "1. . a 1.5 . b 1 if 0xf or x 1_0e-5j + .5 NEWLINE ");
}

TEST(Lexer, StringsKeepQuotesAndLines) {
  EXPECT_EQ(tokensOf("'a\\'b' r'\\' x' '''c'd\n'' ''' b\"\" \"\\\\\""),
            "'a\\'b' r'\\' x' '''c'd\n'' ''' b\"\" \"\\\\\" NEWLINE ");
  EXPECT_EQ(tokensOf("'a\\\nb'"), "'a\\\nb' NEWLINE ");
}

TEST(Lexer, FStringsBecomeTextAndTokens) {
  EXPECT_EQ(tokensOf("f'a{b!r:>{c}}{{d}}'"), "f' a { b ! r : > { c } } {{d}} ' NEWLINE ");
  EXPECT_EQ(tokensOf("f'{a != b}{ {c:d}[e:f] }'"), "f' { a != b } { { c : d } [ e : f ] } ' NEWLINE ");
  EXPECT_EQ(tokensOf("f'{f'{a}'}' f'''\n{\nb\n}'''"), "f' { f' { a } ' } ' f''' \n { b } ''' NEWLINE ");
  EXPECT_EQ(tokensOf("f'\\N{DASH}\\{a}' rf'\\N{a}'"), "f' \\N{DASH}\\ { a } ' rf' \\N { a } ' NEWLINE ");
}

TEST(Lexer, NamesMayHaveLettersOfAllScripts) {
  EXPECT_EQ(tokensOf("\xCF\x80 = \xE5\x80\xBC_1"), "\xCF\x80 = \xE5\x80\xBC_1 NEWLINE ");
}

TEST(Lexer, ErrorsLeaveAToken) {
  EXPECT_EQ(tokensOf("a $ b\nc"), "a ERROR b NEWLINE c NEWLINE ");
  EXPECT_EQ(tokensOf("a 'b\nc"), "a ERROR NEWLINE c NEWLINE ");
  EXPECT_EQ(tokensOf("a (b\nreturn\n"), "a ( b ERROR NEWLINE return NEWLINE ");
  EXPECT_EQ(tokensOf("a ( [ b )\nc"), "a ( [ b ERROR NEWLINE c NEWLINE ");
  EXPECT_EQ(tokensOf("f'{a\nreturn"), "f' { a ERROR NEWLINE return NEWLINE ");
}
