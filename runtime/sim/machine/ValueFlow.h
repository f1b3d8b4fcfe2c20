// How definedness passes from the operands of an instruction to its results.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace nereid::sim {

enum class ValueFlow : uint8_t {
  Any,      ///< undefined where any operand is
  All,      ///< undefined where all operands are: a mask may hide the undefined part of one
  Mask,     ///< as All, but a constant mask keeps some bits
  Select,   ///< of the operand that a predicate chooses
  Lanes,    ///< undefined where the operands of all lanes are
  Product,  ///< of matrices: rows and columns that are undefined
  Wave,     ///< as Product, for the lanes of a wave: Observer::onWaveProduct
  Defined,  ///< always defined
  Load,     ///< as defined as the memory
  Store,    ///< passes its operands to memory
  Matrices, ///< ldmatrix
};

} // namespace nereid::sim
