// Keeps a few idle contexts, and destroys each after a number of uses, since they only ever grow.
// SPDX-License-Identifier: MIT
#include "jit/ContextPool.h"

#include "compiler/driver/Compiler.h"
#include "compiler/support/ForkGate.h"

namespace nereid::jit {

static constexpr size_t maxIdle = 8;
static constexpr unsigned maxUses = 256;

ContextPool &ContextPool::instance() {
  // Never destroyed: threads may still compile while the process ends.
  static auto *pool = new ContextPool();
  return *pool;
}

ContextPool::Entry ContextPool::take() {
  const support::ForkGate gate;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!idle.empty()) {
      Entry entry = std::move(idle.back());
      idle.pop_back();
      return entry;
    }
  }
  return {driver::createContext()};
}

void ContextPool::giveBack(Entry entry) {
  const support::ForkGate gate;
  if (++entry.uses >= maxUses)
    return;
  std::lock_guard<std::mutex> lock(mutex);
  if (idle.size() < maxIdle)
    idle.push_back(std::move(entry));
}

} // namespace nereid::jit
