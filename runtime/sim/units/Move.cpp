// mov in all forms, and special registers that change with time.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/Opcodes.h"

#include <chrono>

using namespace nereid::sim;

static uint32_t same32(uint32_t value) { return value; }
static uint64_t same64(uint64_t value) { return value; }
static Bits128 same128(Bits128 value) { return value; }
static bool sameBit(bool value) { return value; }

static uint64_t nanoseconds() {
  return uint64_t(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

namespace {
struct ClockRoles {
  bool isTime; ///< of the host, else a count of instructions
};
struct PackRoles {
  uint8_t laneBytes; ///< of the registers of the list
};
} // namespace

template <typename S> static Step readClock(Warp &warp, const Instruction &instruction) {
  const uint64_t now = instruction.roles<ClockRoles>().isTime ? nanoseconds() : warp.cta->cluster->threadInstructions;
  S values[kLanes];
  std::fill_n(values, kLanes, S(now));
  writeLanes(warp, instruction.slots[0], values);
  return Step::Next;
}

static Step readActive(Warp &warp, const Instruction &instruction) {
  uint32_t values[kLanes];
  std::fill_n(values, kLanes, warp.mask);
  writeLanes(warp, instruction.slots[0], values);
  return Step::Next;
}

static bool decodeClock(Decoder &decoder) {
  const std::string &name = decoder.operand(1).name;
  const bool isTime = name.starts_with("%globaltimer");
  if (!isTime && !name.starts_with("%clock"))
    return false;
  const bool isWide = name == "%globaltimer" || name == "%clock64";
  Instruction instruction;
  instruction.slots[0] = decoder.destination(decoder.operand(0), isWide ? 8 : 4);
  instruction.setRoles(ClockRoles{isTime});
  instruction.execute = isWide ? &readClock<uint64_t> : &readClock<uint32_t>;
  decoder.add(std::move(instruction));
  return true;
}

/// The bytes of a lane of `from` (1 slot) become those of the `list`, or the other way round.
template <unsigned Bytes> static Step unpack(Warp &warp, const Instruction &instruction) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    uint8_t value[16];
    std::memcpy(value, warp.file + instruction.slots[0] + lane * Bytes, Bytes);
    const unsigned each = Bytes / unsigned(instruction.list.size()), width = instruction.roles<PackRoles>().laneBytes;
    for (unsigned index = 0; index < instruction.list.size(); ++index) {
      uint8_t part[8] = {};
      std::memcpy(part, value + index * each, each);
      std::memcpy(warp.file + instruction.list[index] + lane * width, part, width);
    }
  }
  return Step::Next;
}
template <unsigned Bytes> static Step pack(Warp &warp, const Instruction &instruction) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    uint8_t value[16] = {};
    const unsigned each = Bytes / unsigned(instruction.list.size()), width = instruction.roles<PackRoles>().laneBytes;
    for (unsigned index = 0; index < instruction.list.size(); ++index)
      std::memcpy(value + index * each, warp.file + instruction.list[index] + lane * width, each);
    std::memcpy(warp.file + instruction.slots[0] + lane * Bytes, value, Bytes);
  }
  return Step::Next;
}

static void decodePacked(Decoder &decoder, unsigned bytes) {
  const bool isUnpack = decoder.operand(0).kind == OperandKind::Vector;
  const Operand &vector = decoder.operand(isUnpack ? 0 : 1), &whole = decoder.operand(isUnpack ? 1 : 0);
  const unsigned each = bytes / unsigned(std::max<size_t>(vector.parts.size(), 1));
  Instruction instruction;
  const uint8_t laneBytes = each == 8 ? 8 : 4;
  instruction.setRoles(PackRoles{laneBytes});
  for (const Operand &part : vector.parts)
    instruction.list.push_back(isUnpack ? decoder.destination(part, laneBytes) : decoder.source(part, laneBytes));
  instruction.slots[0] = isUnpack ? decoder.source(whole, bytes) : decoder.destination(whole, bytes);
  instruction.execute = bytes == 4   ? isUnpack ? &unpack<4> : &pack<4>
                        : bytes == 8 ? isUnpack ? &unpack<8> : &pack<8>
                        : isUnpack   ? &unpack<16>
                                     : &pack<16>;
  decoder.add(std::move(instruction));
}

static void decodeMove(Decoder &decoder) {
  const std::string type = decoder.takeType();
  const unsigned bytes = bytesOfType(type);
  if (decodeClock(decoder))
    return;
  if (decoder.operand(0).kind == OperandKind::Vector || decoder.operand(1).kind == OperandKind::Vector)
    return decodePacked(decoder, bytes < 4 ? 4 : bytes);
  if (type == "pred")
    return decoder.lanes<&sameBit>();
  if (bytes == 16)
    return decoder.lanes<&same128>();
  if (bytes == 8)
    return decoder.lanes<&same64>();
  decoder.lanes<&same32>();
}

static void decodeActive(Decoder &decoder) {
  decoder.takeType();
  Instruction instruction;
  instruction.slots[0] = decoder.destination(decoder.operand(0), 4);
  instruction.execute = &readActive;
  decoder.add(std::move(instruction));
}

std::span<const OpcodeEntry> nereid::sim::moveOpcodes() {
  static const OpcodeEntry entries[] = {{"mov", decodeMove, Kind::Move, ValueFlow::All},
                                        {"activemask", decodeActive, Kind::Shuffle}};
  return entries;
}
