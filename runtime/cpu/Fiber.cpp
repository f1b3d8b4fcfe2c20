// Stacks from the system, with a page below each that may not be touched.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/Fiber.h"

#include <cstddef>

#include <sys/mman.h>

namespace nereid::runtime {

// A kernel's large values are in its arena. Pages of a stack take memory once they are used.
static constexpr size_t kStackBytes = size_t{1} << 20;
static constexpr size_t kGuardBytes = 65536; // a multiple of every page size

std::unique_ptr<Fiber> Fiber::create(void (*body)()) {
  void *memory = mmap(nullptr, kGuardBytes + kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return nullptr;
  auto fiber = std::make_unique<Fiber>();
  fiber->stack = static_cast<char *>(memory);
  // The guard makes two mappings of one, and a process may reach its limit of mappings; without a guard an overflow
  // would write elsewhere.
  if (mprotect(memory, kGuardBytes, PROT_NONE) != 0)
    return nullptr;
  fiber->restart(body);
  return fiber;
}

void Fiber::restart(void (*body)()) {
  getcontext(&state);
  state.uc_stack.ss_sp = stack + kGuardBytes;
  state.uc_stack.ss_size = kStackBytes;
  state.uc_link = nullptr;
  makecontext(&state, body, 0);
}

Fiber::~Fiber() {
  if (stack)
    munmap(stack, kGuardBytes + kStackBytes);
}

} // namespace nereid::runtime
