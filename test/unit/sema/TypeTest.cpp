// Tests that types print, mangle and parse as in messages, function names and signatures.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Type.h"

#include "compiler/dialect/tt/TypeName.h"
#include "compiler/driver/Compiler.h"

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

// Messages of passes and targets name types of the IR, which has neither signs nor const nor fp8e4b15.
TEST(Type, TypesOfTheIrHaveTheSameNames) {
  using nereid::tt::userName;
  const auto context = nereid::driver::createContext();
  const Scalar scalars[] = {Scalar::Void,       Scalar::Int1,       Scalar::Int8,     Scalar::Int16,
                            Scalar::Int32,      Scalar::Int64,      Scalar::Float8E5, Scalar::Float8E5B16,
                            Scalar::Float8E4NV, Scalar::Float8E4B8, Scalar::Float16,  Scalar::BFloat16,
                            Scalar::Float32,    Scalar::Float64};
  for (Scalar scalar : scalars)
    EXPECT_EQ(userName(Type(scalar).toMlir(context.get())), Type(scalar).str());
  const Type tile = Type(Scalar::Float32).withShape({16, 32}), pointers = Type::pointerTo(Scalar::Int8).withShape({4});
  for (const Type &type : {tile, pointers, tile.asDescriptor(), Type(Scalar::UInt16).withShape({8, 8}).asDescriptor()})
    EXPECT_EQ(userName(type.toMlir(context.get())), type.str());
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
