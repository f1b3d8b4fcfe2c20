// A stack of its own, on which the thread that made it runs code until that switches to another.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include <ucontext.h>

namespace nereid::runtime {

/// Bound to one thread of the system: code keeps the addresses of variables of its thread.
class Fiber {
public:
  /// The code that the calling thread runs now.
  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// Calls `body`, which never returns, at the first switch. Null where there is no memory.
  static std::unique_ptr<Fiber> create(void (*body)());
  /// Begins anew.
  void restart(void (*body)());
  /// Continues `to` where it switched, and returns when some fiber switches back.
  void switchTo(Fiber &to) { swapcontext(&state, &to.state); }

private:
  ucontext_t state{};
  char *stack = nullptr; ///< null: the thread's
};

} // namespace nereid::runtime
