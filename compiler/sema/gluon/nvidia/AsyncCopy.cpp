// Gluon's asynchronous copies of threads from global to shared memory (cp.async).
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/MemoryArguments.h"
#include "compiler/sema/gluon/nvidia/Operands.h"

namespace nereid::sema {
namespace {

Value emitAsyncCopy(const CallSite &site) {
  const TensorValue *buffer = checkLanguage(site) ? bufferArgument(site, "smem") : nullptr;
  Value pointer = buffer ? pointerArgument(site) : Value::poison();
  std::optional<Value> mask = maskArgument(site);
  auto cache = loadCacheModifier(site);
  auto eviction = evictionPolicy(site);
  auto isVolatile = boolArgument(site, "volatile");
  if (pointer.isPoison() || !mask || !cache || !eviction || !isVolatile || !broadcastGiven(site, {&pointer, &*mask}))
    return Value::poison();
  if (pointer.tensor()->type.shape != buffer->type.shape)
    return site.emitter.error(diag::CopyShapes, site.range, shapeText(buffer->type.shape),
                              shapeText(pointer.tensor()->type.shape));
  return emitChecked<ttg::AsyncCopyGlobalToLocalOp>(site, ttg::AsyncTokenType::get(builderOf(site).getContext()),
                                                    pointer.tensor()->value, buffer->value, irValue(*mask),
                                                    mlir::Value(), *cache, *eviction);
}

Value emitArriveAfterCopies(const CallSite &site) {
  const TensorValue *barrier = checkLanguage(site) ? barrierArgument(site, "mbarrier") : nullptr;
  auto increments = boolArgument(site, "increment_count");
  if (!barrier || !increments)
    return Value::poison();
  return emitChecked<ttng::AsyncCopyMbarrierArriveOp>(site, barrier->value, !*increments);
}

Value emitCommitGroup(const CallSite &site) {
  if (!checkLanguage(site))
    return Value::poison();
  return emitChecked<ttg::AsyncCommitGroupOp>(site, ttg::AsyncTokenType::get(builderOf(site).getContext()),
                                              mlir::ValueRange());
}

Value emitWaitGroup(const CallSite &site) {
  auto count = checkLanguage(site) ? intArgument(site, "num_outstanding") : std::nullopt;
  if (!count)
    return Value::poison();
  if (*count < 0 || *count > INT32_MAX)
    return site.emitter.error(diag::OutstandingGroups, site.rangeOf("num_outstanding"), *count);
  return emitChecked<ttg::AsyncWaitOp>(site, ttg::AsyncTokenType::get(builderOf(site).getContext()), mlir::ValueRange(),
                                       uint32_t(*count));
}

} // namespace

llvm::ArrayRef<Builtin> gluonAsyncCopyBuiltins() {
  static constexpr llvm::StringLiteral module = "triton.experimental.gluon.language.nvidia.ampere.async_copy";
  static const llvm::SmallVector<BuiltinParam, 4> copyParams = {{"smem"},
                                                                {"pointer"},
                                                                {"mask", "None"},
                                                                {"cache_modifier", "\"\""},
                                                                {"eviction_policy", "\"\""},
                                                                {"volatile", "False"}};
  static const Builtin table[] = {
      {"async_load", module, copyParams, "Starts copies of elements to a buffer; masked-off ones become zero.",
       emitAsyncCopy},
      {"async_copy_global_to_shared", module, copyParams, "The earlier name of async_load.", emitAsyncCopy},
      {"mbarrier_arrive",
       module,
       {{"mbarrier"}, {"increment_count", "True"}},
       "Each thread arrives at a barrier when its copies so far are done; without increment_count the barrier's count "
       "includes these arrivals.",
       emitArriveAfterCopies},
      {"commit_group", module, {}, "Makes the thread's copies since the last group a group.", emitCommitGroup},
      {"wait_group",
       module,
       {{"num_outstanding", "0"}},
       "Waits until that many of the thread's last groups are left.",
       emitWaitGroup},
  };
  return table;
}

} // namespace nereid::sema
