// tensormap.replace and the copy of a tensor map to global memory.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/TensorMap.h"
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/units/Opcodes.h"

using namespace nereid::sim;

namespace {
/// A field by the modifier that names it.
struct Field {
  std::string_view name;
  void (*set)(TensorMap &map, uint64_t value, unsigned dim);
};
constexpr Field kFields[] = {
    {"global_address", [](TensorMap &map, uint64_t value, unsigned) { map.base = value; }},
    {"rank", [](TensorMap &map, uint64_t value, unsigned) { map.rank = uint8_t(value + 1); }},
    {"box_dim", [](TensorMap &map, uint64_t value, unsigned dim) { map.box[dim] = uint32_t(value); }},
    {"global_dim", [](TensorMap &map, uint64_t value, unsigned dim) { map.extents[dim] = uint32_t(value); }},
    {"global_stride", [](TensorMap &map, uint64_t value, unsigned dim) { map.strides[dim] = value; }},
    {"element_stride", [](TensorMap &map, uint64_t value, unsigned dim) { map.elementStrides[dim] = uint32_t(value); }},
    {"elemtype", [](TensorMap &map, uint64_t value, unsigned) { map.element = static_cast<TensorElement>(value); }},
    {"interleave_layout", [](TensorMap &map, uint64_t value, unsigned) { map.interleave = uint8_t(value); }},
    {"swizzle_mode", [](TensorMap &map, uint64_t value, unsigned) { map.swizzle = uint8_t(value); }},
    {"fill_mode", [](TensorMap &map, uint64_t value, unsigned) { map.padsWithNan = value; }},
};
} // namespace

namespace {
struct ReplaceRoles {
  Space space;
  uint8_t field; ///< index into the table
  uint8_t dim;
  bool isWide; ///< the value has 64 bits
};
} // namespace

/// slots: address, value.
static Step replace(Warp &warp, const Instruction &instruction) {
  const auto [space, field, dim, isWide] = instruction.roles<ReplaceRoles>();
  LaneAccess access(warp, instruction, space, instruction.slots[0], instruction.immediate, 128);
  if (!access.writing().resolve(warp, kTensorMapAlignment))
    return Step::Fail;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    char *at = access.memory[lane];
    const uint64_t value =
        isWide ? warp.at<uint64_t>(instruction.slots[1])[lane] : warp.at<uint32_t>(instruction.slots[1])[lane];
    TensorMap map;
    std::memcpy(&map, at, sizeof(map));
    if (map.magic != TensorMap::kMagic) // maps begin as zeros, which a kernel fills field by field
      map = TensorMap{};
    kFields[field].set(map, value, dim);
    std::memcpy(at, &map, sizeof(map));
  }
  return Step::Next;
}

/// slots: to, from. All lanes give the same addresses.
static Step copyMap(Warp &warp, const Instruction &instruction) {
  const unsigned lane = unsigned(std::countr_zero(warp.mask));
  LaneAccess to(warp, instruction, Space::Global, instruction.slots[0], instruction.immediate, 128);
  LaneAccess from(warp, instruction, Space::Shared, instruction.slots[1], instruction.list[0], 128);
  to.lanes = from.lanes = 1u << lane;
  if (!from.reading().resolve(warp, kTensorMapAlignment) || !to.writing().resolve(warp, kTensorMapAlignment))
    return Step::Fail;
  std::memcpy(to.memory[lane], from.memory[lane], 128);
  return Step::Next;
}

static void decodeReplace(Decoder &decoder) {
  decoder.take("tile"), decoder.take("b1024");
  Instruction instruction;
  size_t field = 0;
  while (field < std::size(kFields) && !decoder.take(kFields[field].name))
    ++field;
  const Space space = decoder.takeSpace(Space::Generic);
  const unsigned bytes = bytesOfType(decoder.takeType());
  const size_t last = decoder.operands().size() - 1;
  if (field == std::size(kFields) || last < 1 || (last == 2 && decoder.operand(1).bits > 4))
    return decoder.fail("this form is not known");
  const uint8_t dim = last == 2 ? uint8_t(decoder.operand(1).bits) : 0;
  instruction.setRoles(ReplaceRoles{space, uint8_t(field), dim, bytes == 8});
  instruction.slots[0] = decoder.address(decoder.operand(0), instruction.immediate);
  instruction.slots[1] = decoder.source(decoder.operand(last), bytes == 8 ? 8 : 4);
  instruction.execute = &replace;
  decoder.add(std::move(instruction));
}

static void decodeTensorMap(Decoder &decoder) {
  if (decoder.take("replace"))
    return decodeReplace(decoder);
  if (!decoder.take("cp_fenceproxy"))
    return decoder.fail("this form is not known");
  decoder.dropAll();
  Instruction instruction;
  uint64_t offset = 0;
  instruction.slots[0] = decoder.address(decoder.operand(0), instruction.immediate);
  instruction.slots[1] = decoder.address(decoder.operand(1), offset);
  instruction.list = {uint32_t(offset)};
  instruction.execute = &copyMap;
  decoder.add(std::move(instruction));
}

void nereid::sim::addTensorMapOpcodes(OpcodeTable &table) { table.add("tensormap", decodeTensorMap); }
