// The simulator's tables of matrix instructions against the maps of AMD's calculator, element by element.
// SPDX-License-Identifier: MIT
#include "runtime/sim/amd/Matrix.h"
#include "test/unit/layout/AmdMatrixMaps.h"

#include "gtest/gtest.h"

using namespace nereid;

TEST(SimAmdMatrixTables, areThoseOfTheCalculator) {
  for (const layout::AmdInstructionMaps &maps : layout::amdInstructionMaps()) {
    SCOPED_TRACE(maps.generation + " " + maps.instruction);
    const std::string family = maps.generation == "RDNA3" ? "gfx11" : maps.generation == "RDNA4" ? "gfx12" : "mfma";
    const std::string rows = std::to_string(maps.rows());
    const std::string name = "m" + rows + "n" + rows + "k" + std::to_string(maps.depth());
    const std::string type = maps.left == "fp8" ? "e4m3" : maps.left == "bf8" ? "e5m2" : maps.left;
    sim::AmdElement element{};
    ASSERT_TRUE(sim::amdElementOf(type, element));
    const auto row = sim::findMatrixShape(family, name, element);
    ASSERT_TRUE(row) << name;
    const sim::MatrixShape &shape = sim::matrixShape(*row);
    ASSERT_EQ(shape.lanes, maps.d.numLanes());
    ASSERT_EQ(shape.elementsOfLane(), maps.a.numRegisters());
    ASSERT_EQ(shape.elementsOfLane(), maps.b.numRegisters());
    ASSERT_EQ(shape.resultsOfLane(), maps.d.numRegisters());
    for (unsigned lane = 0; lane < shape.lanes; ++lane) {
      for (unsigned index = 0; index < shape.elementsOfLane(); ++index) {
        const sim::OperandPlace place = shape.operandPlace(lane, index);
        EXPECT_EQ(layout::MatrixElement(place.major, place.k), maps.a.elementAt(lane, index)) << lane << ", " << index;
        EXPECT_EQ(layout::MatrixElement(place.k, place.major), maps.b.elementAt(lane, index)) << lane << ", " << index;
      }
      for (unsigned index = 0; index < shape.resultsOfLane(); ++index) {
        const sim::ResultPlace place = shape.resultPlace(lane, index);
        EXPECT_EQ(layout::MatrixElement(place.row, place.column), maps.d.elementAt(lane, index))
            << lane << ", " << index;
      }
    }
  }
}
