// Decides how a dot's operands are multiplied: by vectors, by pairs or fours of narrow elements, or by matrix tiles.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

namespace nereid::cpu {

/// Properties of the machine that dots depend on.
struct DotMachine {
  unsigned registerBits = 512;
  bool hasVnni = false;       ///< products of four bytes, or of two 16-bit integers, are summed by one instruction
  bool hasAvx512Bf16 = false; ///< so are products of two bf16; its instruction also rounds to bf16
  bool hasAmxBf16 = false;
  bool hasAmxInt8 = false;
};

struct DotForm {
  unsigned group = 1;     ///< elements adjacent along K that one lane multiplies at once
  bool usesTiles = false; ///< of AMX
  /// One factor of the instruction is unsigned: `a` gets 128 added, and the result loses 128 times the sums of `b`.
  bool needsUnsignedA() const { return group == 4 && !usesTiles; }
};

/// The form of a dot if its operands had elements of this type; groups of one where the machine has no instruction for
/// them.
DotForm dotForm(tt::DotOp dot, mlir::Type element, const DotMachine &machine);
DotForm dotForm(tt::DotOp dot, const DotMachine &machine);

} // namespace nereid::cpu
