// The table of element types: rows agree with each other, names and codes lead back to them.
// SPDX-License-Identifier: MIT
#include "artifact/ElementType.h"

#include <gtest/gtest.h>

using namespace nereid::artifact;

TEST(ElementType, floats_have_a_sign_an_exponent_and_a_mantissa) {
  for (const ElementInfo &info : kElementTypes)
    EXPECT_EQ(info.isFloat() ? 1 + info.exponentBits + info.mantissaBits : info.bits, info.bits) << info.name;
}

TEST(ElementType, names_lead_back_to_the_row) {
  for (const ElementInfo &info : kElementTypes) {
    EXPECT_EQ(&infoOf(info.type), &info);
    if (info.kind == ElementKind::None)
      continue;
    EXPECT_EQ(elementOfSignature(info.signature), info.type);
    EXPECT_EQ(elementNamed(info.name), info.type) << info.name;
  }
  EXPECT_EQ(elementNamed("half"), ElementType::Float16);
  EXPECT_EQ(elementNamed("bool_"), ElementType::Int1);
  EXPECT_EQ(elementNamed("uint1"), ElementType::Int1);
  EXPECT_EQ(elementNamed("float8_e4m3fn"), ElementType::Float8E4NV);
}

TEST(ElementType, other_texts_are_no_types) {
  for (const char *text : {"", "void", "BF16", "bool uint1", "bool_ ", "fp", "float128"}) {
    EXPECT_EQ(elementOfSignature(text), std::nullopt) << text;
    EXPECT_EQ(elementNamed(text), std::nullopt) << text;
  }
  EXPECT_EQ(elementOfSignature("float32"), std::nullopt);
  EXPECT_EQ(elementNamed("fp32"), std::nullopt);
  EXPECT_EQ(elementOfSignature("B"), ElementType::Int1);
  EXPECT_EQ(elementOfSignature("i1"), ElementType::Int1);
}

TEST(ElementType, codes_of_DLPack_lead_back_to_the_row) {
  for (const ElementInfo &info : kElementTypes)
    if (info.dlpackCode >= 0)
      EXPECT_EQ(elementOfDlpack(static_cast<unsigned>(info.dlpackCode), info.storageBits()), info.type) << info.name;
  EXPECT_EQ(elementOfDlpack(2, 8), std::nullopt);
  EXPECT_EQ(elementOfDlpack(6, 1), std::nullopt);
  EXPECT_EQ(elementOfDlpack(0, 128), std::nullopt);
  EXPECT_EQ(elementOfDlpack(0, 24), std::nullopt);
  EXPECT_EQ(elementOfDlpack(200, 8), std::nullopt);
}

TEST(ElementType, integers_by_width) {
  EXPECT_EQ(integerElement(true, 16), ElementType::Int16);
  EXPECT_EQ(integerElement(false, 64), ElementType::UInt64);
  EXPECT_EQ(integerElement(false, 1), std::nullopt);
}

TEST(ElementType, a_bool_takes_a_byte) {
  EXPECT_EQ(storageBytes(ElementType::Int1, 3), 3u);
  EXPECT_EQ(storageBytes(ElementType::BFloat16, 3), 6u);
  EXPECT_EQ(bytesOfBits(4 * 3), 2u);
}
