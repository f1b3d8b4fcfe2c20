// Tests that numbers and strings have the values that Python gives them.
// SPDX-License-Identifier: MIT
#include "test/unit/syntax/ParseText.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace nereid::syntax;

static double floatOf(std::string text) {
  ParsedText parsed("x = " + text + "\n");
  return llvm::cast<Constant>(parsed.value())->number;
}

static llvm::APInt intOf(std::string text) {
  ParsedText parsed("x = " + text + "\n");
  return llvm::cast<Constant>(parsed.value())->integer();
}

static std::string textOf(std::string text) {
  ParsedText parsed("x = " + text + "\n");
  return llvm::cast<Constant>(parsed.value())->text.str();
}

TEST(SyntaxLiterals, IntsOfAnySize) {
  EXPECT_EQ(intOf("0").getZExtValue(), 0u);
  EXPECT_EQ(intOf("0_0").getZExtValue(), 0u);
  EXPECT_EQ(intOf("1_000").getZExtValue(), 1000u);
  EXPECT_EQ(intOf("0xDEAD_beef").getZExtValue(), 0xDEADBEEFu);
  EXPECT_EQ(intOf("0o17").getZExtValue(), 15u);
  EXPECT_EQ(intOf("0B101").getZExtValue(), 5u);
  llvm::APInt huge = intOf("340282366920938463463374607431768211456"); // 2**128
  EXPECT_EQ(huge.getActiveBits(), 129u);
  EXPECT_EQ(huge.countTrailingZeros(), 128u);
  EXPECT_EQ(intOf("0x1" + std::string(64, '0')).getActiveBits(), 257u);
}

TEST(SyntaxLiterals, IntsLeaveASignBit) {
  for (const char *text : {"0", "1", "255", "0xFFFFFFFFFFFFFFFF", "99999999999999999999"})
    EXPECT_FALSE(intOf(text).isNegative()) << text;
}

TEST(SyntaxLiterals, FloatsAreRoundedCorrectly) {
  EXPECT_EQ(floatOf("0.1"), 0.1);
  EXPECT_EQ(floatOf("1_0.2_5e-1_0"), 10.25e-10);
  EXPECT_EQ(floatOf("5."), 5.0);
  EXPECT_EQ(floatOf(".5"), 0.5);
  EXPECT_EQ(floatOf("5e-324"), 5e-324);
  EXPECT_EQ(floatOf("9007199254740993.0"), 9007199254740992.0); // halfway, to even
  EXPECT_EQ(floatOf("2.5j"), 2.5);
}

TEST(SyntaxLiterals, FloatsOutOfRangeAreInfiniteOrZero) {
  EXPECT_TRUE(std::isinf(floatOf("1e309")));
  EXPECT_TRUE(std::isinf(floatOf(std::string(400, '9') + ".0")));
  EXPECT_EQ(floatOf("1e-400"), 0.0);
  EXPECT_EQ(floatOf("0." + std::string(400, '0') + "1"), 0.0);
  EXPECT_EQ(floatOf("0e99999"), 0.0);
}

TEST(SyntaxLiterals, EscapesAreResolved) {
  EXPECT_EQ(textOf(R"('\\\'\"\a\b\f\n\r\t\v')"), "\\'\"\a\b\f\n\r\t\v");
  EXPECT_EQ(textOf(R"('\0\101\x41\u0041\U00000041\N{LATIN CAPITAL LETTER A}\N{latin small letter a}')"),
            std::string("\0AAAAAa", 7));
  EXPECT_EQ(textOf(R"('\400')"), "\xC4\x80");
  EXPECT_EQ(textOf(R"(b'\400\x80')"), std::string("\0\x80", 2));
  EXPECT_EQ(textOf(R"('\q\ ')"), "\\q\\ ");
  EXPECT_EQ(textOf(R"(b'\u0041\N')"), "\\u0041\\N");
  EXPECT_EQ(textOf(R"(r'\n\'')"), "\\n\\'");
  EXPECT_EQ(textOf("'a\\\nb\\\r\nc'"), "abc");
  EXPECT_EQ(textOf("'''a\r\nb\rc'''"), "a\nb\nc");
  EXPECT_EQ(textOf(R"('\udc80')"), "\xED\xB2\x80");
}

TEST(SyntaxLiterals, NeighboursAreJoined) {
  EXPECT_EQ(textOf("('a'\n 'b' \"\"\"c\"\"\")"), "abc");
  EXPECT_EQ(textOf("b'a' Rb'\\n'"), "a\\n");
}

TEST(SyntaxLiterals, FStringTextIsJoinedAroundFields) {
  ParsedText parsed("x = 'a' f'{{b}}{c}' 'd' f'' f'e{f!r:>4}'\n");
  const auto *joined = llvm::cast<JoinedStr>(parsed.value());
  ASSERT_EQ(joined->values.size(), 4u);
  EXPECT_EQ(llvm::cast<Constant>(joined->values[0])->text, "a{b}");
  EXPECT_EQ(llvm::cast<Constant>(joined->values[2])->text, "de");
  const auto *field = llvm::cast<FormattedValue>(joined->values[3]);
  EXPECT_EQ(field->conversion, 'r');
  EXPECT_EQ(llvm::cast<Constant>(field->formatSpec->values.front())->text, ">4");
}

TEST(SyntaxLiterals, NamesAreInternedOnce) {
  ParsedText parsed("x = abc + abc\n");
  const auto *sum = llvm::cast<BinOp>(parsed.value());
  EXPECT_EQ(llvm::cast<Name>(sum->left)->id.data(), llvm::cast<Name>(sum->right)->id.data());
}
