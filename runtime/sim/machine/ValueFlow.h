// How definedness passes from the operands of an instruction to its results.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace nereid::sim {

enum class ValueFlow : uint8_t {
  Any,      ///< undefined where any operand is
  All,      ///< undefined where all operands are: a mask may hide the undefined part of one
  Mask,     ///< the same, but a constant mask keeps some bits
  Select,   ///< of the operand that a predicate chooses
  Lanes,    ///< undefined where the operands of all lanes are
  Product,  ///< of matrices: rows and columns that are undefined
  Wave,     ///< the same for the lanes of a wave: Observer::onWaveProduct
  Defined,  ///< always defined
  Load,     ///< what the memory holds
  Store,    ///< passes its operands to memory
  Matrices, ///< ldmatrix
};

} // namespace nereid::sim
