// Gives operands their slots in the register file of a warp: registers, immediates, special registers, addresses.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Decode.h"

#include <algorithm>

using namespace nereid::sim;

static uint32_t narrowed(uint64_t value) { return uint32_t(value); }
static uint64_t widened(uint32_t value) { return value; }
static bool inverted(bool value) { return !value; }

uint32_t Decoder::allocate(unsigned bytesPerLane) {
  const uint32_t slot = code->fileBytes;
  code->fileBytes += bytesPerLane ? bytesPerLane * kLanes : 8;
  if (!bytesPerLane) // lanes are aligned to 32 bytes
    code->fileBytes = (code->fileBytes + 31) / 32 * 32;
  return slot;
}

uint32_t Decoder::constant(uint64_t value, unsigned bytes) {
  auto [found, isNew] = constants.try_emplace({value, bytes}, 0);
  if (isNew) {
    found->second = allocate(bytes);
    code->constants.push_back({found->second, bytes, value});
  }
  return found->second;
}

std::optional<Register> Decoder::findRegister(const std::string &name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (auto found = scope->registers.find(name); found != scope->registers.end())
      return found->second;
    if (scope->isFunction)
      break;
  }
  return std::nullopt;
}

const Symbol *Decoder::findSymbol(const std::string &name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (auto found = scope->symbols.find(name); found != scope->symbols.end())
      return &found->second;
    if (scope->isFunction)
      break;
  }
  auto found = module.symbols.find(name);
  return found == module.symbols.end() ? nullptr : &found->second;
}

bool Decoder::special(const std::string &name, Register &result) {
  if (auto found = specials.find(name); found != specials.end())
    return result = found->second, true;
  const auto known = std::ranges::find(kSpecialNames, name);
  if (known == std::end(kSpecialNames))
    return false;
  const auto special = Special(known - std::begin(kSpecialNames));
  const unsigned bytes = special == kIsExplicitCluster ? 0 : 4;
  result = {allocate(bytes), bytes};
  code->specials.emplace_back(result.slot, special);
  specials[name] = result;
  return true;
}

uint32_t Decoder::source(const Operand &operand, unsigned bytes, bool isFloat) {
  const uint32_t slot = sourceSlot(operand, bytes, isFloat);
  operandSlots.sources.push_back(slot);
  return slot;
}

/// Adds an instruction that converts a register, in front of the one that is being decoded.
uint32_t Decoder::convert(Execute execute, uint32_t from, unsigned bytes) {
  const uint32_t to = allocate(bytes);
  OperandSlots outer = std::exchange(operandSlots, {{from}, {to}});
  Instruction &instruction = emit(execute);
  instruction.slots[0] = to;
  instruction.slots[1] = from;
  operandSlots = std::move(outer);
  return to;
}

uint32_t Decoder::sourceSlot(const Operand &operand, unsigned bytes, bool isFloat) {
  switch (operand.kind) {
  case OperandKind::Integer:
    return constant(bytes == 0 ? operand.bits != 0 : bytes == 4 ? uint32_t(operand.bits) : operand.bits, bytes);
  case OperandKind::Float32:
    if (isFloat && bytes == 8)
      return constant(std::bit_cast<uint64_t>(double{std::bit_cast<float>(uint32_t(operand.bits))}), 8);
    return constant(operand.bits, bytes);
  case OperandKind::Float64:
    if (bytes == 4)
      return constant(std::bit_cast<uint32_t>(float(std::bit_cast<double>(operand.bits))), 4);
    return constant(operand.bits, bytes);
  case OperandKind::Name:
    break;
  default:
    fail("an operand has a form that is not known here");
    return 0;
  }
  std::optional<Register> declared = findRegister(operand.name);
  Register reg = declared.value_or(Register{});
  if (!declared && !special(operand.name, reg)) {
    if (operand.name == "WARP_SZ")
      return constant(kLanes, bytes);
    if (const Symbol *symbol = findSymbol(operand.name); symbol && bytes >= 4)
      return constant(symbol->address + operand.bits, bytes);
    fail("`" + operand.name + "` is not declared");
    return 0;
  }
  if (operand.isNegated && reg.bytes == 0 && bytes == 0)
    return convert(&Lanes<&inverted>::run, reg.slot, 0);
  if (reg.bytes == bytes)
    return reg.slot;
  if (!((reg.bytes == 8 && bytes == 4) || (reg.bytes == 4 && bytes == 8))) {
    fail("`" + operand.name + "` has another width");
    return 0;
  }
  return convert(bytes == 4 ? &Lanes<&narrowed>::run : &Lanes<&widened>::run, reg.slot, bytes);
}

uint32_t Decoder::destination(const Operand &operand, unsigned bytes) {
  if (operand.kind == OperandKind::Sink)
    return allocate(bytes);
  std::optional<Register> reg = operand.kind == OperandKind::Name ? findRegister(operand.name) : std::nullopt;
  if (!reg || reg->bytes != bytes) {
    fail(reg ? "`" + operand.name + "` has another width" : "the first operand is no register");
    return 0;
  }
  operandSlots.destinations.push_back(reg->slot);
  return reg->slot;
}

std::pair<uint32_t, std::optional<uint32_t>> Decoder::resultAndPredicate(unsigned bytes) {
  const Operand &to = operand(0);
  if (to.kind != OperandKind::Vector || to.parts.size() != 2)
    return {destination(to, bytes), std::nullopt};
  return {destination(to.parts[0], bytes), destination(to.parts[1], 0)};
}

uint32_t Decoder::address(const Operand &operand, uint64_t &offset) {
  if (operand.kind != OperandKind::Address) {
    fail("an address is expected");
    return 0;
  }
  offset = operand.bits;
  return source(operand.parts[0], 8);
}

unsigned Decoder::widthOf(const Operand &operand) const {
  const std::optional<Register> reg = operand.kind == OperandKind::Name ? findRegister(operand.name) : std::nullopt;
  return reg && reg->bytes ? reg->bytes : 4;
}
