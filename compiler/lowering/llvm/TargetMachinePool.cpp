// Implements the pool of code generators.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/llvm/TargetMachinePool.h"

#include <map>
#include <mutex>

using namespace nereid;
using namespace nereid::lowering;

namespace {
/// Code generators that no compilation uses, by kind. Shared by all threads, since threads of compilations come and go.
class TargetMachinePool {
public:
  std::unique_ptr<llvm::TargetMachine> take(const std::string &kind) {
    const std::lock_guard lock(guard);
    auto found = idle.find(kind);
    if (found == idle.end())
      return nullptr;
    auto machine = std::move(found->second);
    idle.erase(found);
    return machine;
  }
  void put(const std::string &kind, std::unique_ptr<llvm::TargetMachine> machine) {
    const std::lock_guard lock(guard);
    idle.emplace(kind, std::move(machine));
  }

private:
  std::mutex guard;
  std::multimap<std::string, std::unique_ptr<llvm::TargetMachine>> idle;
};
} // namespace

static TargetMachinePool &targetMachinePool() {
  static TargetMachinePool &pool = *new TargetMachinePool; // never destroyed: threads may still compile at process exit
  return pool;
}

PooledTargetMachine::PooledTargetMachine(std::string kind, std::unique_ptr<llvm::TargetMachine> machine)
    : kind(std::move(kind)), machine(std::move(machine)) {}

llvm::Expected<PooledTargetMachine> PooledTargetMachine::get(const std::string &kind, Create create) {
  if (auto machine = targetMachinePool().take(kind))
    return PooledTargetMachine(kind, std::move(machine));
  auto newMachine = create();
  if (!newMachine)
    return newMachine.takeError();
  return PooledTargetMachine(kind, std::move(*newMachine));
}

PooledTargetMachine::~PooledTargetMachine() {
  if (machine)
    targetMachinePool().put(kind, std::move(machine));
}
