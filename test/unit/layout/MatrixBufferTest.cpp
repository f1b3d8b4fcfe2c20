// Tests matrices in shared memory against the swizzling that PTX describes, computed by address.
// SPDX-License-Identifier: MIT
#include "compiler/layout/MatrixBuffer.h"
#include "compiler/layout/Distributed.h"

#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::layout;

/// The byte offset of an element: panels are adjacent, address bits from 4 on are XORed with those from 7 on.
static int64_t addressOf(const MatrixBuffer &buffer, int64_t rows, int64_t row, int64_t column) {
  const int64_t width = buffer.swizzleBytes ? buffer.swizzleBytes : 16, byte = column * buffer.elemBits / 8;
  const int64_t plain = byte / width * rows * width + row * width + byte % width;
  const int64_t phases = width / 16;
  return plain ^ (plain / 128 % phases * 16);
}

TEST(MatrixBuffer, AddressesAreThoseOfPtx) {
  for (unsigned swizzle : {0, 32, 64, 128})
    for (unsigned bits : {8, 16, 32})
      for (int64_t rows : {8, 16, 64, 256})
        for (int64_t columns : {4, 16, 32, 128})
          for (bool isTransposed : {false, true}) {
            const MatrixBuffer buffer = {swizzle, bits, isTransposed};
            if (columns < buffer.panelElems())
              continue;
            const llvm::SmallVector<int64_t> shape =
                isTransposed ? llvm::SmallVector<int64_t>{columns, rows} : llvm::SmallVector<int64_t>{rows, columns};
            const LinearLayout offsets = matrixBufferLayout(buffer, shape).invert();
            for (int64_t row = 0; row < rows; ++row)
              for (int64_t column = 0; column < columns; ++column) {
                const auto first = int32_t(isTransposed ? column : row), second = int32_t(isTransposed ? row : column);
                const int64_t offset = offsets.apply({{dimName(0), first}, {dimName(1), second}}).front();
                ASSERT_EQ(offset * bits / 8, addressOf(buffer, rows, row, column))
                    << swizzle << " bytes, " << bits << " bits, row " << row << ", column " << column;
              }
          }
}

TEST(MatrixBuffer, FurtherDimensionsAreOutermost) {
  const LinearLayout one = matrixBufferLayout({64, 16}, {8, 64}), three = matrixBufferLayout({64, 16}, {4, 8, 64});
  for (int32_t slice = 0; slice < 4; ++slice)
    for (int32_t offset = 0; offset < 8 * 64; ++offset) {
      const auto coordinates = three.apply({{kOffset, slice * 8 * 64 + offset}}),
                 inner = one.apply({{kOffset, offset}});
      ASSERT_EQ(coordinates, (LinearLayout::Coordinates{slice, inner[0], inner[1]}));
    }
}

TEST(MatrixBuffer, FewRowsContinueThePattern) {
  const LinearLayout flat = matrixBufferLayout({128, 16}, {16, 64}), few = matrixBufferLayout({128, 16}, {8, 2, 64});
  for (int32_t offset = 0; offset < 16 * 64; ++offset) {
    const auto row = flat.apply({{kOffset, offset}}), element = few.apply({{kOffset, offset}});
    ASSERT_EQ(row, (LinearLayout::Coordinates{element[0] * 2 + element[1], element[2]}));
  }
}

TEST(MatrixBuffer, PaddedFp4HasHalfOfEachChunk) {
  const LinearLayout layout = matrixBufferLayout({128, 8, false, true}, {8, 64});
  EXPECT_EQ(layout.inSize(kOffset), 8 * 128);
  EXPECT_EQ(layout.apply({{kOffset, 7}}), (LinearLayout::Coordinates{0, 7}));
  EXPECT_EQ(layout.apply({{kOffset, 8}}), (LinearLayout::Coordinates{0, 0}));
  EXPECT_EQ(layout.apply({{kOffset, 16}}), (LinearLayout::Coordinates{0, 8}));
  EXPECT_EQ(layout.apply({{kOffset, 128}}), (LinearLayout::Coordinates{1, 8}));
}

TEST(MatrixBuffer, AlignmentIsThatOfThePattern) {
  EXPECT_EQ((MatrixBuffer{128, 16}.alignmentBytes()), 1024u);
  EXPECT_EQ((MatrixBuffer{32, 8}.alignmentBytes()), 256u);
  EXPECT_EQ((MatrixBuffer{0, 16}.alignmentBytes()), 128u);
}
