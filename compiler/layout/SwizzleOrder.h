// Assigns a direction of the tile to each bit of a shared-memory offset.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Layout.h"

namespace nereid::layout {

/// The bases of one side's inputs in the flattened tile.
struct TileThreads {
  BitColumns registers, lanes, warps;
  BitColumns spanned; ///< independent bases of lanes and warps
};
TileThreads threadsOf(const LinearLayout &layout);

/// A conversion, and the limits of its buffer.
struct SwizzleRequest {
  TileThreads store, load;
  BitColumns vectorStart; ///< the first directions of V
  unsigned tileBits = 0;
  unsigned elemBytes = 1;
  unsigned lineBits = 0;      ///< of an offset inside a line of all banks
  unsigned wordBits = 0;      ///< of an offset inside a bank's word
  unsigned maxVectorBits = 0; ///< of an offset inside the widest access
  unsigned repetitionBits = 0;
};

/// Which side has wider accesses than the other, and by how many bits.
struct Widening {
  bool isStore = false;
  unsigned bits = 0;
};

/// Directions of the tile, from the least significant offset bit.
struct SwizzleOrder {
  BitColumns common;  ///< V: registers of both sides
  BitColumns widened; ///< X: further registers of the wider side
  BitColumns inWord;  ///< N: the remaining bits of a bank's word
  BitColumns banks;
  BitColumns segments;    ///< S: lines of all banks
  BitColumns repetitions; ///< not part of the offset

  BitColumns all() const;
};

/// Chooses an order of the bits of offsets; nothing where the layouts do not allow such wide accesses. Without widening
/// there always is an order.
std::optional<SwizzleOrder> chooseOrder(const SwizzleRequest &request, Widening widening);

} // namespace nereid::layout
