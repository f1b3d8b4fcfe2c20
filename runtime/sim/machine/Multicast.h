// Multicast memory: addresses that stand for the same memory of several simulated GPUs, for `multimem` instructions
// alone.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace nereid::sim {

struct MulticastMemory {
  uint64_t begin = 0, bytes = 0;
  std::vector<uint64_t> members; ///< the address in the memory of each GPU
};

/// The first address of new multicast memory. Other instructions than `multimem` cannot access it.
uint64_t addMulticast(std::vector<uint64_t> members, uint64_t bytes);
void removeMulticast(uint64_t begin);
/// The memory that the address is in; null where there is none.
std::shared_ptr<const MulticastMemory> findMulticast(uint64_t address);

} // namespace nereid::sim
