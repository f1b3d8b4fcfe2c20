// tensormap.replace and the copy of a tensor map to global memory.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/TensorMap.h"
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/units/Opcodes.h"

using namespace nereid::sim;

namespace {
enum class Field : uint8_t { Address, Rank, Box, Extent, Stride, ElementStride, Element, Interleave, Swizzle, Fill };
} // namespace

/// Maps begin as zeros, which a kernel fills field by field.
static void set(TensorMap &map, Field field, uint64_t ordinal, uint64_t value) {
  if (map.magic != TensorMap::kMagic)
    map = TensorMap{};
  switch (field) {
  case Field::Address:
    map.base = value;
    break;
  case Field::Rank:
    map.rank = uint8_t(value + 1);
    break;
  case Field::Box:
    map.box[ordinal] = uint32_t(value);
    break;
  case Field::Extent:
    map.extents[ordinal] = uint32_t(value);
    break;
  case Field::Stride:
    map.strides[ordinal] = value;
    break;
  case Field::ElementStride:
    map.elementStrides[ordinal] = uint32_t(value);
    break;
  case Field::Element:
    map.element = static_cast<TensorElement>(value);
    break;
  case Field::Interleave:
    map.interleave = uint8_t(value);
    break;
  case Field::Swizzle:
    map.swizzle = uint8_t(value);
    break;
  case Field::Fill:
    map.padsWithNan = value;
    break;
  }
}

namespace {
struct ReplaceRoles {
  Space space;
  Field field;
  uint8_t ordinal;
  bool isWide; ///< the value has 64 bits
};
} // namespace

/// slots: address, value.
static Step replace(Warp &warp, const Instruction &instruction) {
  const auto [space, field, ordinal, isWide] = instruction.roles<ReplaceRoles>();
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
    set(map, field, ordinal, value);
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
  static constexpr std::pair<std::string_view, Field> fields[] = {{"global_address", Field::Address},
                                                                  {"rank", Field::Rank},
                                                                  {"box_dim", Field::Box},
                                                                  {"global_dim", Field::Extent},
                                                                  {"global_stride", Field::Stride},
                                                                  {"element_stride", Field::ElementStride},
                                                                  {"elemtype", Field::Element},
                                                                  {"interleave_layout", Field::Interleave},
                                                                  {"swizzle_mode", Field::Swizzle},
                                                                  {"fill_mode", Field::Fill}};
  decoder.take("tile"), decoder.take("b1024");
  Instruction instruction;
  const std::optional<Field> field = decoder.takeNamed(fields);
  const Space space = decoder.takeSpace(Space::Generic);
  const unsigned bytes = bytesOfType(decoder.takeType());
  const size_t last = decoder.operands().size() - 1;
  if (!field || last < 1 || (last == 2 && decoder.operand(1).bits > 4))
    return decoder.fail("this form is not known");
  const uint8_t ordinal = last == 2 ? uint8_t(decoder.operand(1).bits) : 0;
  instruction.setRoles(ReplaceRoles{space, *field, ordinal, bytes == 8});
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
