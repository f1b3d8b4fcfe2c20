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

/// AMD's generations gfx10 and later (RDNA) have waves of 32.
uint32_t warpSizeOf(std::string_view target, std::string_view arch) {
  const bool isRdna = target == kHip.name && arch.starts_with("gfx1");
  return isRdna ? 32 : targetInfo(target).warpSize;
}

} // namespace nereid::artifact
