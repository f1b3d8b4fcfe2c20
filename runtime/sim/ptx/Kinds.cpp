// Tells the kind of a PTX instruction by its modifiers where that of its opcode does not.
// SPDX-License-Identifier: MIT
#include "runtime/sim/ptx/Kinds.h"

#include "runtime/sim/ptx/Ptx.h"

#include <algorithm>
#include <charconv>

using namespace nereid::sim;

namespace {
bool has(const Statement &statement, std::string_view modifier) {
  return std::find(statement.modifiers.begin(), statement.modifiers.end(), modifier) != statement.modifiers.end();
}

bool hasSpace(const Statement &statement, std::string_view space) {
  return std::any_of(statement.modifiers.begin(), statement.modifiers.end(), [&](const std::string &modifier) {
    return modifier.starts_with(space) && (modifier.size() == space.size() || modifier[space.size()] == ':');
  });
}

Kind kindByType(const Statement &statement) {
  for (const std::string &modifier : statement.modifiers) {
    if (modifier == "f32" || modifier == "f32x2")
      return statement.opcode == "div" ? Kind::Special : Kind::Float32;
    if (modifier == "f64")
      return Kind::Float64;
    if (modifier.starts_with("f16") || modifier.starts_with("bf16"))
      return Kind::Float16;
  }
  return Kind::Integer;
}

Kind accessKind(const Statement &statement, bool isLoad) {
  if (hasSpace(statement, "shared"))
    return isLoad ? Kind::SharedLoad : Kind::SharedStore;
  if (hasSpace(statement, "local"))
    return Kind::LocalAccess;
  if (hasSpace(statement, "param"))
    return isLoad ? Kind::ParamLoad : Kind::LocalAccess;
  return isLoad ? Kind::GlobalLoad : Kind::GlobalStore;
}

Kind copyKind(const Statement &statement) {
  const bool waits = has(statement, "wait_group") || has(statement, "wait_all") || has(statement, "commit_group") ||
                     has(statement, "mbarrier");
  return waits ? Kind::Barrier : Kind::AsyncCopy;
}

Kind kindOf(const Statement &statement, Kind ofOpcode) {
  const std::string &opcode = statement.opcode;
  if (opcode == "ld" || opcode == "ldu" || opcode == "st")
    return accessKind(statement, opcode != "st");
  if (opcode == "cp")
    return copyKind(statement);
  if (opcode == "wgmma")
    return has(statement, "mma_async") ? Kind::TensorCore : Kind::Barrier;
  return ofOpcode == Kind::None ? kindByType(statement) : ofOpcode;
}

/// The type of the operands: the last of the modifiers that tells one.
TensorType tensorTypeOf(const Statement &statement) {
  static const std::map<std::string_view, TensorType> types = {
      {"f64", TensorType::F64},     {"tf32", TensorType::TF32}, {"f16", TensorType::F16},
      {"bf16", TensorType::F16},    {"e4m3", TensorType::F8},   {"e5m2", TensorType::F8},
      {"s8", TensorType::Int8},     {"u8", TensorType::Int8},   {"s4", TensorType::Int4},
      {"u4", TensorType::Int4},     {"xf32", TensorType::TF32}, {"e4m3fnuz", TensorType::F8},
      {"e5m2fnuz", TensorType::F8},
  };
  // The result's type comes first, the operands' follow; an accumulator may come last.
  bool isResult = true;
  for (const std::string &modifier : statement.modifiers) {
    if (!bytesOfType(modifier) && !types.contains(modifier))
      continue;
    const auto found = types.find(modifier);
    if (!isResult && found != types.end())
      return found->second;
    isResult = false;
  }
  return TensorType::None;
}

/// Reads "m16n8k16".
uint64_t multipliesOf(std::string_view shape) {
  uint64_t product = 1;
  for (const char dim : {'m', 'n', 'k'}) {
    uint32_t extent = 0;
    if (shape.empty() || shape[0] != dim)
      return 0;
    const auto [end, code] = std::from_chars(shape.data() + 1, shape.data() + shape.size(), extent);
    if (code != std::errc())
      return 0;
    product *= extent;
    shape.remove_prefix(size_t(end - shape.data()));
  }
  return shape.empty() ? product : 0;
}
} // namespace

InstructionProfile nereid::sim::profileOf(const Statement &statement, Kind ofOpcode) {
  InstructionProfile profile{kindOf(statement, ofOpcode)};
  if (profile.kind == Kind::AsyncCopy) {
    const auto isDestination = [](const std::string &modifier) {
      return modifier == "global" || modifier.starts_with("shared");
    };
    const auto to = std::find_if(statement.modifiers.begin(), statement.modifiers.end(), isDestination);
    profile.isBulkStore = to != statement.modifiers.end() && *to == "global";
  }
  if (profile.kind != Kind::TensorCore)
    return profile;
  profile.tensorType = tensorTypeOf(statement);
  profile.isWarpGroup = statement.opcode == "wgmma";
  const bool isOfWave = !statement.modifiers.empty() && statement.modifiers[0].starts_with("mfma");
  const unsigned warps = profile.isWarpGroup ? 4 : isOfWave ? 2 : 1;
  for (const std::string &modifier : statement.modifiers)
    if (const uint64_t multiplies = multipliesOf(modifier))
      profile.tensorFlops = uint32_t(2 * multiplies / warps);
  return profile;
}

const char *nereid::sim::nameOf(Kind kind) {
  static constexpr const char *names[] = {
      "none",   "integer",     "float32",      "float16",     "float64",      "special", "convert",
      "move",   "global_load", "global_store", "shared_load", "shared_store", "local",   "param_load",
      "atomic", "async_copy",  "barrier",      "shuffle",     "tensor_core",  "control", "other"};
  static_assert(std::size(names) == kNumKinds);
  return names[size_t(kind)];
}

const char *nereid::sim::nameOf(TensorType type) {
  static constexpr const char *names[] = {"none", "f64", "tf32", "f16", "f8", "int8", "int4"};
  static_assert(std::size(names) == kNumTensorTypes);
  return names[size_t(type)];
}
