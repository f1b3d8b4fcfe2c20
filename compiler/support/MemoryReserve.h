// Keeps compilations from being torn out of LLVM by an allocation that fails.
// SPDX-License-Identifier: MIT
#pragma once

#include "process/AddressSpace.h"

namespace nereid::support {

/// A reserve of address space for the work of one thread, while the address space is limited. When an allocation of
/// that thread fails, the reserve is given back and the allocation succeeds; the work then ends at the next point at
/// which it holds no lock and asks `isMemoryShort`. Within the lifetime of one, another one for the same thread is the
/// same.
class MemoryReserve {
public:
  MemoryReserve();
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve &) = delete;
  MemoryReserve &operator=(const MemoryReserve &) = delete;

private:
  friend bool isMemoryShort();
  friend bool openMemoryReserve();
  bool open();

  const bool isLimited;
  bool isOpen = false;
  process::ReservedSpace space;
  bool isOutermost;
};

/// Whether this thread's work has begun to use its reserve, or is about to.
bool isMemoryShort();

/// Why memory is short, for messages: a limit of the address space, where there is one.
const char *reasonOfShortage();

/// For the handler of failed allocations: whether it is worth trying again.
bool openMemoryReserve();

/// Called before an exception leaves through frames that have no clean-up; may leave by a jump instead.
void setLastResort(void (*leave)());

/// After LLVM was left inside a failed allocation, locks of the process may stay locked: nothing can be compiled.
void loseCompiler();
bool isCompilerLost();

} // namespace nereid::support
