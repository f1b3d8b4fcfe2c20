// The state that a thread needs to run programs: its arena and the default float rules.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace nereid::runtime {

/// Upper limit of a memory request: far more than a machine has, and far below overflow of additions.
inline constexpr uint64_t kMaxRequestBytes = uint64_t{1} << 39;

/// The calling thread's buffer of at least `bytes` bytes, kept for its next launch. Null when there is no memory for
/// it.
char *threadArena(uint64_t bytes);

/// The part of a launch that the calling thread runs. In its first bytes the arena says whether it holds what earlier
/// calls of the launch left: it does not where a part begins, nor after a part of another launch, which a stop check
/// may run in between.
class PartOfLaunch {
public:
  PartOfLaunch();
  ~PartOfLaunch();
  PartOfLaunch(const PartOfLaunch &) = delete;
  PartOfLaunch &operator=(const PartOfLaunch &) = delete;
};

/// Rounding to nearest and denormals kept for the length of a scope: results must not depend on the thread that runs a
/// program, or on the float mode that the host's code has set.
class DefaultFloatRules {
public:
  DefaultFloatRules();
  ~DefaultFloatRules();
  DefaultFloatRules(const DefaultFloatRules &) = delete;
  DefaultFloatRules &operator=(const DefaultFloatRules &) = delete;

private:
  uint64_t saved;
};

} // namespace nereid::runtime
