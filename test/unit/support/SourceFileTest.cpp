// Tests the mapping between bytes and lines and columns of the user's file.
// SPDX-License-Identifier: MIT
#include "compiler/support/SourceFile.h"

#include "gtest/gtest.h"

using namespace nereid::support;

TEST(SourceFile, EveryLineEndStartsALine) {
  SourceFile file("k.py", "a\nb\r\nc\rd");
  EXPECT_EQ(file.position(0), (LineColumn{1, 1}));
  EXPECT_EQ(file.position(2), (LineColumn{2, 1}));
  EXPECT_EQ(file.position(5), (LineColumn{3, 1}));
  EXPECT_EQ(file.position(7), (LineColumn{4, 1}));
  EXPECT_EQ(file.text(file.lineAround(3)), "b");
  EXPECT_EQ(file.text(file.lineAround(7)), "d");
}

TEST(SourceFile, PlacesPastTheEndAreTheEnd) {
  SourceFile file("k.py", "ab\n");
  EXPECT_EQ(file.position(3), (LineColumn{2, 1}));
  EXPECT_EQ(file.position(4000), (LineColumn{2, 1}));
  EXPECT_EQ(SourceFile("k.py", "").position(0), (LineColumn{1, 1}));
}

TEST(SourceFile, CutOutKnowsItsOrigin) {
  SourceFile file("k.py", "a\n  b\n", {.firstLine = 10, .removedColumns = 4});
  EXPECT_EQ(file.position(4), (LineColumn{11, 7}));
  EXPECT_EQ(file.offset({11, 7}), 4u);
  EXPECT_EQ(file.offset({9, 5}), std::nullopt);
  EXPECT_EQ(file.offset({10, 4}), std::nullopt);
}

TEST(SourceFile, OffsetIsTheInverseOfPosition) {
  SourceFile file("k.py", "ab\n\r\n\xC3\xA9 c\nd", {.firstLine = 3, .removedColumns = 2});
  for (uint32_t offset = 0; offset <= file.text().size(); ++offset)
    if (offset == file.text().size() || (file.text()[offset] != '\n'))
      EXPECT_EQ(file.offset(file.position(offset)), offset);
  EXPECT_EQ(file.offset({3, 6}), std::nullopt);
  EXPECT_EQ(file.offset({99, 3}), std::nullopt);
}
