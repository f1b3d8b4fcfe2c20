// What the matrix unit of four warps is asked to do.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Value.h"

#include <cstdint>

namespace nereid::lowering {

enum class WgmmaElement : uint8_t { F16, BF16, TF32, E4M3, E5M2, Int8 };

constexpr unsigned bitsOf(WgmmaElement element) {
  switch (element) {
  case WgmmaElement::F16:
  case WgmmaElement::BF16:
    return 16;
  case WgmmaElement::TF32:
    return 32;
  case WgmmaElement::E4M3:
  case WgmmaElement::E5M2:
  case WgmmaElement::Int8:
    return 8;
  }
  return 0;
}

/// One instruction: 64 rows, 32 bytes of depth.
struct WgmmaInstruction {
  unsigned firstAccumulator; ///< of the columns / 2 sums of a thread that it adds to
  uint32_t left;             ///< chunks of 16 bytes from the left matrix's start, or the first of four words of it
  uint32_t right;            ///< chunks from the right matrix's start
  bool isFirst;              ///< the first instruction for these sums
};

/// Steps issued one after the other. A matrix in shared memory is given by a descriptor: where it starts and how its
/// chunks follow each other, as the instruction takes it.
struct WgmmaDot {
  WgmmaElement leftElement, rightElement;
  unsigned columns;                      ///< of an instruction
  bool isLeftMMajor = false;             ///< the left matrix's rows in memory run along M, not along K
  bool isRightNMajor = false;            ///< the right one's along N
  llvm::Value *leftDescriptor = nullptr; ///< i64; null: words
  llvm::SmallVector<llvm::Value *> leftWords;
  llvm::Value *rightDescriptor = nullptr;
  llvm::SmallVector<WgmmaInstruction> steps;
  unsigned numAccumulators = 0;
  llvm::ArrayRef<llvm::Value *> accumulators; ///< f32 or i32 that products are added to; empty: zeros
  llvm::Value *useAccumulators = nullptr;     ///< i1: whether they are added to, null: yes
  bool waits = true;                          ///< for the results
};

} // namespace nereid::lowering
