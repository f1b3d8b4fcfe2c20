// Tests that types print, mangle and parse as in messages, function names and signatures.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Type.h"

#include "gtest/gtest.h"

using namespace nereid::sema;

TEST(Type, SignaturesRoundTrip) {
  for (llvm::StringRef text : {"i8", "i64", "u1", "u16", "fp16", "bf16", "fp64", "*fp32", "*i1", "*kfp32"})
    EXPECT_TRUE(Type::fromSignature(text).has_value()) << text.str();
  for (llvm::StringRef text : {"", "*", "**fp32", "void", "int32", "k", "fp31", "*k"})
    EXPECT_FALSE(Type::fromSignature(text).has_value()) << text.str();
  EXPECT_EQ(*Type::fromSignature("B"), Type(Scalar::Int1));
  EXPECT_EQ(*Type::fromSignature("*kfp16"), Type::pointerTo(Scalar::Float16, true));
}

TEST(Type, TextNamesElementAndShape) {
  EXPECT_EQ(Type(Scalar::Int32).str(), "int32");
  EXPECT_EQ(Type(Scalar::BFloat16).withShape({16, 32}).str(), "bf16[16, 32]");
  EXPECT_EQ(Type::pointerTo(Scalar::Float32).str(), "pointer<fp32>");
  EXPECT_EQ(Type::pointerTo(Scalar::Float32, true).withShape({4}).str(), "const_pointer<fp32>[4]");
}

TEST(Type, MangledNamesDiffer) {
  EXPECT_EQ(Type(Scalar::UInt8).mangle(), "u8");
  EXPECT_EQ(Type(Scalar::Float32).withShape({16, 32}).mangle(), "fp32S16_32S");
  EXPECT_EQ(Type::pointerTo(Scalar::Float32).mangle(), "Pfp32");
  EXPECT_NE(Type::pointerTo(Scalar::Float32, true).mangle(), Type::pointerTo(Scalar::Float32).mangle());
}

TEST(Type, BoolCountsAsUnsigned) {
  EXPECT_TRUE(isUnsignedInteger(Scalar::Int1));
  EXPECT_TRUE(isInteger(Scalar::Int1));
  EXPECT_FALSE(isSignedInteger(Scalar::Int1));
  EXPECT_FALSE(isInteger(Scalar::Float32));
  EXPECT_FALSE(isInteger(Scalar::Void));
  EXPECT_EQ(integerOf(64, false), Scalar::UInt64);
}
