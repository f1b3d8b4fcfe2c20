// Threads for launches on oneTBB, closed before a fork and reopened after.
// SPDX-License-Identifier: MIT
//
// Every use of the library happens between enter() and leave(). A closer sets `closed`, waits until no thread is
// inside, and shuts the library down; the next request for help starts it again, in the parent and the child of a fork
// alike. Nothing here is destroyed at exit: helpers may still run.
#include "runtime/process/WorkerPool.h"

#include "runtime/process/ThreadLimits.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include <pthread.h>
#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#endif

namespace nereid::runtime {

SharedWork::~SharedWork() = default;

// oneTBB's library is not instrumented: the thread sanitizer does not see that a task happens after its enqueuing.
#if __has_feature(thread_sanitizer)
static void handOver(void *pool) { __tsan_release(pool); }
static void takeOver(void *pool) { __tsan_acquire(pool); }
#else
static void handOver(void *) {}
static void takeOver(void *) {}
#endif

namespace {

/// oneTBB's scheduler, held open, and the threads of this pool.
struct Scheduler {
  explicit Scheduler(uint32_t threads)
      : handle(tbb::attach{}), arena(static_cast<int>(std::max(threads, 2u) - 1), /*reserved_for_masters=*/0) {
    // The library's own limit is for the whole process: left unchanged where it suffices.
    if (threads > usableProcessors())
      limit.emplace(tbb::global_control::max_allowed_parallelism, threads);
  }

  std::optional<tbb::global_control> limit;
  tbb::task_scheduler_handle handle;
  tbb::task_arena arena;
};

class Pool {
public:
  uint32_t threads() {
    const uint32_t known = threadCount.load(std::memory_order_relaxed);
    return known != 0 ? known : resolveThreads();
  }
  void setThreads(uint32_t threads);
  void setRequest(uint32_t (*request)());
  void help(std::shared_ptr<SharedWork> work, uint32_t helpers);

  // pthread_atfork runs beforeFork in the forking thread, and one of the others after the fork.
  void beforeFork();
  void afterForkInParent();
  void afterForkInChild();

private:
  uint32_t resolveThreads();
  bool enter();
  void leave() { inside.fetch_sub(1); }
  Scheduler &startedScheduler();
  bool close();
  void reopen() { closed.store(false); }
  void enqueue(Scheduler &running, std::shared_ptr<SharedWork> work, uint32_t helpers);

  std::atomic<uint32_t> threadCount{0};  ///< 0: not yet resolved
  std::atomic<bool> isCountGiven{false}; ///< by setThreads
  std::atomic<uint32_t (*)()> threadRequest{nullptr};
  std::atomic<bool> closed{false};
  std::atomic<uint32_t> inside{0}; ///< threads that use the scheduler, queued tasks included
  std::atomic<Scheduler *> scheduler{nullptr};
  std::mutex starting; ///< held by threads inside only, so never across a fork
  std::mutex closing;
  bool closedCleanly = true;
  /// Whether no thread of the library runs. It stays false, even with no scheduler here, where another user of the
  /// library kept it from stopping.
  std::atomic<bool> isLibraryStopped{true};
};

} // namespace

// A closer does not wait forever for a stuck program: a fork must not hang.
static constexpr auto kCloseTimeout = std::chrono::milliseconds(300);

static Pool &pool() {
  static Pool *const instance = new Pool;
  return *instance;
}

uint32_t Pool::resolveThreads() {
  uint32_t unknown = 0;
  const auto request = threadRequest.load();
  uint32_t count = usableProcessors();
  for (const uint32_t limit : {cgroupProcessors(), request ? request() : 0})
    if (limit != 0)
      count = std::min(count, limit);
  threadCount.compare_exchange_strong(unknown, count);
  return unknown != 0 ? unknown : count;
}

bool Pool::enter() {
  inside.fetch_add(1);
  if (!closed.load())
    return true;
  leave();
  return false;
}

// Registered at load time: a registration at first use could itself be interrupted by a fork.
[[maybe_unused]] static const int poolForkHandlers =
    pthread_atfork([] { pool().beforeFork(); }, [] { pool().afterForkInParent(); }, [] { pool().afterForkInChild(); });

Scheduler &Pool::startedScheduler() {
  if (Scheduler *running = scheduler.load(std::memory_order_acquire))
    return *running;
  std::lock_guard<std::mutex> lock(starting);
  Scheduler *running = scheduler.load(std::memory_order_relaxed);
  if (!running) {
    isLibraryStopped.store(false);
    running = new Scheduler(threads());
    scheduler.store(running, std::memory_order_release);
  }
  return *running;
}

/// Waking a thread costs microseconds, so helpers wake each other in a tree.
void Pool::enqueue(Scheduler &running, std::shared_ptr<SharedWork> work, uint32_t helpers) {
  inside.fetch_add(1);
  handOver(this);
  running.arena.enqueue([this, &running, work = std::move(work), helpers] {
    takeOver(this);
    for (uint32_t rest = helpers - 1; rest > 0 && !work->isUsedUp();) {
      const uint32_t half = (rest + 1) / 2;
      enqueue(running, work, half);
      rest -= half;
    }
    work->join();
    leave();
  });
}

void Pool::help(std::shared_ptr<SharedWork> work, uint32_t helpers) {
  helpers = std::min(helpers, threads() - 1);
  if (helpers == 0 || !enter())
    return;
  enqueue(startedScheduler(), std::move(work), helpers);
  leave();
}

/// Stops the scheduler and its threads. False where something prevents it: a program that does not end, or another user
/// of the library in this process.
bool Pool::close() {
  closed.store(true);
  const auto deadline = std::chrono::steady_clock::now() + kCloseTimeout;
  while (inside.load() != 0) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::yield();
  }
  if (Scheduler *running = scheduler.exchange(nullptr)) {
    running->arena.terminate();
    isLibraryStopped.store(tbb::finalize(running->handle, std::nothrow));
    delete running;
  } else if (!isLibraryStopped.load()) {
    tbb::task_scheduler_handle handle{tbb::attach{}};
    isLibraryStopped.store(tbb::finalize(handle, std::nothrow));
  }
  return isLibraryStopped.load();
}

void Pool::setThreads(uint32_t threads) {
  std::lock_guard<std::mutex> lock(closing);
  // A scheduler that cannot be stopped now keeps the threads that it has.
  close();
  threadCount.store(threads);
  isCountGiven.store(threads != 0);
  reopen();
}

void Pool::setRequest(uint32_t (*request)()) {
  threadRequest.store(request);
  if (!isCountGiven.load())
    threadCount.store(0);
}

void Pool::beforeFork() {
  closing.lock();
  closedCleanly = close();
}

void Pool::afterForkInParent() {
  reopen();
  closing.unlock();
}

void Pool::afterForkInChild() {
  // The threads inside do not exist in the child. If the library could not be closed, it still counts on threads that
  // no longer exist: this process then stays closed, and its launches run on the calling thread.
  inside.store(0);
  scheduler.store(nullptr);
  if (!isCountGiven.load()) // the child may have an affinity mask of its own
    threadCount.store(0);
  if (closedCleanly)
    reopen();
  closing.unlock();
}

uint32_t poolThreads() { return pool().threads(); }

void setPoolThreads(uint32_t threads) { pool().setThreads(threads); }

void setThreadRequest(uint32_t (*request)()) { pool().setRequest(request); }

void requestHelp(std::shared_ptr<SharedWork> work, uint32_t helpers) { pool().help(std::move(work), helpers); }

} // namespace nereid::runtime
