// Keeps LLVM's code generators of GPUs between compilations: creating one takes milliseconds.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace nereid::lowering {

/// A code generator, used by one compilation at a time. It returns to the pool afterwards, unless the compilation is
/// cancelled: then it is leaked.
class PooledTargetMachine {
public:
  using Create = llvm::function_ref<llvm::Expected<std::unique_ptr<llvm::TargetMachine>>()>;
  /// A code generator of that kind: an unused one, or a new one by `create`.
  static llvm::Expected<PooledTargetMachine> get(const std::string &kind, Create create);
  PooledTargetMachine(PooledTargetMachine &&) = default;
  PooledTargetMachine &operator=(PooledTargetMachine &&) = delete;
  ~PooledTargetMachine();

  llvm::TargetMachine &operator*() const { return *machine; }
  llvm::TargetMachine *operator->() const { return machine.get(); }

private:
  PooledTargetMachine(std::string kind, std::unique_ptr<llvm::TargetMachine> machine);
  std::string kind;
  std::unique_ptr<llvm::TargetMachine> machine;
};

} // namespace nereid::lowering
