// One lock around all uses of the loader; the fork handlers take it first, and before all threads that wait for it.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/LoaderGate.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <pthread.h>

namespace nereid::runtime {

static constexpr auto kForkTimeout = std::chrono::seconds(1);
static constexpr auto kPollInterval = std::chrono::microseconds(50);

static std::timed_mutex loading;
static std::atomic<unsigned> forking{0}; ///< forks that wait for the lock or hold it
static std::atomic<bool> isLoaderLost{false};
static thread_local bool isTaken = true;   ///< by the fork that this thread performs
static thread_local bool isInside = false; ///< this thread holds the lock

/// The lock is not fair: threads that load one object after the other would keep a fork out for long.
static bool enter() {
  while (forking.load() != 0 && !isLoaderLost.load())
    std::this_thread::sleep_for(kPollInterval);
  if (isLoaderLost.load())
    return false;
  loading.lock();
  return isInside = true;
}

static bool tryEnter() { return isInside = forking.load() == 0 && !isLoaderLost.load() && loading.try_lock(); }

LoaderGate::LoaderGate() : held(enter()) {}
LoaderGate::LoaderGate(std::try_to_lock_t) : held(tryEnter()) {}

LoaderGate::~LoaderGate() {
  if (!held)
    return;
  isInside = false;
  loading.unlock();
}

bool LoaderGate::loaderIsLost() { return isLoaderLost.load(std::memory_order_relaxed); }

static void beforeFork() {
  forking.fetch_add(1);
  // A library whose constructor forks while this thread loads it: waiting for itself would help nobody.
  isTaken = !isInside && loading.try_lock_for(kForkTimeout);
}

static void afterForkInParent() {
  if (isTaken)
    loading.unlock();
  forking.fetch_sub(1);
}

static void afterForkInChild() {
  if (isTaken)
    loading.unlock();
  else
    isLoaderLost.store(true);
  forking.store(0);
}

// Registered at load time: a registration at first use could itself be interrupted by a fork.
[[maybe_unused]] static const int loaderForkHandlers = pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);

} // namespace nereid::runtime
