// Asynchronous copies: cp.async with its groups, and bulk copies without tensor maps.
// SPDX-License-Identifier: MIT
#include "runtime/sim/Async.h"
#include "runtime/sim/Decode.h"

using namespace nereid::sim;

//--- cp.async ------------------------------------------------------------------------------

/// slots: to, from, bytes that are read, ignore. tag[0]: bytes; tag[1]: has a source size; tag[2]: has a predicate.
/// The offsets of both addresses are the words of `list`.
static Step copyAsync(Warp &warp, const Instruction &instruction) {
  const unsigned bytes = instruction.tag[0];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    const uint64_t target = warp.at<uint64_t>(instruction.slots[0])[lane] + int32_t(instruction.list[0]);
    const uint64_t source = warp.at<uint64_t>(instruction.slots[1])[lane] + int32_t(instruction.list[1]);
    unsigned read = instruction.tag[1] ? warp.at<uint32_t>(instruction.slots[2])[lane] : bytes;
    if (instruction.tag[2] && warp.predicate(instruction.slots[3]) >> lane & 1)
      read = 0;
    if (target % bytes || (read && source % bytes))
      return fail(warp, instruction, "sim-fault", "an address of cp.async is not aligned");
    char *to = translate(warp, instruction, Space::Shared, target, lane, bytes);
    const char *from = read ? translate(warp, instruction, Space::Global, source, lane, read) : to;
    if (!to || !from)
      return Step::Fail;
    start(warp, groupsOf(warp.copies, lane), [=] {
      std::memcpy(to, from, read);
      std::memset(to + read, 0, bytes - read);
      return true;
    });
  }
  return Step::Next;
}

template <std::vector<AsyncGroups> Warp::*Groups> static Step commitLanes(Warp &warp, const Instruction &) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (warp.isActive(lane))
      commit(groupsOf(warp.*Groups, lane));
  return Step::Next;
}

/// tag[0]: waits for all, committed or not.
template <std::vector<AsyncGroups> Warp::*Groups> static Step waitLanes(Warp &warp, const Instruction &instruction) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (warp.isActive(lane)) {
      AsyncGroups &groups = groupsOf(warp.*Groups, lane);
      if (!(instruction.tag[0] ? waitForAll(groups) : waitForGroups(groups, instruction.immediate)))
        return Step::Fail;
    }
  return Step::Next;
}

static void decodeWait(Decoder &decoder, Execute execute, bool isAll) {
  Instruction instruction;
  instruction.execute = execute;
  instruction.tag[0] = isAll;
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
  instruction.tag[0] = uint8_t(decoder.operand(2).bits);
  if (operands.size() > 3) {
    const std::optional<Register> reg = decoder.findRegister(decoder.operand(3).name);
    const bool isPredicate = reg && reg->bytes == 0, isPolicy = reg && reg->bytes == 8;
    instruction.tag[1] = !isPredicate && !isPolicy;
    instruction.tag[2] = isPredicate;
    if (!isPolicy)
      instruction.slots[isPredicate ? 3 : 2] = decoder.source(decoder.operand(3), isPredicate ? 0 : 4);
  }
  instruction.execute = &copyAsync;
  decoder.add(std::move(instruction));
}

//--- bulk copies ---------------------------------------------------------------------------

/// slots: to, from, bytes, mbarrier, CTA mask. tag[0]: to shared memory (1), to global memory (0), between CTAs (2).
static Step copyBulk(Warp &warp, const Instruction &instruction) {
  const bool isLoad = instruction.tag[0] != 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    const uint64_t target = warp.at<uint64_t>(instruction.slots[0])[lane] + int32_t(instruction.list[0]);
    const uint64_t source = warp.at<uint64_t>(instruction.slots[1])[lane] + int32_t(instruction.list[1]);
    const uint32_t bytes = warp.at<uint32_t>(instruction.slots[2])[lane];
    if (target % 16 || source % 16 || bytes % 16)
      return fail(warp, instruction, "sim-fault", "an address or the size of a bulk copy is no multiple of 16");
    const Space from = instruction.tag[0] == 1 ? Space::Global : Space::Shared;
    char *to = translate(warp, instruction, isLoad ? Space::Shared : Space::Global, target, lane, bytes);
    const char *data = translate(warp, instruction, from, source, lane, bytes);
    char *barrier = nullptr;
    if (isLoad)
      barrier = translate(warp, instruction, Space::Shared,
                          warp.at<uint64_t>(instruction.slots[3])[lane] + int32_t(instruction.list[2]), lane, 8);
    if (!to || !data || (isLoad && !barrier))
      return Step::Fail;
    if (isLoad)
      startUnordered(warp, [=] { return std::memcpy(to, data, bytes), completeBytes(barrier, bytes), true; });
    else
      start(warp, groupsOf(warp.bulkStores, lane), [=] { return std::memcpy(to, data, bytes), true; });
  }
  return Step::Next;
}

static void decodeBulk(Decoder &decoder) {
  if (decoder.take("commit_group"))
    return void(decoder.emit(&commitLanes<&Warp::bulkStores>));
  if (decoder.take("wait_group")) {
    decoder.take("read");
    return decodeWait(decoder, &waitLanes<&Warp::bulkStores>, false);
  }
  if (decoder.take("prefetch"))
    return decoder.dropAll();
  if (decoder.take("tensor"))
    return decodeTensorCopy(decoder);
  const bool signals = decoder.take("mbarrier::complete_tx::bytes");
  decoder.take("bulk_group");
  const Space to = decoder.takeSpace(Space::Global), from = decoder.takeSpace(Space::Global);
  decoder.dropCacheHints();
  if (signals != (to == Space::Shared) || decoder.opcode() != "cp")
    return decoder.fail("this form of a bulk copy is not known");
  Instruction instruction;
  uint64_t offsets[3] = {};
  instruction.slots[0] = decoder.address(decoder.operand(0), offsets[0]);
  instruction.slots[1] = decoder.address(decoder.operand(1), offsets[1]);
  instruction.slots[2] = decoder.source(decoder.operand(2), 4);
  if (signals)
    instruction.slots[3] = decoder.address(decoder.operand(3), offsets[2]);
  instruction.list = {uint32_t(offsets[0]), uint32_t(offsets[1]), uint32_t(offsets[2])};
  instruction.tag[0] = to != Space::Shared ? 0 : from == Space::Shared ? 2 : 1;
  instruction.execute = &copyBulk;
  decoder.add(std::move(instruction));
}

static void decodeCopy(Decoder &decoder) {
  const bool isReduction = decoder.take("reduce");
  if (!decoder.take("async"))
    return decoder.fail("this form is not known");
  if (decoder.take("bulk"))
    return isReduction && !decoder.has("tensor") ? decoder.fail("this form is not known") : decodeBulk(decoder);
  if (decoder.has("mbarrier"))
    return decodeCopyArrival(decoder);
  decodeAsync(decoder);
}

std::span<const OpcodeEntry> nereid::sim::copyOpcodes() {
  static const OpcodeEntry entries[] = {{"cp", decodeCopy}};
  return entries;
}
