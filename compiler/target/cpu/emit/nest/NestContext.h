// What the emitters of one nest share besides those of its kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/nest/NestLevels.h"

namespace nereid::cpu {

class AddressEmitter;
class ElementEmitter;
class MemoryEmitter;

/// An element, or the elements of a chunk's lanes.
struct Element {
  llvm::Value *value = nullptr;
  bool isVector = false;
  explicit operator bool() const { return value; }
};

/// Memory that a chunk reads or writes.
struct ChunkAccess {
  llvm::Value *address = nullptr; ///< the first lane's; a vector of addresses where the access is not affine
  llvm::Value *stride = nullptr;  ///< bytes from lane to lane; null for a vector of addresses
  /// The bytes from the first lane to the last where one remainder in a vector of addresses, which are adjacent but for
  /// it, does not wrap between them; 0 for other accesses.
  int64_t unwrappedBytes = 0;
};

/// Parts of the loop over the vector dimension, as NestEmitter.h says.
enum class NestPart : uint8_t { Main, Masked, Inactive };

/// The elements that the code at the insert point is for.
struct Chunk {
  unsigned lanes;
  NestPart part = NestPart::Main;
  bool isOneInactive = false;       ///< one element, whose value all inactive lanes share
  bool isFirstLane = false;         ///< the first lane alone
  bool isStreaming = false;         ///< stores bypass the cache
  std::optional<bool> isInPrefix{}; ///< in a part of the loop over the axis inside of a chunk
  uint32_t boundedDims = 0;         ///< outer dimensions whose loop ends where their prefix does, as a bit set
};

/// Refers to the state of one nest; owns nothing.
struct NestContext : EmitContext {
  const Nest &nest;
  NestLevels &levels;
  Chunk &chunk;
  AddressEmitter &addresses;
  ElementEmitter &elements;
  MemoryEmitter &memory;

  IndexMap identity() const { return identityMap(nest.shape.size()); }
  /// Whether the elements at these indices are evaluated as a vector of the chunk's lanes.
  bool isVector(const IndexMap &map) const {
    return chunk.lanes > 1 && !chunk.isFirstLane && !chunk.isOneInactive && llvm::is_contained(map, nest.vectorDim);
  }
  llvm::Value *asVector(Element element) const {
    return element.isVector || chunk.lanes == 1 ? element.value : ir.CreateVectorSplat(chunk.lanes, element.value);
  }
  /// 0, 1, ...: the number of each lane.
  llvm::Constant *laneNumbers(llvm::Type *type) const {
    llvm::SmallVector<llvm::Constant *> numbers;
    for (unsigned lane = 0; lane < chunk.lanes; ++lane)
      numbers.push_back(llvm::ConstantInt::get(type, lane));
    return llvm::ConstantVector::get(numbers);
  }
};

} // namespace nereid::cpu
