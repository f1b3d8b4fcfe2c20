// The maps of AMD's matrix instruction calculator: which element is in which lane and register.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace nereid::layout {

/// Row and column.
using MatrixElement = std::pair<unsigned, unsigned>;

/// One operand or the result: the XOR of the bases of a register's and a lane's bits. Elements of fewer than 32 bits
/// are parts of registers, the low one first, and count as registers here.
struct AmdMatrixMap {
  std::vector<MatrixElement> ofRegister, ofLane;

  unsigned numRegisters() const { return 1u << ofRegister.size(); }
  unsigned numLanes() const { return 1u << ofLane.size(); }
  MatrixElement elementAt(unsigned lane, unsigned index) const {
    MatrixElement sum = {0, 0};
    auto add = [&](const std::vector<MatrixElement> &bases, unsigned number) {
      for (size_t bit = 0; bit < bases.size(); ++bit)
        if (number >> bit & 1)
          sum.first ^= bases[bit].first, sum.second ^= bases[bit].second;
    };
    add(ofRegister, index), add(ofLane, lane);
    return sum;
  }
};

struct AmdInstructionMaps {
  std::string generation;  ///< "CDNA3"
  std::string instruction; ///< as the calculator spells it
  std::string left, right; ///< element types; fp8 is the format of four exponent bits, bf8 that of five
  AmdMatrixMap a, b, d;

  unsigned rows() const { return extentOf(a, &MatrixElement::first); }
  unsigned depth() const { return extentOf(a, &MatrixElement::second); }

private:
  static unsigned extentOf(const AmdMatrixMap &map, unsigned MatrixElement::*coordinate) {
    unsigned bits = 0;
    for (const auto *bases : {&map.ofRegister, &map.ofLane})
      for (const MatrixElement &basis : *bases)
        bits |= basis.*coordinate;
    return bits + 1;
  }
};

inline const std::vector<AmdInstructionMaps> &amdInstructionMaps() {
  static const std::vector<AmdInstructionMaps> maps = {
#include "test/unit/layout/AmdMatrixMaps.inc"
  };
  return maps;
}

} // namespace nereid::layout
