// Loads and stores of all widths, vectors and spaces; conversion between generic and other addresses.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/units/Opcodes.h"

using namespace nereid::sim;

//--- loads and stores ----------------------------------------------------------------------

namespace {
struct MemoryRoles {
  Space space;
  uint8_t count; ///< of elements
};
} // namespace

/// T as in memory, S as in the register.
template <typename T, typename S> static Step load(Warp &warp, const Instruction &instruction) {
  const auto [space, count] = instruction.roles<MemoryRoles>();
  LaneAccess access(warp, instruction, space, instruction.slots[0], instruction.immediate, sizeof(T) * count);
  access.elements = instruction.list;
  access.slotBytes = sizeof(S);
  if (!access.reading().resolve(warp))
    return Step::Fail;
  const uint32_t *slots = instruction.list.data();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    for (unsigned index = 0; index < count; ++index) {
      T value;
      std::memcpy(&value, access.memory[lane] + index * sizeof(T), sizeof(T));
      warp.at<S>(slots[index])[lane] = static_cast<S>(value);
    }
  }
  return isWaiting(*warp.cta->cluster) ? Step::Yield : Step::Next;
}

template <typename T, typename S> static Step store(Warp &warp, const Instruction &instruction) {
  const auto [space, count] = instruction.roles<MemoryRoles>();
  LaneAccess access(warp, instruction, space, instruction.slots[0], instruction.immediate, sizeof(T) * count);
  access.elements = instruction.list;
  access.slotBytes = sizeof(S);
  if (!access.writing().resolve(warp))
    return Step::Fail;
  const uint32_t *slots = instruction.list.data();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    for (unsigned index = 0; index < count; ++index) {
      const T value = static_cast<T>(warp.at<S>(slots[index])[lane]);
      std::memcpy(access.memory[lane] + index * sizeof(T), &value, sizeof(T));
    }
  }
  return Step::Next;
}

template <typename S> static Execute loadOf(const std::string &type) {
  switch (bytesOfType(type)) {
  case 1:
    return type[0] == 's' ? &load<int8_t, S> : &load<uint8_t, S>;
  case 2:
    return type[0] == 's' ? &load<int16_t, S> : &load<uint16_t, S>;
  case 4:
    return type[0] == 's' ? &load<int32_t, S> : &load<uint32_t, S>;
  default:
    return &load<uint64_t, S>;
  }
}
template <typename S> static Execute storeOf(const std::string &type) {
  const unsigned bytes = bytesOfType(type);
  return bytes == 1   ? &store<uint8_t, S>
         : bytes == 2 ? &store<uint16_t, S>
         : bytes == 4 ? &store<uint32_t, S>
                      : &store<uint64_t, S>;
}

static Space spaceOf(Decoder &decoder, const Operand &address) {
  Space space = decoder.takeSpace(Space::Generic);
  // Variables that pass arguments to a function are memory of the thread.
  if (const Symbol *symbol = decoder.findSymbol(address.parts.empty() ? "" : address.parts[0].name);
      symbol && (space == Space::Param || space == Space::Generic))
    space = symbol->space;
  return space;
}

static unsigned lanesBytes(Decoder &decoder, const Operand &operand, unsigned bytes) {
  const std::optional<Register> reg =
      operand.kind == OperandKind::Name ? decoder.findRegister(operand.name) : std::nullopt;
  return reg ? reg->bytes : bytes < 4 ? 4 : bytes;
}

static void decodeAccess(Decoder &decoder, bool isLoad) {
  decoder.takeOrder();
  const Operand &address = decoder.operand(isLoad ? 0 + 1 : 0), &value = decoder.operand(isLoad ? 0 : 1);
  const Space space = spaceOf(decoder, address);
  decoder.takeOf({"v2", "v4", "v8"});
  decoder.take("unified");
  const std::string type = decoder.takeType();
  const unsigned bytes = bytesOfType(type);
  const std::vector<Operand> elements = elementsOf(value);
  if (!bytes || elements.size() > 8 || address.kind != OperandKind::Address)
    return decoder.fail("this form of an access is not known");
  Instruction instruction;
  unsigned lanes = 4;
  for (const Operand &element : elements)
    lanes = std::max(lanes, lanesBytes(decoder, element, bytes));
  for (const Operand &element : elements)
    instruction.list.push_back(isLoad ? decoder.destination(element, lanes)
                                      : decoder.source(element, lanes, type[0] == 'f'));
  instruction.slots[0] = decoder.address(address, instruction.immediate);
  instruction.setRoles(MemoryRoles{space, uint8_t(elements.size())});
  if (bytes == 16)
    instruction.execute = isLoad ? &load<Bits128, Bits128> : &store<Bits128, Bits128>;
  else if (lanes == 8)
    instruction.execute = isLoad ? loadOf<uint64_t>(type) : storeOf<uint64_t>(type);
  else
    instruction.execute = isLoad ? loadOf<uint32_t>(type) : storeOf<uint32_t>(type);
  decoder.add(std::move(instruction));
}
static void decodeLoad(Decoder &decoder) { decodeAccess(decoder, true); }
static void decodeStore(Decoder &decoder) {
  decoder.has("async") ? decodeAsyncStore(decoder) : decodeAccess(decoder, false);
}

/// A multimem address stands for the same memory of several GPUs; here there is one.
static void decodeMultimem(Decoder &decoder) {
  decoder.takeOf({"acc::f16", "acc::f32"});
  if (decoder.take("red"))
    return decodeAtomicReduction(decoder);
  if (decoder.take("st"))
    return decodeAccess(decoder, false);
  if (!decoder.take("ld_reduce") || decoder.takeOf({"add", "min", "max", "and", "or", "xor"}).empty())
    return decoder.fail("this form is not known");
  decodeAccess(decoder, true);
}

//--- conversion of addresses ---------------------------------------------------------------

static constexpr uint64_t kOffsetMask = (uint64_t{1} << kWindowShift) - 1;

template <Window W> static uint64_t toGeneric(uint64_t address) {
  return address | uint64_t{static_cast<uint8_t>(W)} << kWindowShift;
}
static uint64_t fromGeneric(uint64_t address) { return address & kOffsetMask; }
static uint64_t sameAddress(uint64_t address) { return address; }
template <Window W> static bool isInWindow(uint64_t address) {
  return address >> kWindowShift == static_cast<uint8_t>(W);
}

/// `cvta.shared.u64`, `cvta.to.global.u64`.
static void decodeCvta(Decoder &decoder) {
  const bool isTo = decoder.take("to");
  const Space space = decoder.takeSpace(Space::Global);
  if (decoder.takeType() != "u64")
    return decoder.fail("addresses have 64 bits");
  if (space == Space::Global)
    return decoder.lanes<&sameAddress>();
  if (isTo)
    return decoder.lanes<&fromGeneric>();
  if (space == Space::Shared)
    return decoder.lanes<&toGeneric<Window::Shared>>();
  if (space == Space::Local)
    return decoder.lanes<&toGeneric<Window::Local>>();
  decoder.lanes<&toGeneric<Window::Param>>();
}

static void decodeIsSpace(Decoder &decoder) {
  const Space space = decoder.takeSpace(Space::Global);
  if (space == Space::Global)
    return decoder.lanes<&isInWindow<Window::Global>>();
  if (space == Space::Shared)
    return decoder.lanes<&isInWindow<Window::Shared>>();
  if (space == Space::Local)
    return decoder.lanes<&isInWindow<Window::Local>>();
  decoder.lanes<&isInWindow<Window::Param>>();
}

/// The address of the same variable in another CTA of the cluster.
template <typename T> static T mapToRank(T address, uint32_t rank) {
  return (address & ~(T(0xff) << kRankShift)) | T(rank + 1) << kRankShift;
}
static void decodeMap(Decoder &decoder) {
  decoder.takeSpace(Space::Generic);
  decoder.takeType() == "u64" ? decoder.lanes<&mapToRank<uint64_t>>() : decoder.lanes<&mapToRank<uint32_t>>();
}

/// slots: rank, address. The rank in the cluster of the CTA that an address belongs to.
static Step readRank(Warp &warp, const Instruction &instruction) {
  uint32_t values[kLanes];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint32_t rank = uint32_t(warp.at<uint64_t>(instruction.slots[1])[lane]) >> kRankShift & 0xff;
    values[lane] = rank ? rank - 1 : warp.cta->rank;
  }
  writeLanes(warp, instruction.slots[0], values);
  return Step::Next;
}
static void decodeRank(Decoder &decoder) {
  decoder.takeSpace(Space::Generic), decoder.takeType();
  Instruction instruction;
  instruction.slots[0] = decoder.destination(decoder.operand(0), 4);
  instruction.slots[1] = decoder.source(decoder.operand(1), 8);
  instruction.execute = &readRank;
  decoder.add(std::move(instruction));
}

/// Cache policies have no effect.
static void decodeCreatePolicy(Decoder &decoder) {
  decoder.dropAll();
  Instruction instruction;
  instruction.slots[0] = decoder.destination(decoder.operand(0), 8);
  instruction.slots[1] = decoder.constant(0, 8);
  instruction.execute = &Lanes<&sameAddress>::run;
  decoder.add(std::move(instruction));
}

std::span<const OpcodeEntry> nereid::sim::memoryOpcodes() {
  static const OpcodeEntry entries[] = {{"ld", decodeLoad, Kind::Other, ValueFlow::Load},
                                        {"ldu", decodeLoad, Kind::Other, ValueFlow::Load},
                                        {"st", decodeStore, Kind::Other, ValueFlow::Store},
                                        {"cvta", decodeCvta, Kind::Move},
                                        {"isspacep", decodeIsSpace, Kind::Integer},
                                        {"createpolicy", decodeCreatePolicy},
                                        {"mapa", decodeMap, Kind::Integer},
                                        {"getctarank", decodeRank, Kind::Integer},
                                        {"multimem", decodeMultimem}};
  return entries;
}
