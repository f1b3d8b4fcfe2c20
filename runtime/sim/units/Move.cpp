// mov in all forms, and special registers that change with time.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/Opcodes.h"

#include <chrono>

using namespace nereid::sim;

template <typename T> static T same(T value) { return value; }

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
  decoder.emit(isWide ? &readClock<uint64_t> : &readClock<uint32_t>, {isWide ? 8u : 4u}).setRoles(ClockRoles{isTime});
  return true;
}

/// The bytes of a lane of slot 0 become those of the `list`, or the other way round.
template <unsigned Bytes, bool IsUnpack> static Step repack(Warp &warp, const Instruction &instruction) {
  const unsigned each = Bytes / unsigned(instruction.list.size()), width = instruction.roles<PackRoles>().laneBytes;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    uint8_t value[16] = {}, *whole = warp.file + instruction.slots[0] + lane * Bytes;
    if (IsUnpack)
      std::memcpy(value, whole, Bytes);
    for (unsigned index = 0; index < instruction.list.size(); ++index) {
      uint8_t *part = warp.file + instruction.list[index] + lane * width;
      if (!IsUnpack) {
        std::memcpy(value + index * each, part, each);
        continue;
      }
      std::memset(part, 0, width);
      std::memcpy(part, value + index * each, each);
    }
    if (!IsUnpack)
      std::memcpy(whole, value, Bytes);
  }
  return Step::Next;
}
template <unsigned Bytes> static Execute repackOf(bool isUnpack) {
  return isUnpack ? &repack<Bytes, true> : &repack<Bytes, false>;
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
  instruction.execute = bytes == 4   ? repackOf<4>(isUnpack)
                        : bytes == 8 ? repackOf<8>(isUnpack)
                                     : repackOf<16>(isUnpack);
  decoder.add(std::move(instruction));
}

static void decodeMove(Decoder &decoder) {
  const std::string type = decoder.takeType();
  const unsigned bytes = bytesOfType(type);
  if (decodeClock(decoder))
    return;
  if (decoder.operand(0).kind == OperandKind::Vector || decoder.operand(1).kind == OperandKind::Vector)
    return decodePacked(decoder, bytes < 4 ? 4 : bytes);
  type == "pred" ? decoder.lanes<&same<bool>>()
  : bytes == 16  ? decoder.lanes<&same<Bits128>>()
  : bytes == 8   ? decoder.lanes<&same<uint64_t>>()
                 : decoder.lanes<&same<uint32_t>>();
}

static void decodeActive(Decoder &decoder) {
  decoder.takeType();
  decoder.emit(&readActive, {4});
}

void nereid::sim::addMoveOpcodes(OpcodeTable &table) {
  table.add("mov", decodeMove, Kind::Move, ValueFlow::All);
  table.add("activemask", decodeActive, Kind::Shuffle);
}
