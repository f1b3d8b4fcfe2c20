// Maps pages without access, which cost address space alone, and unmaps them.
// SPDX-License-Identifier: MIT
#include "process/AddressSpace.h"

#include <sys/mman.h>
#include <sys/resource.h>

namespace nereid::process {

bool isAddressSpaceLimited() {
  rlimit limit;
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool hasAddressSpace(size_t bytes) { return !isAddressSpaceLimited() || ReservedSpace(bytes).isTaken(); }

ReservedSpace::ReservedSpace(size_t bytes) : bytes(bytes) {
  if (bytes == 0)
    return;
  void *mapped = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  begin = mapped == MAP_FAILED ? nullptr : mapped;
}

void ReservedSpace::giveBack() {
  if (begin)
    munmap(begin, bytes);
  begin = nullptr;
}

} // namespace nereid::process
