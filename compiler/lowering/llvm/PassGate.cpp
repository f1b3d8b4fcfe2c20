// Ends cancelled compilations, and skips passes, where LLVM asks whether a pass runs.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/llvm/PassGate.h"

#include "compiler/support/FatalGuard.h"

#include "llvm/ADT/STLExtras.h"

using namespace nereid;

bool lowering::PassGate::shouldRunPass(llvm::StringRef name, llvm::StringRef) const {
  support::exitIfCancelled();
  return !llvm::is_contained(skipped, name);
}
