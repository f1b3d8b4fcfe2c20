// Keeps forks and compilations apart: a child process has one thread, and locks of other threads stay locked in it.
// SPDX-License-Identifier: MIT
#pragma once

namespace nereid::support {

/// Held by a thread while it uses LLVM or MLIR and needs nothing of the host (in particular no Python lock). Any number
/// of threads may hold it at a time. A fork waits until no thread holds it, for a limited time; meanwhile no thread can
/// enter.
class ForkGate {
public:
  ForkGate();
  ~ForkGate();
  ForkGate(const ForkGate &) = delete;
  ForkGate &operator=(const ForkGate &) = delete;

  /// Whether the calling thread holds it.
  static bool isHeld();
  /// Whether this process is the child of a fork that timed out: locks of the compiler may be held forever, so that
  /// nothing can be compiled here.
  static bool compilerIsLost();
};

} // namespace nereid::support
