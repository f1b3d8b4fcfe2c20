// Leaves a guarded thread from LLVM's fatal error handler by a jump to the start of the work.
// SPDX-License-Identifier: MIT
#include "compiler/support/FatalGuard.h"

#include "compiler/support/ForkGate.h"
#include "compiler/support/MemoryReserve.h"
#include "compiler/support/StackRoom.h"

#include "llvm/Support/ErrorHandling.h"

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <ctime>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>

using namespace nereid;
using namespace nereid::support;

static constexpr long kAskNs = 30'000'000;

namespace {
enum class RunState : uint8_t { Running, Ended, Cancelled };

/// Signals between the thread of a run and its waiter.
struct Signals {
  std::atomic<RunState> state{RunState::Running};
  std::atomic<std::chrono::steady_clock::time_point> deadline{std::chrono::steady_clock::time_point::max()};
};

struct Guard {
  llvm::function_ref<void()> work;
  Signals *signals; ///< of the thread's run
  Guard *outer = nullptr;
  std::jmp_buf start = {};
  std::string reason = {};
  bool failed = false;
  bool isOutOfMemory = false;
};

/// The guarded work of one thread; the thread and its waiter share it.
struct Run {
  explicit Run(std::function<void()> work) : work(std::move(work)) {}
  const std::function<void()> work;
  Signals signals;
  Guard guard{work, &signals};
  bool callerHoldsGate = ForkGate::isHeld();
};
} // namespace

static thread_local Guard *activeGuard = nullptr;
static std::atomic<unsigned> cancelledRuns{0};

// A forked child has no threads of such runs.
[[maybe_unused]] static const int counterRegistered = pthread_atfork(nullptr, nullptr, [] { cancelledRuns.store(0); });

[[noreturn]] static void leave(Guard &guard, const char *reason) {
  guard.reason = reason;
  guard.failed = true;
  std::longjmp(guard.start, 1);
}

[[noreturn]] static void leaveForMemory(Guard &guard) {
  guard.isOutOfMemory = true;
  leave(guard, "out of memory");
}

static void onFatalError(void *, const char *reason, bool) {
  if (activeGuard) // not guarded: LLVM goes on to end the process
    leave(*activeGuard, reason ? reason : "unknown fatal error");
}

/// LLVM has failed to allocate, and may hold locks of the whole process, which nothing can release.
static void onBadAlloc(void *, const char *, bool) {
  if (!activeGuard)
    return;
  loseCompiler();
  leaveForMemory(*activeGuard);
}

static void installHandlers() {
  static std::once_flag installed;
  std::call_once(installed, [] {
    llvm::install_fatal_error_handler(onFatalError);
    llvm::install_bad_alloc_error_handler(onBadAlloc);
    setLastResort([] { onBadAlloc(nullptr, nullptr, false); });
  });
}

/// Runs the work on this thread; a jump skips only frames of `work`.
static void runWithin(Guard &guard) {
  guard.outer = activeGuard;
  if (guard.outer)
    guard.signals = guard.outer->signals;
  activeGuard = &guard;
  if (setjmp(guard.start) == 0)
    guard.work();
  activeGuard = guard.outer;
  if (guard.outer)
    guard.outer->isOutOfMemory |= guard.isOutOfMemory;
}

static void runWithGate(Run &run) {
  // Either the waiting thread already holds the fork gate, or this one takes it.
  std::optional<ForkGate> gate;
  if (!run.callerHoldsGate)
    gate.emplace();
  installHandlers();
  const MemoryReserve reserve;
  if (isMemoryShort()) {
    run.guard.failed = run.guard.isOutOfMemory = true;
    run.guard.reason = "out of memory";
  } else {
    runWithin(run.guard);
  }
}

static void *runOnThread(void *opaque) {
  auto *held = static_cast<std::shared_ptr<Run> *>(opaque);
  runWithGate(**held);
  const bool isCancelled = (*held)->signals.state.exchange(RunState::Ended) == RunState::Cancelled;
  // State that a jump left behind is unknown and is leaked.
  if (!isCancelled || !(*held)->guard.failed)
    delete held;
  if (isCancelled)
    cancelledRuns.fetch_sub(1);
  return nullptr;
}

static bool startRun(const std::shared_ptr<Run> &run, pthread_t &thread) {
  auto *held = new std::shared_ptr<Run>(run);
  if (support::startThread(thread, runOnThread, held))
    return true;
  delete held;
  return false;
}

/// Whether the thread ends within one polling interval.
static bool joinsSoon(pthread_t thread) {
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += kAskNs;
  if (until.tv_nsec >= 1'000'000'000) {
    until.tv_nsec -= 1'000'000'000;
    ++until.tv_sec;
  }
  return pthread_timedjoin_np(thread, nullptr, &until) != ETIMEDOUT;
}

/// False where the thread has just ended.
static bool cancel(Run &run, pthread_t thread) {
  cancelledRuns.fetch_add(1);
  RunState running = RunState::Running;
  if (run.signals.state.compare_exchange_strong(running, RunState::Cancelled)) {
    pthread_detach(thread);
    return true;
  }
  cancelledRuns.fetch_sub(1);
  return false;
}

static std::optional<std::string> failureOf(const Guard &guard) {
  return guard.failed ? std::optional(guard.reason) : std::nullopt;
}

GuardedEnd support::runGuarded(std::function<void()> work, llvm::function_ref<bool()> isCancelRequested) {
  const auto run = std::make_shared<Run>(std::move(work));
  pthread_t thread;
  if (activeGuard) { // on such a thread already
    runWithin(run->guard);
  } else if (!startRun(run, thread)) { // no thread is available: run the work without one
    runWithGate(*run);
  } else if (!isCancelRequested) {
    pthread_join(thread, nullptr);
  } else {
    while (!joinsSoon(thread)) {
      const bool isTimedOut = std::chrono::steady_clock::now() > run->signals.deadline.load();
      if (!isTimedOut && !isCancelRequested())
        continue;
      if (cancel(*run, thread))
        return {true, isTimedOut, false, std::nullopt};
      pthread_join(thread, nullptr);
      break;
    }
  }
  return {false, false, run->guard.isOutOfMemory, failureOf(run->guard)};
}

std::optional<std::string> support::runGuarded(llvm::function_ref<void()> work) {
  return runGuarded(std::function<void()>(work), nullptr).failure;
}

// --- Cancelled work -----------------------------------------------------------------------------

bool support::isCancelled() {
  return activeGuard && activeGuard->signals->state.load(std::memory_order_relaxed) == RunState::Cancelled;
}

void support::exitIfCancelled() {
  if (isCancelled())
    leave(*activeGuard, "cancelled");
  if (activeGuard && isMemoryShort())
    leaveForMemory(*activeGuard);
}

support::TimeLimit::TimeLimit(std::chrono::seconds limit) {
  if (activeGuard && limit.count() > 0)
    activeGuard->signals->deadline.store(std::chrono::steady_clock::now() + limit);
}

support::TimeLimit::~TimeLimit() {
  if (activeGuard)
    activeGuard->signals->deadline.store(std::chrono::steady_clock::time_point::max());
}

bool support::waitForCancelled(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (cancelledRuns.load() != 0) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}
