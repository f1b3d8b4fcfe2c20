// Tests that signatures print and parse without loss, and that syntax errors have positions.
// SPDX-License-Identifier: MIT
#include "jit/Signature.h"

#include <gtest/gtest.h>

#include <random>

using namespace nereid::jit;

static Signature parsed(std::string_view text) {
  auto result = Signature::parse(text);
  if (auto *error = std::get_if<SignatureError>(&result)) {
    ADD_FAILURE() << text << ": " << error->text;
    return {};
  }
  return std::get<Signature>(result);
}

static std::string reprinted(std::string_view text) { return parsed(text).str(); }

static Signature random(std::mt19937 &rng);

static ArgumentSpec randomArgument(std::mt19937 &rng, int depth) {
  const auto type = static_cast<ScalarType>(1 + rng() % 18);
  const bool isInt = nereid::artifact::infoOf(type).isInteger();
  switch (rng() % (depth < 3 ? 6 : 5)) {
  case 0:
    return ArgumentSpec::pointer(type, int64_t{1} << rng() % 6, rng() % 2, rng() % 2);
  case 1:
    return ArgumentSpec::scalar(type, isInt ? int64_t{1} << rng() % 6 : 1);
  case 2: {
    static const char *const kPlain[] = {"1024", "None", "True", "'relu'", "-1.5e-3", "tl.float32"};
    return ArgumentSpec::constant(kPlain[rng() % 6]);
  }
  case 3: {
    // Fragments that form texts close to the grammar, and arbitrary bytes.
    static const char *const kTokens[] = {"(", ")",          ",", "'",  "\"",   "\\", "i32", ":16",
                                          " ", "constexpr<", ">", "\n", "\xff", "1",  "[",   "*"};
    std::string text;
    for (uint32_t n = rng() % 6; n > 0; --n)
      text += kTokens[rng() % 16];
    return ArgumentSpec::constant(text);
  }
  case 4:
    return ArgumentSpec::descriptor("fp16[64, 64]");
  default: {
    std::vector<ArgumentSpec> elements(rng() % 4);
    for (ArgumentSpec &element : elements)
      element = randomArgument(rng, depth + 1);
    return ArgumentSpec::tuple(std::move(elements));
  }
  }
}

static Signature random(std::mt19937 &rng) {
  Signature signature;
  for (uint32_t n = rng() % 5; n > 0; --n)
    signature.arguments.push_back(randomArgument(rng, 0));
  return signature;
}

TEST(Signature, prints_as_the_command_line_spells_it) {
  const Signature signature{
      {ArgumentSpec::pointer(ScalarType::Float32, 16), ArgumentSpec::pointer(ScalarType::Int8, 1, true),
       ArgumentSpec::scalar(ScalarType::Int32, 16), ArgumentSpec::constant("1"),
       ArgumentSpec::scalar(ScalarType::Int1), ArgumentSpec::constant("1024"), ArgumentSpec::none()}};
  EXPECT_EQ(signature.str(), "*fp32:16,*ki8,i32:16,1,u1,1024,None");
}

TEST(Signature, parses_what_people_write) {
  EXPECT_EQ(reprinted(" *fp32:16 , i32 ,\t1024 "), "*fp32:16,i32,1024");
  EXPECT_EQ(reprinted(""), "");
  EXPECT_EQ(reprinted("i32:1"), "1");
  EXPECT_EQ(reprinted("*fp32:8,i64:32,*fp32:1"), "*fp32:8,i64:32,*fp32");
  EXPECT_EQ(reprinted("*fp32:S:16,*ki8:S,(*fp16:16:S,)"), "*fp32:16:S,*ki8:S,(*fp16:16:S,)");
  EXPECT_EQ(reprinted("i1,B"), "u1,u1");
  EXPECT_EQ(reprinted("-3,+4,0x1F,1e-5,.5,1_000,-inf,nan"), "-3,+4,0x1F,1e-5,.5,1_000,-inf,nan");
  EXPECT_EQ(reprinted("'a,b',\"c'd\",True"), "'a,b',\"c'd\",True");
  EXPECT_EQ(reprinted("(i32,*fp16:16),(1,),()"), "(i32, *fp16:16),(1,),()");
  EXPECT_EQ(reprinted("(fp32)"), "fp32");
  EXPECT_EQ(reprinted("[1, (2, 3)],tl.float32,float('nan')"), "[1, (2, 3)],tl.float32,float('nan')");
  EXPECT_EQ(reprinted("tensordesc<fp16[64, 64]>"), "tensordesc<fp16[64, 64]>");
}

TEST(Signature, constant_that_reads_as_something_else_is_quoted) {
  const auto print = [](const char *text) { return Signature{{ArgumentSpec::constant(text)}}.str(); };
  EXPECT_EQ(print("i32"), "constexpr<\"i32\">");
  EXPECT_EQ(print("a,b"), "constexpr<\"a,b\">");
  EXPECT_EQ(print(""), "constexpr<\"\">");
  EXPECT_EQ(print("\"\\\n"), "constexpr<\"\\\"\\\\\\x0a\">");
}

TEST(Signature, any_signature_survives_text) {
  std::mt19937 rng(7);
  for (int round = 0; round < 4000; ++round) {
    const Signature signature = random(rng);
    const std::string text = signature.str();
    ASSERT_EQ(parsed(text), signature) << text;
  }
}

TEST(Signature, any_text_is_read_or_refused) {
  static constexpr std::string_view kBytes = "*kfpi321648:,()[]{}'\"\\<> .-+eNTxtensordescconstexpr";
  std::mt19937 rng(10);
  for (int round = 0; round < 10000; ++round) {
    std::string text;
    for (uint32_t n = rng() % 24; n > 0; --n)
      text += kBytes[rng() % kBytes.size()];
    const auto result = Signature::parse(text);
    if (const auto *error = std::get_if<SignatureError>(&result)) {
      ASSERT_LE(error->offset, text.size()) << text;
      ASSERT_FALSE(error->text.empty());
    } else {
      const auto &signature = std::get<Signature>(result);
      ASSERT_EQ(parsed(signature.str()), signature) << text;
    }
  }
}

struct ErrorCase {
  const char *text;
  size_t offset, length;
  const char *code, *message;
};

TEST(Signature, errors_say_where_and_what) {
  const ErrorCase cases[] = {
      {"*fp32,i23", 6, 3, "signature-type", "`i23` is no known type; did you mean `i32`?"},
      {"*float32", 1, 7, "signature-type", "`float32` is no known type; did you mean `fp32`?"},
      {"relu_like", 0, 9, "signature-type", "`relu_like` is no known type; a string constant is written in quotes"},
      {"i32,constexpr", 4, 9, "signature-type", "`constexpr` is no known type; write the constant's value itself"},
      {"*fp32:12", 5, 3, "signature-attribute",
       "`:12` does not go with `*fp32`; a pointer takes `:16` or another power of 2, and `:S`"},
      {"i32:x", 3, 2, "signature-attribute", "`:x` does not go with `i32`; an integer takes `:1`, `:16` or another power of 2"},
      {"fp32:16", 4, 3, "signature-attribute", "`:16` does not go with `fp32`; a float or bool takes nothing"},
      {"i32,,i32", 4, 1, "signature-syntax", "an argument is missing here"},
      {"i32,", 4, 1, "signature-syntax", "an argument is missing here"},
      {"i32 i32", 4, 1, "signature-syntax", "`i` is unexpected; arguments are separated by `,`"},
      {"12ab", 0, 4, "signature-syntax", "`12ab` is no number"},
      {"'abc", 0, 1, "signature-syntax", "the string is never closed"},
      {"(i32,", 0, 1, "signature-syntax", "`(` is never closed"},
      {"[1,(2]", 0, 1, "signature-syntax", "`[` is never closed"},
      {"tensordesc<fp16", 0, 10, "signature-syntax", "`tensordesc<` is never closed"},
      {"constexpr<1>", 0, 10, "signature-syntax", "`constexpr<` takes a string in double quotes and `>`"},
      {"@", 0, 1, "signature-syntax", "`@` begins no type and no constant"},
  };
  for (const ErrorCase &expected : cases) {
    const auto result = Signature::parse(expected.text);
    const auto *error = std::get_if<SignatureError>(&result);
    ASSERT_NE(error, nullptr) << expected.text;
    EXPECT_EQ(error->code, expected.code) << expected.text;
    EXPECT_EQ(error->text, expected.message);
    EXPECT_EQ(error->offset, expected.offset) << expected.text;
    EXPECT_EQ(error->length, expected.length) << expected.text;
  }
}

TEST(Signature, deep_tuples_are_refused) {
  const auto result = Signature::parse(std::string(100000, '('));
  const auto *error = std::get_if<SignatureError>(&result);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->code, "signature-depth");
}
