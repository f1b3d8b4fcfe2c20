// Asynchronous copies: cp.async with its groups, and bulk copies without tensor maps.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/machine/Async.h"
#include "runtime/sim/machine/SyncEvent.h"
#include "runtime/sim/units/Reduction.h"

#include <algorithm>

using namespace nereid::sim;

//--- cp.async ------------------------------------------------------------------------------

namespace {
/// A copy of contiguous bytes by one thread.
struct ByteCopy : AsyncOperation {
  Proxy proxy;
  struct Side {
    Space space;
    uint64_t address;
    char *memory;
    uint32_t bytes;
    uint32_t slot;
  } to, from;

  AtomicOp reduction = AtomicOp::None; ///< of numbers of that type
  TensorElement element = TensorElement::U8;

  bool tell(const Side &side, Stage stage) const;
  bool tell(Stage stage) const { return tell(from, stage) && tell(to, stage); }
  /// What is not read is zero.
  bool perform() const;
  bool signal(char *barrier) const {
    completeBytes(*warp, *instruction, barrier, to.bytes, operation);
    return true;
  }
};
} // namespace

bool ByteCopy::tell(const Side &side, Stage stage) const {
  if (!isObserved() || !side.bytes)
    return true;
  MemoryAccess access = this->access(stage, side.space, side.bytes, proxy);
  (&side == &to ? access.writes : access.reads) = true;
  if (&side == &to && reduction != AtomicOp::None)
    access.reads = access.isAtomic = true;
  access.slot = side.slot;
  Pieces pieces(*warp, access);
  return pieces.add(side.address, side.memory) && pieces.flush();
}

bool ByteCopy::perform() const {
  if (!tell(Stage::Effect))
    return false;
  if (reduction != AtomicOp::None) {
    for (uint32_t at = 0; at < to.bytes; at += bytesOf(element))
      reduceInto(element, reduction, to.memory + at, from.memory + at);
    return true;
  }
  std::memcpy(to.memory, from.memory, from.bytes);
  std::memset(to.memory + from.bytes, 0, to.bytes - from.bytes);
  return true;
}

namespace {
struct CopyRoles {
  uint8_t bytes = 0; ///< of each lane
  bool hasSourceSize = false, hasPredicate = false;
};
} // namespace

/// Bytes that each lane reads.
static void readSizes(const Warp &warp, const Instruction &instruction, uint32_t (&sizes)[kLanes]) {
  const CopyRoles roles = instruction.roles<CopyRoles>();
  const uint32_t bytes = roles.bytes;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    sizes[lane] = roles.hasSourceSize ? std::min(warp.at<uint32_t>(instruction.slots[2])[lane], bytes) : bytes;
    if (roles.hasPredicate && warp.predicate(instruction.slots[3]) >> lane & 1)
      sizes[lane] = 0;
  }
}

/// The lanes that read whole are one access, the others one each.
static bool resolveSource(Warp &warp, LaneAccess &from, const uint32_t (&sizes)[kLanes]) {
  const uint32_t active = from.lanes, alignment = from.bytes;
  from.lanes = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    from.lanes |= uint32_t{(active >> lane & 1) && sizes[lane] == from.bytes} << lane;
  if (from.lanes && !from.reading().resolve(warp))
    return false;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(active >> lane & 1) || !sizes[lane] || sizes[lane] == from.bytes)
      continue;
    MemoryAccess part = from;
    part.reads = true;
    part.lanes = 1u << lane;
    part.bytes = sizes[lane];
    HostAddresses host;
    if (!resolve(warp, part, alignment, host))
      return false;
    from.memory[lane] = host[lane];
  }
  return true;
}

/// slots: to, from, bytes that are read, ignore. The offsets of both addresses are the words of `list`.
static Step copyAsync(Warp &warp, const Instruction &instruction) {
  const unsigned bytes = instruction.roles<CopyRoles>().bytes;
  LaneAccess to(warp, instruction, Space::Shared, instruction.slots[0], uint64_t(int32_t(instruction.list[0])), bytes);
  LaneAccess from(warp, instruction, Space::Global, instruction.slots[1], uint64_t(int32_t(instruction.list[1])),
                  bytes);
  to.stage = from.stage = Stage::Issue;
  to.operation = from.operation = ++warp.cta->cluster->numOperations;
  tell(warp, {SyncKind::AsyncIssue, &instruction, warp.mask, nullptr, 0, to.operation});
  uint32_t sizes[kLanes];
  readSizes(warp, instruction, sizes);
  if (!resolveSource(warp, from, sizes) || !to.writing().resolve(warp))
    return Step::Fail;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    const ByteCopy copy{{&warp, &instruction, to.operation, lane},
                        Proxy::Generic,
                        {Space::Shared, to.values[lane], to.memory[lane], bytes, instruction.slots[0]},
                        {Space::Global, from.values[lane], sizes[lane] ? from.memory[lane] : nullptr, sizes[lane],
                         instruction.slots[1]}};
    if (!start(warp, groupsOf(warp.copies, lane), [copy] { return copy.perform(); }))
      return Step::Fail;
  }
  return Step::Next;
}

namespace {
/// Of a wait for groups.
struct WaitRoles {
  bool isAll;  ///< operations that are not committed too
  bool isRead; ///< only until they have read, which is the same here
};
} // namespace

/// What tells of a group of copies or of bulk stores.
template <std::vector<AsyncGroups> Warp::*Groups>
static SyncEvent groupEvent(SyncKind kind, const Warp &warp, const Instruction &instruction) {
  SyncEvent event{kind, &instruction, warp.mask, nullptr, uint32_t(instruction.immediate)};
  event.async = Groups == &Warp::copies ? AsyncKind::Copy : AsyncKind::BulkStore;
  const auto [isAll, isRead] = instruction.roles<WaitRoles>();
  event.isAll = isAll;
  event.isRead = isRead;
  return event;
}

template <std::vector<AsyncGroups> Warp::*Groups> static Step commitLanes(Warp &warp, const Instruction &instruction) {
  tell(warp, groupEvent<Groups>(SyncKind::AsyncCommit, warp, instruction));
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (warp.isActive(lane))
      commit(groupsOf(warp.*Groups, lane));
  return Step::Next;
}

template <std::vector<AsyncGroups> Warp::*Groups> static Step waitLanes(Warp &warp, const Instruction &instruction) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (warp.isActive(lane)) {
      AsyncGroups &groups = groupsOf(warp.*Groups, lane);
      if (!(instruction.roles<WaitRoles>().isAll ? waitForAll(groups) : waitForGroups(groups, instruction.immediate)))
        return Step::Fail;
    }
  tell(warp, groupEvent<Groups>(SyncKind::AsyncWait, warp, instruction));
  return Step::Next;
}

static void decodeWait(Decoder &decoder, Execute execute, bool isAll, bool isRead = false) {
  Instruction instruction;
  instruction.execute = execute;
  instruction.setRoles(WaitRoles{isAll, isRead});
  instruction.immediate = decoder.operand(0).bits;
  decoder.add(std::move(instruction));
}

static void decodeAsync(Decoder &decoder) {
  if (decoder.take("commit_group"))
    return void(decoder.emit(&commitLanes<&Warp::copies>));
  if (decoder.take("wait_group"))
    return decodeWait(decoder, &waitLanes<&Warp::copies>, false);
  if (decoder.take("wait_all"))
    return decodeWait(decoder, &waitLanes<&Warp::copies>, true);
  decoder.dropCacheHints();
  decoder.takeSpace(Space::Shared), decoder.takeSpace(Space::Global);
  const std::vector<Operand> &operands = decoder.operands();
  Instruction instruction;
  uint64_t offsets[2] = {};
  instruction.slots[0] = decoder.address(decoder.operand(0), offsets[0]);
  instruction.slots[1] = decoder.address(decoder.operand(1), offsets[1]);
  instruction.list = {uint32_t(offsets[0]), uint32_t(offsets[1])};
  CopyRoles roles{uint8_t(decoder.operand(2).bits)};
  if (operands.size() > 3) {
    const std::optional<Register> reg = decoder.findRegister(decoder.operand(3).name);
    const bool isPredicate = reg && reg->bytes == 0, isPolicy = reg && reg->bytes == 8;
    roles.hasSourceSize = !isPredicate && !isPolicy;
    roles.hasPredicate = isPredicate;
    if (!isPolicy)
      instruction.slots[isPredicate ? 3 : 2] = decoder.source(decoder.operand(3), isPredicate ? 0 : 4);
  }
  instruction.setRoles(roles);
  instruction.execute = &copyAsync;
  decoder.add(std::move(instruction));
}

//--- bulk copies ---------------------------------------------------------------------------

namespace {
enum class BulkKind : uint8_t { Store, Load, Exchange }; ///< to global memory, to shared memory, between CTAs
struct BulkRoles {
  BulkKind kind = BulkKind::Store;
  AtomicOp reduction = AtomicOp::None;
  TensorElement element = TensorElement::U8; ///< of a reduction
  bool isMulticast = false;
};
} // namespace

/// One bulk copy; of a multicast the one to the CTA of that rank, which gets data and signal at the same offsets.
static bool startBulk(Warp &warp, const Instruction &instruction, unsigned lane, std::optional<uint32_t> rank) {
  const BulkRoles roles = instruction.roles<BulkRoles>();
  const bool isLoad = roles.kind != BulkKind::Store;
  const auto ofRank = [rank](uint64_t address) {
    return rank ? (address & ((1u << kRankShift) - 1)) | uint64_t{*rank + 1} << kRankShift : address;
  };
  const uint64_t target = ofRank(warp.at<uint64_t>(instruction.slots[0])[lane] + int32_t(instruction.list[0]));
  const uint64_t source = warp.at<uint64_t>(instruction.slots[1])[lane] + int32_t(instruction.list[1]);
  const uint32_t bytes = warp.at<uint32_t>(instruction.slots[2])[lane];
  const Space from = roles.kind == BulkKind::Load ? Space::Global : Space::Shared,
              to = isLoad ? Space::Shared : Space::Global;
  ByteCopy copy{{&warp, &instruction, ++warp.cta->cluster->numOperations, lane},
                Proxy::Async,
                {to, target, nullptr, bytes, instruction.slots[0]},
                {from, source, nullptr, bytes, instruction.slots[1]},
                roles.reduction,
                roles.element};
  copy.to.memory = translate(warp, instruction, to, target, lane, bytes, 16);
  copy.from.memory = translate(warp, instruction, from, source, lane, bytes, 16);
  char *barrier = nullptr;
  if (isLoad)
    barrier =
        translate(warp, instruction, Space::Shared,
                  ofRank(warp.at<uint64_t>(instruction.slots[3])[lane] + int32_t(instruction.list[2])), lane, 8, 8);
  if (!copy.to.memory || !copy.from.memory ||
      (isLoad && (!barrier || !expectMbarrier(warp, instruction, barrier, lane))))
    return false;
  SyncEvent event{SyncKind::AsyncIssue, &instruction, 1u << lane, barrier, 0, copy.operation};
  event.async = isLoad ? AsyncKind::Signalling : AsyncKind::BulkStore;
  tell(warp, event);
  if (!copy.tell(Stage::Issue))
    return false;
  return isLoad ? startUnordered(warp, [copy, barrier] { return copy.perform() && copy.signal(barrier); })
                : start(warp, groupsOf(warp.bulkStores, lane), [copy] { return copy.perform(); });
}

/// slots: to, from, bytes, mbarrier, CTA mask.
static Step copyBulk(Warp &warp, const Instruction &instruction) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    if (warp.at<uint32_t>(instruction.slots[2])[lane] % 16)
      return fail(warp, instruction, "sim-fault", "the size of a bulk copy is no multiple of 16", int(lane));
    if (!instruction.roles<BulkRoles>().isMulticast) {
      if (!startBulk(warp, instruction, lane, std::nullopt))
        return Step::Fail;
      continue;
    }
    const uint32_t ranks = warp.at<uint32_t>(instruction.slots[4])[lane] & 0xffff;
    for (uint32_t rank = 0; rank < 16; ++rank)
      if (ranks >> rank & 1 && !startBulk(warp, instruction, lane, rank))
        return Step::Fail;
  }
  return Step::Next;
}

static void decodeBulk(Decoder &decoder, bool isReduction) {
  if (decoder.take("commit_group"))
    return void(decoder.emit(&commitLanes<&Warp::bulkStores>));
  if (decoder.take("wait_group")) {
    const bool isRead = decoder.take("read");
    return decodeWait(decoder, &waitLanes<&Warp::bulkStores>, false, isRead);
  }
  if (decoder.take("prefetch"))
    return decoder.dropAll();
  if (decoder.take("tensor"))
    return decodeTensorCopy(decoder);
  const bool signals = decoder.take("mbarrier::complete_tx::bytes");
  const bool isMulticast = decoder.take("multicast::cluster");
  decoder.take("bulk_group");
  const Space to = decoder.takeSpace(Space::Global), from = decoder.takeSpace(Space::Global);
  decoder.dropCacheHints();
  Instruction instruction;
  BulkRoles roles;
  roles.kind = to != Space::Shared ? BulkKind::Store : from == Space::Shared ? BulkKind::Exchange : BulkKind::Load;
  roles.isMulticast = isMulticast;
  if (isReduction) {
    decoder.take("noftz");
    const AtomicOp reduction = takeReduction(decoder);
    const std::optional<TensorElement> element = takeElement(decoder);
    if (!element || reduction == AtomicOp::None)
      return decoder.fail("this form of a bulk copy is not known");
    roles.reduction = reduction;
    roles.element = *element;
  }
  if (signals != (to == Space::Shared) || decoder.opcode() != "cp" || (isMulticast && (isReduction || !signals)))
    return decoder.fail("this form of a bulk copy is not known");
  uint64_t offsets[3] = {};
  instruction.slots[0] = decoder.address(decoder.operand(0), offsets[0]);
  instruction.slots[1] = decoder.address(decoder.operand(1), offsets[1]);
  instruction.slots[2] = decoder.source(decoder.operand(2), 4);
  if (signals)
    instruction.slots[3] = decoder.address(decoder.operand(3), offsets[2]);
  if (isMulticast)
    instruction.slots[4] = decoder.source(decoder.operand(4), 4);
  instruction.list = {uint32_t(offsets[0]), uint32_t(offsets[1]), uint32_t(offsets[2])};
  instruction.setRoles(roles);
  instruction.execute = &copyBulk;
  decoder.add(std::move(instruction));
}

static void decodeCopy(Decoder &decoder) {
  const bool isReduction = decoder.take("reduce");
  if (!decoder.take("async"))
    return decoder.fail("this form is not known");
  if (decoder.take("bulk"))
    return decodeBulk(decoder, isReduction && !decoder.has("tensor"));
  if (decoder.has("mbarrier"))
    return decodeCopyArrival(decoder);
  decodeAsync(decoder);
}

void nereid::sim::addCopyOpcodes(OpcodeTable &table) { table.add("cp", decodeCopy); }
