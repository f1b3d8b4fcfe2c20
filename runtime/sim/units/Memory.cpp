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

/// A load and a store of one width in memory, for a register with lanes of S.
template <typename T, typename S> constexpr std::pair<Execute, Execute> kAccess = {&load<T, S>, &store<T, S>};

template <typename S> static std::pair<Execute, Execute> accessOf(const std::string &type) {
  const bool isSigned = type[0] == 's';
  switch (bytesOfType(type)) {
  case 1:
    return isSigned ? kAccess<int8_t, S> : kAccess<uint8_t, S>;
  case 2:
    return isSigned ? kAccess<int16_t, S> : kAccess<uint16_t, S>;
  case 4:
    return isSigned ? kAccess<int32_t, S> : kAccess<uint32_t, S>;
  default:
    return kAccess<uint64_t, S>;
  }
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
  const auto [load, store] = bytes == 16  ? kAccess<Bits128, Bits128>
                             : lanes == 8 ? accessOf<uint64_t>(type)
                                          : accessOf<uint32_t>(type);
  instruction.execute = isLoad ? load : store;
  decoder.add(std::move(instruction));
}
static void decodeLoad(Decoder &decoder) { decodeAccess(decoder, true); }
static void decodeStore(Decoder &decoder) {
  decoder.has("async") ? decodeAsyncStore(decoder) : decodeAccess(decoder, false);
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
  space == Space::Global   ? decoder.lanes<&sameAddress>()
  : isTo                   ? decoder.lanes<&fromGeneric>()
  : space == Space::Shared ? decoder.lanes<&toGeneric<Window::Shared>>()
  : space == Space::Local  ? decoder.lanes<&toGeneric<Window::Local>>()
                           : decoder.lanes<&toGeneric<Window::Param>>();
}

static void decodeIsSpace(Decoder &decoder) {
  const Space space = decoder.takeSpace(Space::Global);
  space == Space::Global   ? decoder.lanes<&isInWindow<Window::Global>>()
  : space == Space::Shared ? decoder.lanes<&isInWindow<Window::Shared>>()
  : space == Space::Local  ? decoder.lanes<&isInWindow<Window::Local>>()
                           : decoder.lanes<&isInWindow<Window::Param>>();
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
  decoder.emit(&readRank, {4, 8});
}

/// Cache policies have no effect.
static void decodeCreatePolicy(Decoder &decoder) {
  decoder.dropAll();
  decoder.emit(&Lanes<&sameAddress>::run, {8}).slots[1] = decoder.constant(0, 8);
}

void nereid::sim::addMemoryOpcodes(OpcodeTable &table) {
  table.add("ld ldu", decodeLoad, Kind::Other, ValueFlow::Load);
  table.add("st", decodeStore, Kind::Other, ValueFlow::Store);
  table.add("cvta", decodeCvta, Kind::Move);
  table.add("isspacep", decodeIsSpace, Kind::Integer);
  table.add("createpolicy", decodeCreatePolicy);
  table.add("mapa", decodeMap, Kind::Integer);
  table.add("getctarank", decodeRank, Kind::Integer);
}
