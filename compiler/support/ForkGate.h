// Keeps forks and compilations apart: a child has but one thread, and no other will release a lock for it.
// SPDX-License-Identifier: MIT
#pragma once

namespace nereid::support {

/// Held by a thread while it works with LLVM or MLIR and needs nothing of the host (no Python lock above all). Any
/// number of threads hold it at a time. A fork waits until none does, a limited time; meanwhile no other gets in.
class ForkGate {
public:
  ForkGate();
  ~ForkGate();
  ForkGate(const ForkGate &) = delete;
  ForkGate &operator=(const ForkGate &) = delete;

  /// Whether the calling thread holds it.
  static bool isHeld();
  /// Whether this process is the child of a fork that waited in vain: locks of the compiler may be held for good,
  /// so that nothing can be compiled here.
  static bool compilerIsLost();
};

} // namespace nereid::support
