// What checks and counters see of an execution: accesses to memory, instructions, synchronisation.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Report.h"
#include "runtime/sim/machine/SyncEvent.h"

namespace nereid::sim {

class Wave;
struct TensorMap;
struct WaveProduct;

/// Accesses of an asynchronous operation are told twice: when it is issued and when it takes effect.
enum class Stage : uint8_t { Whole, Issue, Effect };

/// What one instruction does to memory, for all its lanes. An access by generic addresses to several spaces is one
/// access for each. The "lanes" of an asynchronous operation (except of cp.async when it is issued) are pieces of it,
/// up to 32 at a time: rows of a box in global memory, chunks of 16 bytes in shared memory, a whole bulk copy.
struct MemoryAccess {
  const Instruction *instruction = nullptr;
  Space space = Space::Generic;        ///< resolved: Global, Shared, Local or Param
  uint32_t lanes = 0;                  ///< that take part
  uint32_t bytes = 0;                  ///< of each lane
  const uint64_t *addresses = nullptr; ///< by lane, as the program has them
  char *const *host = nullptr;         ///< by lane, of the host
  bool reads = false, writes = false;
  bool isAtomic = false;
  bool replaces = false; ///< an atomic exchange, whatever the old value
  Scope scope = Scope::None;
  Order order = Order::Weak;
  Proxy proxy = Proxy::Generic;
  Stage stage = Stage::Whole;
  /// Of plain loads and stores: the registers of the elements, in the order of memory, and the bytes of their lanes.
  std::span<const uint32_t> elements;
  uint32_t slotBytes = 0;
  bool isTransposed = false; ///< of ldmatrix
  uint64_t operation = 0;    ///< the asynchronous operation, a number of the cluster's
  int64_t slot = -1;         ///< of the register with the addresses, when issued by an ordinary instruction; -1: none
  const TensorMap *map = nullptr; ///< of a tensor copy
  int32_t issuer = -1;            ///< lane that has issued the operation; -1: the lanes are those of the warp

  /// The threads that have issued it.
  uint32_t threadMask() const { return issuer < 0 ? lanes : 1u << issuer; }
  unsigned threadOf(unsigned lane) const { return issuer < 0 ? lane : unsigned(issuer); }
};

/// One per cluster; never shared between threads of the host.
class Observer {
public:
  virtual ~Observer() = default;
  /// Before the access happens. False: the observer has called `fail`, and the access does not happen.
  virtual bool onAccess(Warp &, const MemoryAccess &) { return true; }
  /// After a warp has executed an instruction that did not have to wait; `warp.mask` has the lanes, none where its
  /// guard held for none.
  virtual void onIssue(Warp &, const Instruction &) {}
  /// Before the lanes of a wave multiply matrices; `onIssue` follows for each of its warps.
  virtual void onWaveProduct(Wave &, const Instruction &, const WaveProduct &) {}
  /// A barrier, a fence, an mbarrier, an asynchronous operation: `SyncKind` says when.
  virtual void onSync(Warp &, const SyncEvent &) {}
  /// After the last instruction of the cluster, which may have failed.
  virtual void onEnd(Cluster &) {}
};

} // namespace nereid::sim
