// Loads and stores of AMD's buffers: words outside of the buffer read as zero and are not written.
// SPDX-License-Identifier: MIT
//
//   amd.buffer_load.b32 {d0, d1}, base, offset, bytes;  amd.buffer_store.b16 {s}, base, offset, bytes
//
// Each word of 32 bits is checked on its own (CDNA3 ISA 9.1.5.5, raw buffers).
#include "runtime/sim/amd/Instructions.h"
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/machine/Decode.h"

using namespace nereid::sim;

namespace {
/// The access of the words `first` to `first + count` of the lanes of a mask.
struct WordAccess : MemoryAccess {
  uint64_t values[kLanes] = {};
  HostAddresses memory = {};
};

struct BufferRoles {
  uint8_t count; ///< of words
  uint8_t bytes; ///< of a word
};
} // namespace

/// slots: base, offset, bytes of the buffer.
static uint32_t lanesInside(const Warp &warp, const Instruction &instruction, unsigned word) {
  const auto *offsets = warp.at<uint32_t>(instruction.slots[1]), *sizes = warp.at<uint32_t>(instruction.slots[2]);
  const unsigned bytes = instruction.roles<BufferRoles>().bytes;
  uint32_t lanes = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    lanes |= uint32_t{warp.isActive(lane) && uint64_t{offsets[lane]} + (word + 1) * bytes <= sizes[lane]} << lane;
  return lanes;
}

static bool resolveWords(Warp &warp, const Instruction &instruction, unsigned first, unsigned count, bool isStore,
                         WordAccess &access) {
  const auto *base = warp.at<uint64_t>(instruction.slots[0]);
  const auto *offsets = warp.at<uint32_t>(instruction.slots[1]);
  const unsigned bytes = instruction.roles<BufferRoles>().bytes;
  access.instruction = &instruction;
  access.space = Space::Global;
  access.bytes = count * bytes;
  access.addresses = access.values;
  access.slot = instruction.slots[0];
  access.elements = std::span(instruction.list).subspan(first, count);
  access.slotBytes = 4;
  (isStore ? access.writes : access.reads) = true;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    access.values[lane] = base[lane] + offsets[lane] + first * bytes;
  return !access.lanes || resolve(warp, access, bytes, access.memory);
}

/// Moves the words `first` to `first + count`, which the same lanes access.
static bool moveWords(Warp &warp, const Instruction &instruction, unsigned first, unsigned count, bool isStore) {
  WordAccess access;
  access.lanes = lanesInside(warp, instruction, first);
  if (!resolveWords(warp, instruction, first, count, isStore, access))
    return false;
  const unsigned bytes = instruction.roles<BufferRoles>().bytes;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned word = 0; warp.isActive(lane) && word < count; ++word) {
      uint32_t &value = warp.at<uint32_t>(instruction.list[first + word])[lane];
      const bool isInside = access.lanes >> lane & 1;
      if (!isStore)
        value = 0;
      if (isInside && isStore)
        std::memcpy(access.memory[lane] + word * bytes, &value, bytes);
      else if (isInside)
        std::memcpy(&value, access.memory[lane] + word * bytes, bytes);
    }
  return true;
}

template <bool IsStore> static Step accessBuffer(Warp &warp, const Instruction &instruction) {
  const unsigned count = instruction.roles<BufferRoles>().count;
  for (unsigned first = 0; first < count;) {
    unsigned end = first + 1;
    while (end < count && lanesInside(warp, instruction, end) == lanesInside(warp, instruction, first))
      ++end;
    if (!moveWords(warp, instruction, first, end - first, IsStore))
      return Step::Fail;
    first = end;
  }
  return Step::Next;
}

void nereid::sim::decodeBufferAccess(Decoder &decoder) {
  const bool isStore = decoder.take("buffer_store");
  decoder.take("buffer_load");
  const unsigned bytes = bytesOfType(decoder.takeType());
  const std::vector<Operand> words = elementsOf(decoder.operand(0));
  if (!bytes || bytes > 4 || decoder.operands().size() != 4 || words.size() > (bytes == 4 ? 4 : 1))
    return decoder.fail("this form of an access to a buffer is not known");
  Instruction instruction;
  for (const Operand &word : words)
    instruction.list.push_back(isStore ? decoder.source(word, 4) : decoder.destination(word, 4));
  instruction.slots[0] = decoder.source(decoder.operand(1), 8);
  instruction.slots[1] = decoder.source(decoder.operand(2), 4);
  instruction.slots[2] = decoder.source(decoder.operand(3), 4);
  instruction.setRoles(BufferRoles{uint8_t(words.size()), uint8_t(bytes)});
  instruction.execute = isStore ? &accessBuffer<true> : &accessBuffer<false>;
  decoder.setFlow(ValueFlow::Defined);
  decoder.add(std::move(instruction));
}
