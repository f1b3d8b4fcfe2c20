// Retargets a copy of the module, replaces AMD's intrinsics and generates code for NVPTX.
// SPDX-License-Identifier: MIT
#include "compiler/target/sim/EmitPtx.h"

#include "compiler/target/nvidia/codegen/Codegen.h"
#include "compiler/target/sim/Intrinsics.h"
#include "compiler/target/sim/Retarget.h"

#include "llvm/IR/OptBisect.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace nereid;

/// The generation whose PTX the simulator executes.
static constexpr const char *kPtxArch = "90";

/// Adds the properties of the GPU to the text, after the directive for the size of addresses.
static std::string withPragmas(std::string text, const artifact::AmdArch &arch) {
  const std::string pragmas = "\n.pragma \"wave " + std::to_string(arch.waveSize) + "\";\n.pragma \"banks " +
                              std::to_string(arch.numBanks) + "\";";
  const size_t directive = text.find(".address_size");
  text.insert(text.find('\n', directive), pragmas);
  return text;
}

llvm::Expected<std::string> sim::emitPtx(const llvm::Module &module, const artifact::AmdArch &arch) {
  std::string reason;
  const auto executed = nvidia::findArch(kPtxArch, reason);
  if (!executed)
    return llvm::createStringError(reason);
  auto machine = nvidia::targetMachine(*executed);
  if (!machine)
    return machine.takeError();
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  if (llvm::Error error = replaceIntrinsics(*copy, arch))
    return error;
  if (llvm::Error error = retarget(*copy, **machine))
    return error;
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(*copy, &stream))
    return llvm::createStringError("the code for the simulated GPU is not valid: " + problems);
  // The caller's code generator runs in the same context, with all of its passes.
  llvm::OptPassGate &gate = copy->getContext().getOptPassGate();
  auto text = nvidia::emitPtx(*copy, **machine);
  copy->getContext().setOptPassGate(gate);
  if (!text)
    return text.takeError();
  return withPragmas(std::move(*text), arch);
}
