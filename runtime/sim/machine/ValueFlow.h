// How definedness passes from the operands of an instruction to its results, by opcode.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

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

inline ValueFlow flowOf(std::string_view opcode) {
  constexpr struct {
    std::string_view opcode;
    ValueFlow flow;
  } known[] = {{"and", ValueFlow::Mask},          {"or", ValueFlow::All},        {"lop3", ValueFlow::All},
               {"prmt", ValueFlow::All},          {"bfi", ValueFlow::All},       {"mov", ValueFlow::All},
               {"setp", ValueFlow::All},          {"selp", ValueFlow::Select},   {"shfl", ValueFlow::Lanes},
               {"movmatrix", ValueFlow::Lanes},   {"mma", ValueFlow::Product},   {"wgmma", ValueFlow::Defined},
               {"vote", ValueFlow::Defined},      {"match", ValueFlow::Defined}, {"redux", ValueFlow::Defined},
               {"elect", ValueFlow::Defined},     {"atom", ValueFlow::Defined},  {"red", ValueFlow::Defined},
               {"ld", ValueFlow::Load},           {"ldu", ValueFlow::Load},      {"st", ValueFlow::Store},
               {"ldmatrix", ValueFlow::Matrices}, {"stmatrix", ValueFlow::Store}};
  for (const auto &entry : known)
    if (entry.opcode == opcode)
      return entry.flow;
  return ValueFlow::Any;
}

} // namespace nereid::sim
