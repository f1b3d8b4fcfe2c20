// One lock around all uses of the loader; the fork handlers take it first.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/LoaderGate.h"

#include <atomic>
#include <chrono>

#include <pthread.h>

namespace nereid::runtime {

static constexpr auto kForkTimeout = std::chrono::milliseconds(100);

static std::timed_mutex loading;
static std::atomic<unsigned> forking{0}; ///< forks that wait for the lock or hold it
static std::atomic<bool> isLost{false};
static thread_local bool isTaken = true; ///< by the fork that this thread performs

static bool enter() {
  if (isLost.load())
    return false;
  loading.lock();
  return true;
}

LoaderGate::LoaderGate() : held(enter()) {}
LoaderGate::LoaderGate(std::try_to_lock_t) : held(forking.load() == 0 && loading.try_lock()) {}

LoaderGate::~LoaderGate() {
  if (held)
    loading.unlock();
}

bool LoaderGate::loaderIsLost() { return isLost.load(std::memory_order_relaxed); }

static void beforeFork() {
  forking.fetch_add(1);
  isTaken = loading.try_lock_for(kForkTimeout);
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
    isLost.store(true);
  forking.store(0);
}

// Registered at load time: a registration at first use could itself be interrupted by a fork.
[[maybe_unused]] static const int registered = pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);

} // namespace nereid::runtime
