// The state of simulated warps, CTAs and clusters, and the instructions that change it.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Specials.h"
#include "runtime/sim/machine/ValueFlow.h"
#include "runtime/sim/ptx/Kinds.h"
#include "runtime/sim/ptx/Launch.h"

#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <optional>
#include <type_traits>
#include <vector>

namespace nereid::sim {

inline constexpr unsigned kLanes = 32;
inline constexpr uint32_t kAllLanes = ~0u;

/// Generic addresses: global ones are the host's, the other spaces have a window each, told by the highest byte.
inline constexpr unsigned kWindowShift = 56;
enum class Window : uint8_t { Global = 0, Shared = 1, Local = 2, Param = 3 };
/// Addresses in shared memory have the rank of the CTA in its cluster plus one here; 0 means the accessing CTA.
inline constexpr unsigned kRankShift = 24;

enum class Space : uint8_t { Generic, Global, Shared, Local, Param };

/// How an access takes part in synchronisation (PTX ISA, memory consistency model); volatile counts as relaxed.sys.
enum class Scope : uint8_t { None, Cta, Cluster, Gpu, Sys };
enum class Order : uint8_t { Weak, Relaxed, Acquire, Release, AcqRel };
enum class Proxy : uint8_t { Generic, Async, TensorMap };

/// What a split does after an instruction.
enum class Step : uint8_t {
  Next,
  Jump,  ///< the instruction has set the pc of every lane
  Wait,  ///< executes the instruction again after others have run
  Yield, ///< goes on, after others have run
  Fail,
};

struct Warp;
struct Instruction;
using Execute = Step (*)(Warp &, const Instruction &);

/// A decoded instruction. `slots` are byte offsets into the warp's register file, where immediates and special
/// registers have slots too.
struct Instruction {
  Execute execute = nullptr;
  int32_t guard = -1; ///< slot of a predicate
  bool isGuardNegated = false;
  bool isReduction = false; ///< an atomic operation without a result
  bool isOfWave = false;    ///< the lanes of a wave execute it together (Wave.h)
  alignas(4) uint8_t rolesBytes[4] = {};
  uint32_t line = 0;
  Scope scope = Scope::None;
  Order order = Order::Weak;
  uint32_t slots[6] = {};
  uint64_t immediate = 0;
  std::vector<uint32_t> list; ///< slots of vector operands

  /// What the statement says beside its operands: a small struct, or an enumeration, of the unit's own.
  template <typename Roles> Roles roles() const {
    static_assert(sizeof(Roles) <= sizeof rolesBytes && std::is_trivially_copyable_v<Roles>);
    Roles result;
    std::memcpy(&result, rolesBytes, sizeof result);
    return result;
  }
  template <typename Roles> void setRoles(Roles value) {
    static_assert(sizeof(Roles) <= sizeof rolesBytes && std::is_trivially_copyable_v<Roles>);
    std::memcpy(rolesBytes, &value, sizeof value);
  }
};

/// Lanes of a warp with the same pc.
struct Split {
  uint32_t mask = 0, pc = 0;
  bool isWaiting = false;
  bool hasArrived = false; ///< at the barrier that it waits at
  bool hasMet = false;     ///< another warp of the wave has executed the instruction for it
  bool isReleased = false; ///< executes a wave's instruction without the lanes that are elsewhere
  uint64_t turn = 0;       ///< splits with the lowest turn run first, at equal turns those with the lowest pc
  uint64_t ticket = 0;     ///< phase of the barrier that it waits for
};

struct Cta;
struct Cluster;
struct Text;
class Observer;

/// An asynchronous operation that has been issued; `perform` gives it its effect.
struct Pending {
  uint64_t owner = 0; ///< thread of the cluster, or warp for wgmma
  uint8_t kind = 0;
  bool isCommitted = false;
  std::function<bool()> perform; ///< false: failed
};

/// Asynchronous operations of one thread, in order; empty groups count.
struct AsyncGroups {
  std::deque<std::vector<std::function<bool()>>> committed;
  std::vector<std::function<bool()>> open;
};

/// The last read of global memory by an instruction.
struct LastRead {
  const Instruction *instruction = nullptr;
  uint64_t address = 0;
};

struct Warp {
  Cta *cta = nullptr;
  uint32_t index = 0;
  std::vector<uint64_t> storage;
  uint8_t *file = nullptr; ///< registers
  std::vector<char> local;
  std::vector<Split> splits;
  size_t current = 0;      ///< the running split
  uint32_t mask = 0;       ///< lanes that execute the current instruction
  uint32_t candidates = 0; ///< lanes at the current instruction, whatever its guard says; only with observers
  uint32_t carry = 0;      ///< condition code of each lane
  uint32_t exited = 0;     ///< lanes that have ended, or never began
  uint32_t vainWaits = 0;  ///< waits for an mbarrier that chance has cut short, since the last one that ended
  uint64_t turns = 0;
  uint64_t clusterPhase = 0;                   ///< phase of the barrier of the cluster at the last arrival
  std::vector<AsyncGroups> copies, bulkStores; ///< by lane; allocated at the first use
  AsyncGroups products;                        ///< wgmma
  LastRead reads[4];                           ///< by instruction

  Split &split() { return splits[current]; }
  template <typename T> T *at(uint32_t slot) { return reinterpret_cast<T *>(file + slot); }
  template <typename T> const T *at(uint32_t slot) const { return reinterpret_cast<const T *>(file + slot); }
  uint32_t predicate(uint32_t slot) const { return *at<uint32_t>(slot); }
  bool isActive(unsigned lane) const { return mask >> lane & 1; }
};

/// A barrier of a CTA (bar.sync): which threads have arrived.
struct NamedBarrier {
  uint32_t arrived = 0;
  uint64_t phase = 0;
  uint32_t votes = 0, open = 0; ///< predicates that hold: of the last phase, of the open one
};

struct Cta {
  Cluster *cluster = nullptr;
  uint32_t rank = 0;
  Dim id;
  std::vector<uint64_t> sharedStorage;
  char *shared = nullptr;
  uint32_t sharedBytes = 0;
  std::vector<Warp> warps;
  NamedBarrier barriers[16];
};

struct Code;

struct Cluster {
  const Code *code = nullptr;
  const Launch *launch = nullptr;
  std::vector<Cta> ctas;
  uint64_t threadInstructions = 0, instructions = 0;
  uint64_t random = 0;
  NamedBarrier barrier;
  std::deque<std::function<bool()>> unordered; ///< bulk copies that signal a barrier, by late completion
  std::optional<Error> error;
  uint32_t threadsLeft = 0;
  std::vector<std::shared_ptr<Observer>> observers;
  bool isObserved = false;    ///< there are observers
  uint64_t numOperations = 0; ///< asynchronous operations that have been issued
  uint64_t rounds = 0;        ///< of the scheduler
  uint32_t polls = 0;         ///< reads of the same addresses again since the last change of global memory
  bool hasArrived = false;    ///< awaits the result of an atomic operation, which takes long on a GPU
  bool hasChanged = false;    ///< has changed global memory since it was resumed

  /// Whether an asynchronous operation takes effect when it is issued.
  bool completesEarly();
  uint64_t nextRandom();
};

/// A value in every lane of a slot: an immediate, or the address of a variable.
struct Constant {
  uint32_t slot = 0, bytes = 0;
  uint64_t value = 0;
};

/// The registers that an instruction reads and writes, by their slots.
struct OperandSlots {
  std::vector<uint32_t> sources, destinations;
  ValueFlow flow = ValueFlow::Any;
};
/// Slots begin at multiples of this.
inline constexpr uint32_t kSlotUnit = 32;

/// A decoded entry.
struct Code {
  std::string name;
  std::vector<Instruction> instructions;
  std::vector<InstructionProfile> profiles; ///< of each instruction
  std::vector<OperandSlots> operands;       ///< of each instruction
  std::vector<Constant> constants;
  std::vector<std::pair<uint32_t, Special>> specials;
  uint32_t fileBytes = 0, localBytes = 0, staticSharedBytes = 0, paramBytes = 0;
  uint32_t waveLanes = kLanes, sharedBanks = 32;
  bool hasWaves = false; ///< there are instructions that the lanes of a wave execute together
  const Text *text = nullptr;
};

inline const OperandSlots &operandsOf(const Warp &warp, const Instruction &instruction) {
  const Code &code = *warp.cta->cluster->code;
  return code.operands[size_t(&instruction - code.instructions.data())];
}

/// Replaces the running split: its lanes of `taken` go to `pc`, the others to the next instruction.
Step branch(Warp &warp, uint32_t taken, uint32_t pc);
/// The lanes end.
Step exitLanes(Warp &warp, uint32_t lanes);
/// Whether all of `members` that have not ended execute the instruction now; if not, the split must wait.
bool hasConverged(const Warp &warp, uint32_t members);

/// Reads of the same addresses after which a cluster is taken to wait for another.
inline constexpr uint32_t kPollsOfWait = 64;

/// Notes that the running lanes read global memory, which may be a wait for another cluster.
inline void noteRead(Warp &warp, const Instruction &instruction, uint64_t address) {
  LastRead &last = warp.reads[reinterpret_cast<uintptr_t>(&instruction) / sizeof(Instruction) % std::size(warp.reads)];
  if (last.instruction == &instruction && last.address == address)
    ++warp.cta->cluster->polls;
  last = {&instruction, address};
}
inline void noteChange(Warp &warp) {
  warp.cta->cluster->polls = 0;
  warp.cta->cluster->hasChanged = true;
}
inline bool isWaiting(const Cluster &cluster) { return cluster.polls >= kPollsOfWait; }

/// Runs the CTAs of a cluster until they have ended, wait for another cluster, or have run about that many
/// instructions.
void runCluster(Cluster &cluster, uint64_t budget);
inline bool hasEnded(const Cluster &cluster) { return !cluster.threadsLeft || cluster.error; }

} // namespace nereid::sim
