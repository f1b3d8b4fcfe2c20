// Describes the wgmma instructions of a warp-group dot.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Value.h"

#include <cstdint>

namespace nereid::nvidia {

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

/// One wgmma instruction: 64 rows, 32 bytes along k.
struct WgmmaInstruction {
  unsigned firstAccumulator; ///< of the thread's columns / 2 accumulators
  uint32_t left;             ///< offset in the left matrix in chunks of 16 bytes, or index of its first word
  uint32_t right;            ///< offset in the right matrix in chunks
  bool isFirst;              ///< the first instruction for these accumulators
};

/// Instructions issued in sequence. A matrix in shared memory is given by the instruction's descriptor: its start and
/// the strides of its chunks.
struct WgmmaDot {
  WgmmaElement leftElement, rightElement;
  unsigned columns;                      ///< of an instruction
  bool isLeftMMajor = false;             ///< the left matrix is contiguous along M, not along K
  bool isRightNMajor = false;            ///< the right matrix is contiguous along N
  llvm::Value *leftDescriptor = nullptr; ///< i64; null: operand in words
  llvm::SmallVector<llvm::Value *> leftWords;
  llvm::Value *rightDescriptor = nullptr;
  llvm::SmallVector<WgmmaInstruction> steps;
  unsigned numAccumulators = 0;
  llvm::ArrayRef<llvm::Value *> accumulators; ///< f32 or i32; empty: zeros
  llvm::Value *useAccumulators = nullptr;     ///< i1, whether accumulators are added; null: yes
  bool waits = true;                          ///< whether to wait for the results
};

} // namespace nereid::nvidia
