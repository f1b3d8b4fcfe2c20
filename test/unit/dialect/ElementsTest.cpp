// Sizes of elements of tiles in memory, which come from bits.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"

#include "compiler/dialect/tt/Dialect.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace nereid;

TEST(Elements, sizes_come_from_the_table) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<tt::TtDialect>();
  for (const artifact::ElementInfo &info : artifact::kElementTypes) {
    if (info.kind == artifact::ElementKind::None)
      continue;
    const Type type = tt::irTypeOf(info.type, &context);
    for (const int64_t count : {1, 3, 8, 17})
      EXPECT_EQ(tt::storageBytes(type, count), int64_t(artifact::storageBytes(info.type, count))) << info.name;
    EXPECT_EQ(tt::tileBytes(RankedTensorType::get({2, 8}, type)), tt::storageBytes(type, 16)) << info.name;
  }
}

TEST(Elements, pointers_and_unsigned_integers_have_sizes) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<tt::TtDialect>();
  const Type half = Float16Type::get(&context);
  EXPECT_EQ(tt::storageBytes(tt::PointerType::get(half, 1)), 8u);
  EXPECT_EQ(tt::storageBytes(IndexType::get(&context)), 8u);
  EXPECT_EQ(tt::storageBytes(IntegerType::get(&context, 1)), 1u);
  EXPECT_EQ(tt::storageBytes(IntegerType::get(&context, 16, IntegerType::Unsigned), 3), 6);
}
