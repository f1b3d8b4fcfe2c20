// Installs a gate that LLVM calls before each optional pass; ours skips no pass, but ends a cancelled compilation.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/CancelBetweenPasses.h"

#include "compiler/support/FatalGuard.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/OptBisect.h"

using namespace nereid;

namespace {
class CancellationGate final : public llvm::OptPassGate {
public:
  bool shouldRunPass(llvm::StringRef, llvm::StringRef) const override {
    support::exitIfCancelled();
    return true;
  }
  bool isEnabled() const override { return true; }
};
} // namespace

void lowering::cancelBetweenPasses(llvm::LLVMContext &context) {
  static CancellationGate gate;
  context.setOptPassGate(gate);
}
