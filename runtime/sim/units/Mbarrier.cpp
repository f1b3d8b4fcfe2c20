// mbarrier objects: words in shared memory that count arrivals and bytes of copies.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/machine/Async.h"
#include "runtime/sim/machine/SyncEvent.h"
#include "runtime/sim/units/Opcodes.h"

using namespace nereid::sim;

namespace {
/// The word of an mbarrier. An ordinary access to one is as invalid as on a GPU.
struct Fields {
  uint64_t pending : 20; ///< arrivals that are missing in this phase
  uint64_t expected : 20;
  uint64_t bytes : 22; ///< that copies of this phase still bring, modulo 2^22: they may arrive before they are expected
  uint64_t phase : 1;
  uint64_t isValid : 1;
};
static_assert(sizeof(Fields) == 8);

Fields read(const char *barrier) {
  Fields fields;
  std::memcpy(&fields, barrier, 8);
  return fields;
}
/// `event` says who changes the word; the phase may end.
void write(Warp &warp, SyncEvent event, char *barrier, Fields fields) {
  tell(warp, event);
  if (fields.pending == 0 && fields.bytes == 0) {
    fields.pending = fields.expected;
    fields.phase = !fields.phase;
    event.kind = SyncKind::MbarrierPhase;
    tell(warp, event);
  }
  std::memcpy(barrier, &fields, 8);
}

SyncEvent eventOf(SyncKind kind, const Warp &warp, const Instruction &instruction, const char *barrier,
                  uint32_t count) {
  SyncEvent event{kind, &instruction, warp.mask, barrier, count};
  event.isRelaxed = instruction.order == Order::Relaxed;
  return event;
}

enum class Change : uint8_t { Arrive, ExpectTx, CompleteTx, Init, Inval, Drop };
} // namespace

void nereid::sim::arriveAt(Warp &warp, const Instruction &instruction, char *barrier, uint32_t arrivals,
                           uint64_t operation) {
  Fields fields = read(barrier);
  fields.pending -= arrivals;
  SyncEvent event = eventOf(SyncKind::MbarrierArrive, warp, instruction, barrier, arrivals);
  event.operation = operation;
  write(warp, event, barrier, fields);
}
void nereid::sim::expectBytes(Warp &warp, const Instruction &instruction, char *barrier, uint32_t bytes) {
  Fields fields = read(barrier);
  fields.bytes += bytes;
  tell(warp, eventOf(SyncKind::MbarrierExpect, warp, instruction, barrier, bytes));
  std::memcpy(barrier, &fields, 8);
}
void nereid::sim::completeBytes(Warp &warp, const Instruction &instruction, char *barrier, uint32_t bytes,
                                uint64_t operation) {
  Fields fields = read(barrier);
  if (operation && !fields.isValid)
    return void(fail(warp, instruction, "sim-fault", "the mbarrier that this copy signals is none when the copy ends"));
  fields.bytes -= bytes;
  SyncEvent event = eventOf(SyncKind::MbarrierBytes, warp, instruction, barrier, bytes);
  event.operation = operation;
  write(warp, event, barrier, fields);
}

bool nereid::sim::expectMbarrier(Warp &warp, const Instruction &instruction, const char *barrier, unsigned lane) {
  return read(barrier).isValid ||
         (fail(warp, instruction, "sim-fault", "there is no mbarrier at this address", int(lane)), false);
}

/// The mbarriers of the active lanes.
struct BarrierAccess : LaneAccess {
  BarrierAccess(Warp &warp, const Instruction &instruction, Space space)
      : LaneAccess(warp, instruction, space, instruction.slots[0], instruction.immediate, 8) {}
};

namespace {
struct ChangeRoles {
  Space space;
  Change kind;
  bool expectsBytes; ///< before the arrival
};
struct TestRoles {
  Space space;
  bool isByParity; ///< not by the state of an arrival
  bool waits;
};
struct CopyArrivalRoles {
  Space space;
  bool isCounted; ///< already, by the mbarrier's initial count (noinc)
};
} // namespace

/// slots: address, count or bytes, state.
static Step change(Warp &warp, const Instruction &instruction) {
  const auto [space, kind, expectsBytes] = instruction.roles<ChangeRoles>();
  BarrierAccess access(warp, instruction, space);
  const bool isWhole = kind == Change::Init || kind == Change::Inval;
  if (isWhole)
    access.order = Order::Weak, access.scope = Scope::None;
  if (!(isWhole ? access.writing() : access.updating()).resolve(warp))
    return Step::Fail;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    char *barrier = access.memory[lane];
    const uint32_t count = warp.at<uint32_t>(instruction.slots[1])[lane];
    Fields fields = read(barrier);
    if (kind == Change::Init) {
      fields = {count, count, 0, 0, 1};
      std::memcpy(barrier, &fields, 8);
      tell(warp, eventOf(SyncKind::MbarrierInit, warp, instruction, barrier, count));
      continue;
    }
    if (!expectMbarrier(warp, instruction, barrier, lane))
      return Step::Fail;
    std::memcpy(warp.file + instruction.slots[2] + lane * 8, &fields, 8);
    if (kind == Change::Inval) {
      std::memset(barrier, 0, 8);
      tell(warp, eventOf(SyncKind::MbarrierInval, warp, instruction, barrier, 0));
    } else if (kind == Change::ExpectTx)
      expectBytes(warp, instruction, barrier, count);
    else if (kind == Change::CompleteTx)
      completeBytes(warp, instruction, barrier, count);
    else {
      const uint32_t arrivals = expectsBytes ? 1 : count;
      if (expectsBytes)
        expectBytes(warp, instruction, barrier, count);
      if (kind == Change::Drop) {
        fields = read(barrier);
        fields.expected -= arrivals;
        std::memcpy(barrier, &fields, 8);
      }
      if (arrivals > read(barrier).pending)
        return fail(warp, instruction, "sim-fault", "more arrivals at an mbarrier than it counts");
      arriveAt(warp, instruction, barrier, arrivals);
    }
  }
  return Step::Next;
}

/// The parity of the phase that a lane tests.
static uint32_t parityOf(const Warp &warp, const Instruction &instruction, unsigned lane) {
  if (instruction.roles<TestRoles>().isByParity)
    return warp.at<uint32_t>(instruction.slots[1])[lane] & 1;
  return read(reinterpret_cast<const char *>(&warp.at<uint64_t>(instruction.slots[1])[lane])).phase;
}

/// slots: address, parity or state, predicate.
static Step test(Warp &warp, const Instruction &instruction) {
  const TestRoles roles = instruction.roles<TestRoles>();
  uint32_t done = 0;
  BarrierAccess access(warp, instruction, roles.space);
  const unsigned first = unsigned(std::countr_zero(warp.mask));
  access.isAtomic = true;
  if (!access.reading().resolve(warp))
    return Step::Fail;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    const Fields fields = read(access.memory[lane]);
    if (!expectMbarrier(warp, instruction, access.memory[lane], lane))
      return Step::Fail;
    const uint32_t parity = parityOf(warp, instruction, lane);
    const bool isOver = fields.phase != parity;
    done |= uint32_t{isOver} << lane;
    SyncEvent event = eventOf(isOver ? SyncKind::MbarrierWait : SyncKind::MbarrierTest, warp, instruction,
                              access.memory[lane], parity);
    if (lane == first || access.memory[lane] != access.memory[first])
      tell(warp, event);
  }
  writePredicate(warp, instruction.slots[2], done);
  if (done == warp.mask) {
    warp.vainWaits = 0;
    return Step::Next;
  }
  if (done || !roles.waits)
    return Step::Yield;
  // try_wait may give up at any time. It stops doing so where that has not helped, so that a deadlock is seen as one.
  constexpr uint32_t kMostVainWaits = 32;
  Cluster &cluster = *warp.cta->cluster;
  const bool givesUp = cluster.launch->seed && warp.vainWaits < kMostVainWaits && cluster.nextRandom() % 4 == 0;
  warp.vainWaits += givesUp;
  return givesUp ? Step::Yield : Step::Wait;
}

/// "1 of 2 arrivals".
static std::string arrivalsText(const Fields &fields) {
  return std::to_string(fields.pending) + " of " + std::to_string(fields.expected) + " arrivals";
}

std::string nereid::sim::missingAtMbarrier(const Warp &warp, uint32_t lanes, const Instruction &instruction) {
  const auto lane = unsigned(std::countr_zero(lanes));
  if (instruction.execute != &test || !lanes)
    return "";
  const uint64_t address = warp.at<uint64_t>(instruction.slots[0])[lane] + instruction.immediate;
  const char *barrier = findShared(warp, address, sizeof(Fields));
  if (!barrier)
    return "";
  const Fields fields = read(barrier);
  constexpr uint64_t kHalf = uint64_t{1} << 21; ///< of the modulus of the bytes
  std::string text = "[the mbarrier at byte " + std::to_string(address & ((1u << kRankShift) - 1)) +
                     ", waited for parity " + std::to_string(parityOf(warp, instruction, lane)) + ", lacks " +
                     arrivalsText(fields);
  if (fields.bytes >= kHalf)
    text += "; " + std::to_string(2 * kHalf - fields.bytes) + " bytes more than expected have come";
  else if (fields.bytes)
    text += " and " + std::to_string(fields.bytes) + " bytes";
  return text + "]";
}

static Step readPending(Warp &warp, const Instruction &instruction) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (warp.isActive(lane))
      warp.at<uint32_t>(instruction.slots[0])[lane] =
          uint32_t(read(reinterpret_cast<const char *>(&warp.at<uint64_t>(instruction.slots[1])[lane])).pending);
  return Step::Next;
}

/// cp.async.mbarrier.arrive: after the thread's copies so far.
static Step arriveAfterCopies(Warp &warp, const Instruction &instruction) {
  const auto [space, isCounted] = instruction.roles<CopyArrivalRoles>();
  BarrierAccess access(warp, instruction, space);
  if (!access.updating().resolve(warp))
    return Step::Fail;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    char *barrier = access.memory[lane];
    if (!isCounted) {
      Fields fields = read(barrier);
      ++fields.pending;
      std::memcpy(barrier, &fields, 8);
    }
    AsyncGroups *groups = &groupsOf(warp.copies, lane);
    SyncEvent event{SyncKind::AsyncIssue, &instruction, 1u << lane, barrier};
    event.async = AsyncKind::CopyArrival;
    event.operation = ++warp.cta->cluster->numOperations;
    tell(warp, event);
    // Copies that have not been performed are performed before the arrival; a wait for their group finds them done.
    const auto perform = [groups, barrier, &warp, &instruction, operation = event.operation] {
      const bool isDone = waitForAll(*groups);
      arriveAt(warp, instruction, barrier, 1, operation);
      return isDone;
    };
    if (!startUnordered(warp, perform))
      return Step::Fail;
  }
  return Step::Next;
}

//--- decoding ------------------------------------------------------------------------------

static void takeOrder(Decoder &decoder, Order otherwise) {
  decoder.takeOrder(otherwise, Scope::Cta);
  decoder.take("b64");
}

static void decodeTest(Decoder &decoder, bool waits) {
  Instruction instruction;
  const Space space = decoder.takeSpace(Space::Generic);
  const bool isByParity = decoder.take("parity");
  instruction.setRoles(TestRoles{space, isByParity, waits});
  takeOrder(decoder, Order::Acquire);
  instruction.slots[2] = decoder.destination(decoder.operand(0), 0);
  instruction.slots[0] = decoder.address(decoder.operand(1), instruction.immediate);
  instruction.slots[1] = decoder.source(decoder.operand(2), isByParity ? 4 : 8);
  instruction.execute = &test;
  decoder.add(std::move(instruction));
}

static void decodeChange(Decoder &decoder, Change kind) {
  Instruction instruction;
  const Space space = decoder.takeSpace(Space::Generic);
  instruction.setRoles(ChangeRoles{space, kind, kind != Change::ExpectTx && decoder.take("expect_tx")});
  decoder.take("noComplete");
  takeOrder(decoder, Order::Release);
  const bool hasState =
      (kind == Change::Arrive || kind == Change::Drop) && decoder.operand(0).kind != OperandKind::Address;
  const size_t first = hasState ? 1 : 0;
  instruction.slots[2] = hasState && decoder.operand(0).kind == OperandKind::Name
                             ? decoder.destination(decoder.operand(0), 8)
                             : decoder.allocate(8);
  instruction.slots[0] = decoder.address(decoder.operand(first), instruction.immediate);
  instruction.slots[1] =
      decoder.operands().size() > first + 1 ? decoder.source(decoder.operand(first + 1), 4) : decoder.constant(1, 4);
  instruction.execute = &change;
  decoder.add(std::move(instruction));
}

static void decodeMbarrier(Decoder &decoder) {
  static constexpr std::pair<std::string_view, Change> changes[] = {
      {"init", Change::Init},        {"inval", Change::Inval},        {"arrive", Change::Arrive},
      {"arrive_drop", Change::Drop}, {"expect_tx", Change::ExpectTx}, {"complete_tx", Change::CompleteTx}};
  if (const std::optional<Change> kind = decoder.takeNamed(changes))
    return decodeChange(decoder, *kind);
  if (decoder.take("try_wait"))
    return decodeTest(decoder, true);
  if (decoder.take("test_wait"))
    return decodeTest(decoder, false);
  if (!decoder.take("pending_count"))
    return decoder.fail("this form is not known");
  decoder.take("b64");
  decoder.emit(&readPending, {4, 8});
}

void nereid::sim::decodeCopyArrival(Decoder &decoder) {
  decoder.take("mbarrier"), decoder.take("arrive");
  Instruction instruction;
  const Space space = decoder.takeSpace(Space::Generic);
  instruction.setRoles(CopyArrivalRoles{space, decoder.take("noinc")});
  takeOrder(decoder, Order::Release);
  instruction.slots[0] = decoder.address(decoder.operand(0), instruction.immediate);
  instruction.execute = &arriveAfterCopies;
  decoder.add(std::move(instruction));
}

void nereid::sim::addMbarrierOpcodes(OpcodeTable &table) { table.add("mbarrier", decodeMbarrier, Kind::Barrier); }
