// Lists the targets.
// SPDX-License-Identifier: MIT
#include "artifact/TargetInfo.h"

namespace nereid::artifact {

static constexpr const TargetInfo *kTargets[] = {&kCpu, &kCuda, &kHip};

std::span<const TargetInfo *const> allTargets() { return kTargets; }

const TargetInfo &targetInfo(std::string_view name) {
  static constexpr TargetInfo unknown;
  for (const TargetInfo *target : kTargets)
    if (target->name == name)
      return *target;
  return unknown;
}

} // namespace nereid::artifact
