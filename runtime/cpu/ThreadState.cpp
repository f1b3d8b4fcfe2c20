// Per-thread arenas that grow as needed, and the float control register.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/ThreadState.h"

#include "artifact/TargetInfo.h"

#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace nereid::runtime {

namespace {

struct Arena {
  char *begin = nullptr;
  uint64_t bytes = 0;
  ~Arena() { std::free(begin); }
};

} // namespace

static thread_local Arena arena;

static char *growArena(uint64_t bytes) {
  constexpr uint64_t kGrain = 4096;
  static_assert(kGrain % artifact::kArenaAlign == 0);
  if (bytes > kMaxRequestBytes)
    return nullptr;
  const uint64_t rounded = (bytes + kGrain - 1) / kGrain * kGrain;
  // What a launch further up the stack has left there may be lost, so it is not copied. Without memory the old arena
  // stays: that launch may be using it.
  auto *larger = static_cast<char *>(std::aligned_alloc(kGrain, rounded));
  if (!larger)
    return nullptr;
  std::free(arena.begin);
  arena.begin = larger;
  arena.bytes = rounded;
  return larger;
}

char *threadArena(uint64_t bytes) {
  // An empty arena still needs an address: kernels may compute it without using it.
  const uint64_t needed = bytes == 0 ? 1 : bytes;
  return arena.bytes >= needed ? arena.begin : growArena(needed);
}

static void forgetContents() {
  if (arena.begin)
    std::memset(arena.begin, 0, sizeof(uint64_t));
}

PartOfLaunch::PartOfLaunch() { forgetContents(); }
PartOfLaunch::~PartOfLaunch() { forgetContents(); }

#if defined(__x86_64__)

// MXCSR at reset: exceptions masked, to nearest, denormals kept.
static constexpr uint32_t kDefaultControl = 0x1f80;
// Bits 0-5 record exceptions that occurred; they have no effect.
static constexpr uint32_t kStatusBits = 0x3f;

DefaultFloatRules::DefaultFloatRules() : saved(_mm_getcsr()) {
  if ((saved & ~uint64_t{kStatusBits}) != kDefaultControl)
    _mm_setcsr(kDefaultControl);
}

DefaultFloatRules::~DefaultFloatRules() {
  if ((saved & ~uint64_t{kStatusBits}) != kDefaultControl)
    _mm_setcsr(static_cast<uint32_t>(saved));
}

#elif defined(__aarch64__)

// FPCR of zero: to nearest, denormals kept, no traps.
DefaultFloatRules::DefaultFloatRules() : saved(__builtin_arm_rsr64("fpcr")) {
  if (saved != 0)
    __builtin_arm_wsr64("fpcr", 0);
}

DefaultFloatRules::~DefaultFloatRules() {
  if (saved != 0)
    __builtin_arm_wsr64("fpcr", saved);
}

#else
#error "name the float control register of this processor"
#endif

} // namespace nereid::runtime
