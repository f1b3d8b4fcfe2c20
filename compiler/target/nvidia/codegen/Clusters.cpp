// Maps programs to clusters: a kernel with one program per CTA becomes one with a program per cluster; see
// docs/why/clusters.md.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/codegen/Clusters.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace nereid;

/// Replaces reads of CTA registers by reads of cluster registers.
static void replaceReads(llvm::Module &module, llvm::Intrinsic::ID from, llvm::Intrinsic::ID to) {
  llvm::Function *read = llvm::Intrinsic::getDeclarationIfExists(&module, from);
  if (!read)
    return;
  read->replaceAllUsesWith(llvm::Intrinsic::getOrInsertDeclaration(&module, to));
  read->eraseFromParent();
}

static void exitInOtherCtas(llvm::Function &kernel) {
  llvm::BasicBlock &entry = kernel.getEntryBlock();
  auto *begin = llvm::BasicBlock::Create(kernel.getContext(), "", &kernel, &entry);
  auto *end = llvm::BasicBlock::Create(kernel.getContext(), "other.block", &kernel);
  llvm::IRBuilder<> builder(begin);
  llvm::Value *rank =
      builder.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank, llvm::ArrayRef<llvm::Value *>());
  builder.CreateCondBr(builder.CreateIsNull(rank), &entry, end);
  builder.SetInsertPoint(end);
  builder.CreateRetVoid();
}

void nvidia::mapProgramsToClusters(llvm::Module &module, uint32_t numCtas, bool allRun) {
  replaceReads(module, llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_clusterid_x);
  replaceReads(module, llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, llvm::Intrinsic::nvvm_read_ptx_sreg_nclusterid_x);
  for (llvm::Function &function : module) {
    if (function.getCallingConv() != llvm::CallingConv::PTX_Kernel)
      continue;
    function.addFnAttr("nvvm.cluster_dim", std::to_string(numCtas) + ",1,1");
    if (!allRun)
      exitInOtherCtas(function);
  }
}
