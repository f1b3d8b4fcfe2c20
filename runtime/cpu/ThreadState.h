// What a thread needs to run programs: its arena and the default float rules.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace nereid::runtime {

/// Alignment of every arena; no vector register is wider.
inline constexpr uint32_t kArenaAlign = 64;

/// No request beyond it is made of the system: far more than a machine has, and
/// far from where sums overflow.
inline constexpr uint64_t kMaxRequestBytes = uint64_t{1} << 39;

/// The calling thread's buffer, at least that large, kept for its next launch.
/// Null when there is no memory for it.
char *threadArena(uint64_t bytes);

/// Rounding to nearest and whole denormals for the length of a scope: results
/// may not depend on which thread runs a program, or on what the host's code
/// has set for its own.
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
