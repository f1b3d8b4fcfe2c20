// multimem.ld_reduce, .st and .red: one instruction on the memory of all GPUs of a multicast address.
// SPDX-License-Identifier: MIT
//
// Any other address stands for its own memory alone, as with one GPU.
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/machine/Multicast.h"
#include "runtime/sim/units/Opcodes.h"
#include "runtime/sim/units/Reduction.h"

#include <bit>

using namespace nereid::sim;

namespace {
struct MultimemRoles {
  AtomicOp op;
  uint8_t count, elementBytes;
  uint8_t type; ///< a number of `findCombine`
};

constexpr unsigned kMaxBytes = 32;

/// What one instruction accesses: each lane the same offset in the memory of every GPU.
class Members {
public:
  Members(Warp &warp, const Instruction &instruction)
      : warp(warp), instruction(instruction), roles(instruction.roles<MultimemRoles>()),
        bytes(uint32_t{roles.count} * roles.elementBytes) {}

  /// Calls `f(access)` for each GPU with resolved addresses; false after a failure.
  template <typename Prepare, typename F> bool forEach(Prepare prepare, F f) {
    const unsigned first = unsigned(std::countr_zero(warp.mask));
    const uint64_t address = warp.at<uint64_t>(instruction.slots[0])[first] + instruction.immediate;
    const auto memory = findMulticast(address);
    const size_t count = memory ? memory->members.size() : 1;
    for (size_t member = 0; member < count; ++member) {
      LaneAccess access(warp, instruction, Space::Global, instruction.slots[0], instruction.immediate, bytes);
      if (memory && !moveTo(access, *memory, member))
        return false;
      prepare(access);
      if (!access.resolve(warp))
        return false;
      f(access);
    }
    return true;
  }

  char *element(unsigned lane, unsigned index) const {
    const uint32_t slotBytes = std::max<uint32_t>(roles.elementBytes, 4);
    return reinterpret_cast<char *>(warp.file + instruction.list[index] + lane * slotBytes);
  }

private:
  bool moveTo(LaneAccess &access, const MulticastMemory &memory, size_t member) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (!warp.isActive(lane))
        continue;
      const uint64_t offset = access.values[lane] - memory.begin;
      if (offset >= memory.bytes || memory.bytes - offset < bytes) {
        fail(warp, instruction, "sim-fault", "multimem access beyond the end of multicast memory", int(lane));
        return false;
      }
      access.values[lane] = memory.members[member] + offset;
    }
    return true;
  }

  Warp &warp;
  const Instruction &instruction;
  const MultimemRoles roles;
  const uint32_t bytes;
};
} // namespace

static Step loadReduce(Warp &warp, const Instruction &instruction) {
  const auto roles = instruction.roles<MultimemRoles>();
  const Combine combine = combineOf(roles.type);
  alignas(8) char sums[kLanes][kMaxBytes];
  bool isFirst = true;
  Members members(warp, instruction);
  const auto addLane = [&](unsigned lane, const char *memory) {
    if (isFirst)
      return void(std::memcpy(sums[lane], memory, size_t{roles.count} * roles.elementBytes));
    for (unsigned at = 0; at < roles.count * roles.elementBytes; at += roles.elementBytes)
      combine(roles.op, sums[lane] + at, memory + at);
  };
  const bool done = members.forEach([](LaneAccess &access) { access.reading(); },
                                    [&](const LaneAccess &access) {
                                      for (unsigned lane = 0; lane < kLanes; ++lane)
                                        if (warp.isActive(lane))
                                          addLane(lane, access.memory[lane]);
                                      isFirst = false;
                                    });
  if (!done)
    return Step::Fail;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned index = 0; warp.isActive(lane) && index < roles.count; ++index) {
      uint64_t value = 0;
      std::memcpy(&value, sums[lane] + index * roles.elementBytes, roles.elementBytes);
      std::memcpy(members.element(lane, index), &value, std::max<size_t>(roles.elementBytes, 4));
    }
  return isWaiting(*warp.cta->cluster) ? Step::Yield : Step::Next;
}

static Step store(Warp &warp, const Instruction &instruction) {
  const auto roles = instruction.roles<MultimemRoles>();
  Members members(warp, instruction);
  const auto prepare = [&](LaneAccess &access) {
    access.writing();
    access.elements = instruction.list;
    access.slotBytes = std::max<uint32_t>(roles.elementBytes, 4);
  };
  const auto write = [&](const LaneAccess &access) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned index = 0; warp.isActive(lane) && index < roles.count; ++index)
        std::memcpy(access.memory[lane] + index * roles.elementBytes, members.element(lane, index), roles.elementBytes);
  };
  return members.forEach(prepare, write) ? Step::Next : Step::Fail;
}

static Step reduce(Warp &warp, const Instruction &instruction) {
  const auto roles = instruction.roles<MultimemRoles>();
  const Combine combine = combineOf(roles.type);
  Members members(warp, instruction);
  const auto update = [&](const LaneAccess &access) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned index = 0; warp.isActive(lane) && index < roles.count; ++index)
        combine(roles.op, access.memory[lane] + index * roles.elementBytes, members.element(lane, index));
    (void)access.noteUpdate(warp, /*changes=*/true, /*isReduction=*/true);
  };
  return members.forEach([](LaneAccess &access) { access.updating(); }, update) ? Step::Next : Step::Fail;
}

//--- decoding ------------------------------------------------------------------------------

static void decodeMultimem(Decoder &decoder) {
  const bool isLoad = decoder.take("ld_reduce"), isReduction = !isLoad && decoder.take("red");
  if (!isLoad && !isReduction && !decoder.take("st"))
    return decoder.fail("this form is not known");
  decoder.takeOrder(isReduction ? Order::Relaxed : Order::Weak, isReduction ? Scope::Gpu : Scope::None);
  decoder.takeSpace(Space::Global);
  const AtomicOp op = takeReduction(decoder);
  decoder.takeOf({"acc::f16", "acc::f32"});
  decoder.takeOf({"v2", "v4", "v8"});
  const std::string type = decoder.takeType();
  const std::optional<uint8_t> combine = findCombine(type);
  const Operand &address = decoder.operand(isLoad ? 1 : 0);
  const std::vector<Operand> elements = elementsOf(decoder.operand(isLoad ? 0 : 1));
  const unsigned bytes = bytesOfType(type), lanes = std::max(bytes, 4u);
  if (!combine || (op == AtomicOp::None) != (!isLoad && !isReduction) || elements.size() * bytes > kMaxBytes ||
      address.kind != OperandKind::Address)
    return decoder.fail("this form is not known");
  Instruction instruction;
  for (const Operand &element : elements)
    instruction.list.push_back(isLoad ? decoder.destination(element, lanes)
                                      : decoder.source(element, lanes, type[0] == 'f'));
  instruction.slots[0] = decoder.address(address, instruction.immediate);
  instruction.setRoles(MultimemRoles{op, uint8_t(elements.size()), uint8_t(bytes), *combine});
  instruction.execute = isLoad ? &loadReduce : isReduction ? &reduce : &store;
  instruction.isReduction = isReduction;
  decoder.add(std::move(instruction));
}

void nereid::sim::addMultimemOpcodes(OpcodeTable &table) { table.add("multimem", decodeMultimem); }
