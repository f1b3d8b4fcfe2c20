// Makes the tensor maps of launches, and keeps the last of them.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/TensorMaps.h"

#include "runtime/cuda/TensorMapEncoding.h"

#include <algorithm>
#include <cstring>

namespace nereid::runtime {

using namespace cuda;

// A model calls one kernel with the weights of each of its layers in turn.
static constexpr size_t kEntries = 64;

TensorMaps::TensorMaps(const artifact::Artifact &artifact, const DriverCalls &calls)
    : artifact(artifact), calls(calls), read(artifact::launchParameters(artifact)) {}

//--- Arguments ---------------------------------------------------------------------------------

template <typename Integer> static int64_t extended(const char *bytes) {
  Integer value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<int64_t>(value);
}

/// The packed argument, extended as its type says.
static int64_t valueOf(const artifact::Parameter &parameter, const char *packed) {
  const char *bytes = packed + parameter.offset;
  const bool isSigned = parameter.kind == artifact::ParameterKind::Int && !parameter.type.starts_with('u');
  switch (parameter.size) {
  case 1:
    return isSigned ? extended<int8_t>(bytes) : extended<uint8_t>(bytes);
  case 2:
    return isSigned ? extended<int16_t>(bytes) : extended<uint16_t>(bytes);
  case 4:
    return isSigned ? extended<int32_t>(bytes) : extended<uint32_t>(bytes);
  default:
    return extended<int64_t>(bytes);
  }
}

void TensorMaps::readValues(std::span<const char> packed, bool isOneWave, int64_t *values) const {
  for (const uint32_t index : read)
    *values++ = valueOf(artifact.parameters[index], packed.data());
  *values = isOneWave;
}

/// One value per parameter; those that are not read are 0.
std::vector<int64_t> TensorMaps::argumentsOf(std::span<const int64_t> values) const {
  std::vector<int64_t> arguments(artifact.parameters.size());
  for (size_t i = 0; i < read.size(); ++i)
    arguments[read[i]] = values[i];
  return arguments;
}

//--- Evaluation --------------------------------------------------------------------------------

std::string TensorMaps::conditionProblem(std::span<const int64_t> arguments) const {
  for (size_t i = 0; i < artifact.conditions.size(); ++i) {
    const auto value = artifact::evaluate(artifact.conditions[i].code, arguments);
    if (!value || *value < 0)
      return "condition " + std::to_string(i) + (value ? " is " + std::to_string(*value) : " has no value");
  }
  return "";
}

TensorMaps::Result TensorMaps::compute(std::span<const int64_t> values, std::vector<TensorMap> &maps) const {
  const std::vector<int64_t> arguments = argumentsOf(values);
  if (!conditionProblem(arguments).empty())
    return {Fit::No};
  maps.resize(count());
  std::string reason;
  for (size_t i = 0; i < count(); ++i) {
    const auto shape = shapeOf(artifact.tensorMaps[i], arguments, reason);
    if (!shape)
      return {Fit::No};
    const cuda::Result result = encode(calls, artifact.tensorMaps[i], *shape, values.back(), maps[i]);
    if (result != Success)
      return {result == InvalidValue ? Fit::No : Fit::DriverFailed, result};
  }
  return {};
}

std::string TensorMaps::reason(std::span<const char> packed) const {
  std::vector<int64_t> values(valueCount());
  readValues(packed, /*isOneWave=*/false, values.data());
  const std::vector<int64_t> arguments = argumentsOf(values);
  if (std::string problem = conditionProblem(arguments); !problem.empty())
    return problem;
  for (size_t i = 0; i < count(); ++i) {
    std::string problem;
    TensorMap map;
    const auto shape = shapeOf(artifact.tensorMaps[i], arguments, problem);
    if (shape && encode(calls, artifact.tensorMaps[i], *shape, /*isOneWave=*/false, map) == InvalidValue)
      problem = "the driver refuses it";
    if (!problem.empty())
      return "tensor map " + std::to_string(i) + ": " + problem;
  }
  return "";
}

//--- Kept results ------------------------------------------------------------------------------

static size_t entryOf(std::span<const int64_t> values) {
  uint64_t hash = 0;
  for (const int64_t value : values)
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15 + (hash >> 29);
  return hash >> 32 & (kEntries - 1);
}

TensorMaps::Result TensorMaps::find(std::span<const int64_t> values, TensorMap *maps) const {
  const size_t at = entryOf(values);
  const auto copy = [&](const std::vector<TensorMap> &computed) {
    if (maps)
      std::ranges::copy(computed, maps);
  };
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!entries.empty() && entries[at].isUsed && std::ranges::equal(entries[at].values, values)) {
      if (entries[at].fit == Fit::Yes)
        copy(entries[at].maps);
      return {entries[at].fit};
    }
  }
  Entry entry{{values.begin(), values.end()}, {}, Fit::No, /*isUsed=*/true};
  const Result result = compute(values, entry.maps);
  if (result.fit == Fit::DriverFailed)
    return result;
  if (result.fit == Fit::Yes)
    copy(entry.maps);
  entry.fit = result.fit;
  std::lock_guard<std::mutex> lock(mutex);
  entries.resize(kEntries);
  entries[at] = std::move(entry);
  return result;
}

TensorMaps::Result TensorMaps::make(std::span<const char> packed, bool isOneWave, TensorMap *maps) const {
  constexpr size_t kUsual = 32;
  int64_t few[kUsual];
  std::vector<int64_t> many;
  int64_t *values = few;
  if (valueCount() > kUsual) {
    many.resize(valueCount());
    values = many.data();
  }
  readValues(packed, isOneWave, values);
  return find({values, valueCount()}, maps);
}

} // namespace nereid::runtime
