// Counts the threads inside; the fork handlers close the gate and wait until the count is zero.
// SPDX-License-Identifier: MIT
#include "compiler/support/ForkGate.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <pthread.h>

using namespace nereid::support;

// Longer than nearly every compilation, but limited, since a fork must not hang.
static constexpr auto kForkTimeout = std::chrono::seconds(5);
// The timeout after an earlier fork timed out: the thread inside may be cancelled work that never ends.
static constexpr auto kSecondTimeout = std::chrono::milliseconds(20);
static constexpr auto kPause = std::chrono::microseconds(200);

static std::atomic<unsigned> inside{0};
static std::atomic<unsigned> forking{0};
static std::atomic<bool> isLost{false};
static std::atomic<bool> isStuck{false};   ///< the last fork timed out
static thread_local unsigned depth = 0;    ///< gates that this thread holds, nested
static thread_local bool isEmptied = true; ///< in the current fork of this thread

static void enter() {
  for (;;) {
    inside.fetch_add(1);
    if (forking.load() == 0)
      return;
    inside.fetch_sub(1);
    while (forking.load() != 0)
      std::this_thread::sleep_for(kPause);
  }
}

ForkGate::ForkGate() {
  if (depth++ == 0)
    enter();
}

ForkGate::~ForkGate() {
  if (--depth == 0)
    inside.fetch_sub(1);
}

bool ForkGate::isHeld() { return depth != 0; }
bool ForkGate::compilerIsLost() { return isLost.load(); }

//--- Forks -------------------------------------------------------------------------------------

/// A compiling thread that forks (to run a tool) does not wait for itself.
static unsigned ownShare() { return depth != 0; }

static void beforeFork() {
  forking.fetch_add(1);
  const auto deadline = std::chrono::steady_clock::now() + (isStuck.load() ? kSecondTimeout : kForkTimeout);
  isEmptied = inside.load() <= ownShare();
  while (!isEmptied && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kPause);
    isEmptied = inside.load() <= ownShare();
  }
  isStuck.store(!isEmptied);
}

static void afterForkInParent() { forking.fetch_sub(1); }

static void afterForkInChild() {
  if (!isEmptied)
    isLost.store(true);
  isStuck.store(false);
  inside.store(ownShare());
  forking.store(0);
}

// Registered at load time: a registration at first use could itself be interrupted by a fork.
[[maybe_unused]] static const int gateRegistered = pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
