// Gluon's barriers of clusters, and the fence before the async proxy.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/gluon/nvidia/Operands.h"

namespace nereid::sema {
namespace {

Value emitProxyFence(const CallSite &site) {
  auto isOfCluster = checkLanguage(site) ? boolArgument(site, "cluster") : std::nullopt;
  return isOfCluster ? emitChecked<ttng::FenceAsyncSharedOp>(site, *isOfCluster) : Value::poison();
}

Value emitClusterBarrier(const CallSite &site) {
  auto isRelaxed = checkLanguage(site) ? boolArgument(site, "relaxed") : std::nullopt;
  return isRelaxed ? emitChecked<ttng::ClusterBarrierOp>(site) : Value::poison();
}

} // namespace

llvm::ArrayRef<Builtin> gluonClusterBuiltins() {
  static const Builtin table[] = {
      {"fence_async_shared",
       hopperModule,
       {{"cluster", "False"}},
       "Orders the threads' accesses to shared memory before those of TMA and matrix instructions.",
       emitProxyFence},
      {"barrier",
       "triton.experimental.gluon.language.nvidia.hopper.cluster",
       {{"relaxed", "False"}},
       "Waits for all threads of the cluster.",
       emitClusterBarrier},
  };
  return table;
}

} // namespace nereid::sema
