// Finds the group of each intrinsic and puts its replacement in its place.
// SPDX-License-Identifier: MIT
#include "compiler/target/sim/Intrinsics.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace nereid;
using namespace nereid::sim;
using namespace llvm;

char Unsupported::ID = 0;

static Error unknown(const Instruction &instruction, const Twine &what) {
  const DebugLoc &where = instruction.getDebugLoc();
  return make_error<Unsupported>((what + ", which the kernel `" + instruction.getFunction()->getName() + "` has").str(),
                                 where ? where.getLine() : 0, where ? where.getCol() : 0);
}

static Error replace(IntrinsicInst &call, const artifact::AmdArch &arch) {
  Site site{call, IRBuilder<>(&call), arch};
  for (const auto group : {replaceIds, replaceLaneExchange, replaceMatrix, replaceBuffer, replaceConversion,
                           replaceMath, replaceSynchronisation})
    if (Value *result = group(site)) {
      if (result != &call)
        call.replaceAllUsesWith(result);
      call.eraseFromParent();
      return Error::success();
    }
  return unknown(call, "the intrinsic `" + call.getCalledFunction()->getName() + "`");
}

/// Descriptors of buffers last: the accesses that use them are replaced before.
static bool isDescriptor(const IntrinsicInst &call) {
  return call.getIntrinsicID() == Intrinsic::amdgcn_make_buffer_rsrc;
}

/// Whether the call is of assembly without instructions, whose result is its operand.
static bool isCopy(const CallBase &call) {
  auto *assembly = dyn_cast<InlineAsm>(call.getCalledOperand());
  return assembly && assembly->getAsmString().empty() && call.arg_size() == 1 &&
         call.getType() == call.getArgOperand(0)->getType();
}

Error sim::replaceIntrinsics(Module &module, const artifact::AmdArch &arch) {
  SmallVector<IntrinsicInst *> calls, descriptors;
  SmallVector<CallBase *> copies;
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &instruction : block) {
        auto *call = dyn_cast<CallBase>(&instruction);
        if (call && isCopy(*call))
          copies.push_back(call);
        else if (call && call->isInlineAsm())
          return unknown(*call, "the assembly `" + cast<InlineAsm>(call->getCalledOperand())->getAsmString() + "`");
        auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
        if (intrinsic && intrinsic->getCalledFunction()->getName().starts_with("llvm.amdgcn."))
          (isDescriptor(*intrinsic) ? descriptors : calls).push_back(intrinsic);
      }
  for (CallBase *copy : copies) {
    copy->replaceAllUsesWith(copy->getArgOperand(0));
    copy->eraseFromParent();
  }
  for (IntrinsicInst *call : calls)
    if (Error error = replace(*call, arch))
      return error;
  for (IntrinsicInst *call : descriptors) {
    if (!call->use_empty())
      return unknown(*call, "this use of a buffer's descriptor");
    call->eraseFromParent();
  }
  for (Function &function : make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty() && function.getName().starts_with("llvm.amdgcn."))
      function.eraseFromParent();
  return Error::success();
}
