// Accesses to memory: from the addresses of an instruction to the host's memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Observer.h"

#include <bit>

namespace nereid::sim {

/// The space that a generic address points to; Generic: none.
Space spaceOfAddress(Space space, uint64_t address);

/// The host's addresses of an access, by lane.
using HostAddresses = char *[kLanes];

/// An access of the active lanes at a register with addresses plus an offset, with the instruction's order.
class LaneAccess : public MemoryAccess {
public:
  LaneAccess(Warp &warp, const Instruction &instruction, Space space, uint32_t slot, uint64_t offset, uint32_t bytes);
  LaneAccess(const LaneAccess &) = delete;
  LaneAccess &reading() { return reads = true, *this; }
  LaneAccess &writing() { return writes = true, *this; }
  LaneAccess &updating() { return reads = writes = isAtomic = true, *this; }
  /// Translates; false after a failure. Addresses are multiples of `alignment`, 0: of the bytes.
  [[nodiscard]] bool resolve(Warp &warp, uint32_t alignment = 0);

  /// After an atomic operation: whether it has changed memory, and has no result. Returns how the warp goes on.
  Step noteUpdate(Warp &warp, bool changes, bool isReduction) const;

  uint64_t values[kLanes];
  HostAddresses memory;

private:
  bool isGlobal() const { return lanes && spaceOfAddress(space, values[std::countr_zero(lanes)]) == Space::Global; }
};

/// Translates the addresses of all lanes into `host`, checks that they are memory and multiples of `alignment`, and
/// tells the observers; false after a failure. `access.host` points to `host` then.
[[nodiscard]] bool resolve(Warp &warp, MemoryAccess &access, uint32_t alignment, HostAddresses &host);

/// Tells the observers of an access with addresses that are known to be valid; false after a failure.
[[nodiscard]] bool notify(Warp &warp, const MemoryAccess &access);

/// The host's address of `bytes` bytes, without an observer; null after a failure.
char *translate(Warp &warp, const Instruction &instruction, Space space, uint64_t address, unsigned lane,
                unsigned bytes, uint32_t alignment = 1);

/// The host's address of shared memory; null where there is none.
char *findShared(const Warp &warp, uint64_t address, unsigned bytes);

/// An asynchronous operation that a lane has issued.
struct AsyncOperation {
  Warp *warp = nullptr;
  const Instruction *instruction = nullptr;
  uint64_t operation = 0; ///< a number of the cluster's
  unsigned lane = 0;

  bool isObserved() const { return warp->cta->cluster->isObserved; }
  /// What is told of one of its accesses, without addresses and direction.
  MemoryAccess access(Stage stage, Space space, uint32_t bytes, Proxy proxy = Proxy::Async) const;
};

/// Tells the observers of the pieces of an asynchronous operation, whose addresses are known to be valid.
class Pieces {
public:
  /// `kind` has all but addresses and lanes.
  Pieces(Warp &warp, const MemoryAccess &kind) : warp(warp), access(kind) {}
  /// False after a failure.
  [[nodiscard]] bool add(uint64_t address, char *memory);
  [[nodiscard]] bool flush();

private:
  Warp &warp;
  MemoryAccess access;
  unsigned count = 0;
  uint64_t values[kLanes];
  HostAddresses memory;
};

} // namespace nereid::sim
