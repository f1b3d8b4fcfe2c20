// Look-ups in an artifact and properties derived from its fields.
// SPDX-License-Identifier: MIT
#include "artifact/Artifact.h"

#include <algorithm>

namespace nereid::artifact {

static constexpr uint64_t kPointerBytes = 8;

const std::string *Artifact::findStage(std::string_view stage) const {
  for (const Stage &candidate : stages)
    if (candidate.name == stage)
      return &candidate.data;
  return nullptr;
}

bool needsOwnLauncher(const Artifact &artifact) {
  return artifact.persistent || !artifact.tensorMaps.empty() || !artifact.conditions.empty();
}

std::vector<uint32_t> launchParameters(const Artifact &artifact) {
  std::vector<bool> isRead(artifact.parameters.size());
  const auto mark = [&](const std::vector<LaunchExpression> &expressions) {
    for (const LaunchExpression &expression : expressions)
      markParameters(expression.code, isRead);
  };
  mark(artifact.conditions);
  for (const TensorMapRecipe &recipe : artifact.tensorMaps) {
    markParameters(recipe.base.code, isRead);
    mark(recipe.extents);
    mark(recipe.strides);
  }
  std::vector<uint32_t> read;
  for (uint32_t index = 0; index < isRead.size(); ++index)
    if (isRead[index])
      read.push_back(index);
  return read;
}

uint64_t scratchOffset(const Artifact &artifact) {
  uint64_t end = 0;
  for (const Parameter &parameter : artifact.parameters)
    end = std::max(end, uint64_t{parameter.offset} + parameter.size);
  return (end + kPointerBytes - 1) / kPointerBytes * kPointerBytes;
}

uint64_t packedBytes(const Artifact &artifact) { return scratchOffset(artifact) + 2 * kPointerBytes; }

} // namespace nereid::artifact
