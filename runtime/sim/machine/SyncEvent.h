// What an execution tells its observers of synchronisation: barriers, fences, mbarriers, asynchronous operations.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Machine.h"

namespace nereid::sim {

enum class SyncKind : uint8_t {
  BarrierArrive,   ///< bar, barrier.cluster; `object`: the barrier, `count`: threads that it expects
  BarrierComplete, ///< the phase ends
  BarrierLeave,
  WarpSync,     ///< bar.warp.sync; `count`: the named lanes
  Collective,   ///< shfl.sync, vote.sync and their like; `count`: the named lanes
  Fence,        ///< between threads: `scope`
  ProxyFence,   ///< `proxy`
  MbarrierInit, ///< `object`: the word, `count`: arrivals
  MbarrierInval,
  MbarrierArrive, ///< `count`: arrivals; `operation`: of cp.async.mbarrier.arrive, else 0
  MbarrierExpect, ///< `count`: bytes
  MbarrierBytes,  ///< `count`: bytes that a copy has brought
  MbarrierPhase,  ///< the phase ends
  MbarrierWait,   ///< the phase before the current one was found to be over
  MbarrierTest,   ///< the phase was found not to be over
  AsyncIssue,     ///< `async`, `operation`; `object`: the mbarrier that it signals, else null; its accesses follow
  AsyncCommit,    ///< the lanes commit a group
  AsyncWait,      ///< all but `count` groups are over; `isAll`: whatever was issued; `isRead`: only their reads
  RegisterFence,  ///< wgmma.fence
};

/// Operations that are asynchronous, by how they are waited for.
enum class AsyncKind : uint8_t { Copy, Wgmma, BulkStore, Signalling, CopyArrival };

/// What a proxy fence makes the async proxy see, or the tensor map proxy.
enum class ProxyFence : uint8_t {
  Async,
  AsyncShared,
  AsyncGlobal,
  MbarrierInit,
  TensorMapRelease,
  TensorMapAcquire,
  Alias
};

struct SyncEvent {
  SyncKind kind;
  const Instruction *instruction = nullptr;
  uint32_t lanes = 0;
  const void *object = nullptr;
  uint32_t count = 0;
  uint64_t operation = 0;
  Scope scope = Scope::None;
  AsyncKind async = AsyncKind::Copy;
  ProxyFence proxy = ProxyFence::Async;
  bool isAll = false, isRead = false;
  bool isRelaxed = false; ///< neither releases nor acquires
  bool isAligned = false; ///< all lanes of the warp must execute the instruction together
  bool isCounted = false; ///< the instruction names the count
};

void tellObservers(Warp &warp, const SyncEvent &event);
inline void tell(Warp &warp, const SyncEvent &event) {
  if (warp.cta->cluster->isObserved)
    tellObservers(warp, event);
}

} // namespace nereid::sim
