// Decides when threads are worth waking, and distributes programs so that each may wait for lower ones.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/Schedule.h"

#include "process/AddressSpace.h"
#include "runtime/cpu/Crowding.h"
#include "runtime/cpu/OpenMpTeam.h"
#include "runtime/cpu/ThreadState.h"
#include "runtime/process/StopCheck.h"
#include "runtime/process/WorkerPool.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <pthread.h>

namespace nereid::runtime {

// Less work than this ends before a sleeping thread is awake.
static constexpr double kWorthHelpNs = 20'000;
// Less work than this does not pay for a team that is awake: its threads spin for a while after a region.
static constexpr double kWorthTeamNs = 6'000;
static constexpr std::chrono::microseconds kTeamSpins{200};
// Claims shrink with the remaining work, so that each thread has few and long ranges of memory and all threads end
// together: from 1 / `kRestPerClaim` of a thread's share of the rest, down to what keeps the shared counter
// uncontended. None is so long that a launch could not be stopped; a call of many programs makes the operands that they
// have in common once.
static constexpr uint64_t kRestPerClaim = 4;
static constexpr double kLeastClaimNs = 2'000;
static constexpr double kMostClaimNs = 2'000'000;
// The growth factor of batches while a launch runs on one thread.
static constexpr uint64_t kGrowth = 4;
// On a crowded machine a thread gets its processor after a time slice of others: less work than this ends before.
static constexpr double kWorthHelpWhenCrowdedNs = 4'000'000;
// On one thread, batches grow up to this: long enough that reading the clock costs nothing, short enough that a launch
// can be stopped.
static constexpr double kBatchNs = 2'000'000;

// The stack of a thread, and the part of malloc that it begins.
static constexpr size_t kThreadBytes = size_t{16} << 20;

void CostEstimate::learn(double measured) {
  const float old = value.load(std::memory_order_relaxed);
  const auto now = static_cast<float>(measured);
  // Adopts a lower value at once: a launch that was delayed by other processes looks like slow programs, and should not
  // count for long.
  value.store(old == 0 || now < old ? now : (old + now) / 2, std::memory_order_relaxed);
}

namespace {

class Stopwatch {
public:
  double nanoseconds() const { return std::chrono::duration<double, std::nano>(Clock::now() - begin).count(); }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
};

/// The number of programs that a thread claims at a time.
struct Claims {
  uint64_t least, most, parts;

  /// For chunks whose rest is shared by `threads` threads.
  Claims(double programNs, uint32_t threads)
      : least(programsIn(kLeastClaimNs, programNs)), most(programsIn(kMostClaimNs, programNs)),
        parts(threads * kRestPerClaim) {}
  uint64_t of(uint64_t rest) const { return std::min(rest, std::clamp(rest / parts, least, most)); }

private:
  static uint64_t programsIn(double time, double programNs) {
    return static_cast<uint64_t>(time / std::max(programNs, 1.0)) + 1;
  }
};

/// A range of consecutive programs, claimed from the front.
struct alignas(64) Chunk {
  std::atomic<uint64_t> next{0};
  uint64_t end = 0;

  /// The begin and end of the claimed programs; equal where none is left.
  std::pair<uint64_t, uint64_t> claim(const Claims &claims) {
    // A failed claim is ordered after every successful one.
    uint64_t begin = next.load();
    while (begin < end) {
      const uint64_t past = begin + claims.of(end - begin);
      if (next.compare_exchange_weak(begin, past))
        return {begin, past};
    }
    return {end, end};
  }
};

/// The rest of a launch, shared by its threads. Programs, arguments and code belong to the caller: they may be used
/// only between a successful claim and the departure, for which the caller waits.
///
/// With several chunks each thread of a team has its own, the same one at each launch, so that its caches still hold
/// the data; then it helps others. A program may wait for lower ones: every program that has not started has an owner
/// that is still at lower programs of that chunk.
class SharedLaunch : public SharedWork {
public:
  SharedLaunch(const Programs &programs, uint64_t first, const Claims &claims, uint32_t chunkCount)
      : programs(programs), claims(claims), chunks(chunkCount) {
    const uint64_t rest = programs.total - first;
    for (uint32_t i = 0; i < chunkCount; ++i) {
      chunks[i].next.store(first + chunkBegin(rest, i, chunkCount), std::memory_order_relaxed);
      chunks[i].end = first + chunkBegin(rest, i + 1, chunkCount);
    }
  }

  void join() override {
    present.fetch_add(1);
    if (!isUsedUp())
      helpAt(0);
    if (present.fetch_sub(1) == 1)
      present.notify_all();
  }

  /// The part of a thread that is joined by other means; starts with the chunk of that index.
  void helpAt(uint32_t chunk) {
    char *arena = threadArena(programs.arenaBytes);
    const PartOfLaunch part;
    if (arena)
      take(arena, chunk);
    if (!arena || isPaused.load())
      departed.fetch_add(1);
  }

  bool isUsedUp() const override {
    return std::ranges::all_of(
        chunks, [](const Chunk &chunk) { return chunk.next.load(std::memory_order_relaxed) >= chunk.end; });
  }

  /// The calling thread's part; returns the number of programs that it ran. The launching thread checks between two
  /// claims whether to stop.
  uint64_t take(char *arena, uint32_t firstChunk, StopCheck *stop = nullptr) {
    const DefaultFloatRules rules;
    uint64_t count = 0;
    for (uint32_t i = 0; i < chunks.size(); ++i) {
      Chunk &chunk = chunks[(firstChunk + i) % chunks.size()];
      while (!isPaused.load()) {
        const auto [begin, end] = chunk.claim(claims);
        if (begin == end)
          break;
        programs.run(begin, end, arena);
        count += end - begin;
        if (stop && stop->isStopRequested())
          return count + endEarly();
        if (stop)
          arena = threadArena(programs.arenaBytes); // the stop check may have run another launch
      }
    }
    return count;
  }

  LaunchEnd end() const { return isStopped ? LaunchEnd::Stopped : LaunchEnd::Done; }

  void waitForHelpers() {
    for (int spins = 0; spins < kSpins; ++spins) {
      if (present.load() == 0)
        return;
      pause();
    }
    while (const uint32_t left = present.load())
      present.wait(left);
  }

private:
  static constexpr int kSpins = 2000;
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  /// The first program of chunk `i` of `count` among `total` programs.
  static uint64_t chunkBegin(uint64_t total, uint64_t i, uint64_t count) {
    return total / count * i + std::min(i, total % count);
  }
  /// Stops all claims; returns the number of programs that still had to run. A program of a later chunk may be waiting
  /// for one of an earlier chunk that has not started: until all helpers have left, this thread continues, from the
  /// lowest program on.
  uint64_t endEarly() {
    if (chunks.size() == 1) { // all lower programs have started
      isStopped = chunks[0].next.exchange(chunks[0].end) < chunks[0].end;
      return 0;
    }
    isPaused.store(true);
    uint64_t count = 0;
    for (Chunk &chunk : chunks)
      while (!haveHelpersLeft()) {
        const auto [begin, end] = chunk.claim(claims);
        if (begin == end)
          break;
        programs.run(begin, end, threadArena(programs.arenaBytes)); // the stop check may have run another launch
        count += end - begin;
      }
    isStopped = !isUsedUp();
    return count;
  }
  /// Whether the helpers have left, after a short wait.
  bool haveHelpersLeft() const {
    constexpr auto kMoment = std::chrono::milliseconds(20);
    const auto end = std::chrono::steady_clock::now() + kMoment;
    while (departed.load() + 1 < chunks.size()) {
      if (std::chrono::steady_clock::now() > end)
        return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }

  const Programs programs;
  const Claims claims;
  bool isStopped = false; ///< set and read by the launching thread alone
  std::vector<Chunk> chunks;
  std::atomic<bool> isPaused{false}; ///< of a team: only the launching thread claims more
  std::atomic<uint32_t> departed{0}; ///< threads of a team that have left because of it
  alignas(64) std::atomic<uint32_t> present{0};
};

} // namespace

static Crowding crowding;

/// Launches that follow each other closely keep a team awake.
class LaunchRate {
public:
  /// Whether a launch that a team could run ended a moment ago.
  bool isHigh() const { return now() - lastEnd.load(std::memory_order_relaxed) < Time(kTeamSpins).count(); }
  void noteEnd() { lastEnd.store(now(), std::memory_order_relaxed); }

private:
  using Time = std::chrono::nanoseconds;
  static int64_t now() { return Time(std::chrono::steady_clock::now().time_since_epoch()).count(); }
  std::atomic<int64_t> lastEnd{0};
};
static LaunchRate launchRate;

/// The rest of a launch on an OpenMP team, whose threads join all at once. Always the whole team: for a smaller one the
/// library would end the surplus threads, and start them again for the next.
static LaunchEnd runOnTeam(const Programs &programs, uint64_t first, char *arena, uint32_t threads,
                           CostEstimate &cost) {
  struct Region {
    SharedLaunch launch;
    char *arena; ///< of the calling thread
    uint32_t threads;
    CostEstimate &cost;
    StopCheck stop;
    pthread_t caller;
    Stopwatch sinceBegin{};
    std::atomic<int64_t> latest{0}; ///< nanoseconds after which the last thread began
  } region{{programs, first, Claims(cost.nanoseconds(), 1), threads}, arena, threads, cost, {}, pthread_self()};
  runOnOpenMpTeam(
      threads,
      [](void *data, uint32_t index, uint32_t count) {
        auto &region = *static_cast<Region *>(data);
        const uint32_t chunk = count == region.threads ? index : 0; // in a smaller team all start with the lowest
        if (!pthread_equal(pthread_self(), region.caller)) {
          const auto late = static_cast<int64_t>(region.sinceBegin.nanoseconds());
          for (int64_t known = region.latest.load(); known < late;)
            if (region.latest.compare_exchange_weak(known, late))
              break;
          return region.launch.helpAt(chunk);
        }
        const Stopwatch watch;
        if (const uint64_t done = region.launch.take(region.arena, chunk, &region.stop))
          region.cost.learn(watch.nanoseconds() / static_cast<double>(done));
      },
      &region);
  crowding.report(std::chrono::nanoseconds(region.latest.load()));
  return region.launch.end();
}

// The libraries end the process where there is no room for the stack of a thread.
bool hasRoomForThreads(uint32_t threads) { return process::hasAddressSpace(kThreadBytes * threads); }

bool sharesWithTeam() { return openMpThreads() != 0 && !crowding.isCrowded(); }

static LaunchEnd runShared(const Programs &programs, uint64_t first, char *arena, uint32_t threads,
                           CostEstimate &cost) {
  const bool hasRoom = hasRoomForThreads(threads);
  if (hasRoom && sharesWithTeam())
    return runOnTeam(programs, first, arena, threads, cost);
  const Claims claims(cost.nanoseconds(), threads);
  const uint64_t rest = programs.total - first;
  const auto helpers = static_cast<uint32_t>(std::min<uint64_t>(threads - 1, (rest - 1) / claims.least));
  const auto launch = std::make_shared<SharedLaunch>(programs, first, claims, 1);
  if (hasRoom)
    requestHelp(launch, helpers);
  StopCheck stop;
  const Stopwatch watch;
  if (const uint64_t count = launch->take(arena, 0, &stop))
    cost.learn(watch.nanoseconds() / static_cast<double>(count));
  launch->waitForHelpers();
  return launch->end();
}

/// Runs all programs on the calling thread, in growing batches of up to about two milliseconds.
static LaunchEnd runOnOneThread(const Programs &programs, char *arena, CostEstimate &cost) {
  const DefaultFloatRules rules;
  if (programs.total == 1) { // cannot be stopped, and is a poor estimate for many programs
    programs.run(0, 1, arena);
    return LaunchEnd::Done;
  }
  StopCheck stop;
  const Stopwatch watch;
  uint64_t done = 0;
  for (uint64_t batch = 1;;) {
    const uint64_t end = done + std::min(batch, programs.total - done);
    programs.run(done, end, arena);
    done = end;
    const double each = watch.nanoseconds() / static_cast<double>(done);
    if (done == programs.total) {
      cost.learn(each);
      return LaunchEnd::Done;
    }
    if (stop.isStopRequested())
      return LaunchEnd::Stopped;
    arena = threadArena(programs.arenaBytes); // the stop check may have run another launch
    if (each * static_cast<double>(batch) < kBatchNs)
      batch *= kGrowth;
  }
}

/// Runs growing batches on this thread until the rest is worth help; returns the number of programs run. Starts with
/// one, since the estimate may come from other data.
static uint64_t runAlone(const Programs &programs, char *arena, CostEstimate &cost) {
  const Stopwatch watch;
  uint64_t done = 0;
  for (uint64_t batch = 1; done < programs.total; batch *= kGrowth) {
    const uint64_t end = done + std::min(batch, programs.total - done);
    programs.run(done, end, arena);
    done = end;
    const double each = watch.nanoseconds() / static_cast<double>(done);
    const double restNs = each * static_cast<double>(programs.total - done);
    if (done == programs.total || restNs > kWorthHelpNs) {
      cost.learn(each);
      break;
    }
  }
  return done;
}

uint32_t launchThreads() {
  const uint32_t limit = openMpLimit();
  return limit == 0 ? poolThreads() : std::min(limit, poolThreads());
}

LaunchEnd runPrograms(const Programs &programs, CostEstimate &cost) {
  char *arena = threadArena(programs.arenaBytes);
  if (!arena)
    return LaunchEnd::NoMemory;
  const PartOfLaunch part;
  const uint32_t threads = programs.total == 1 ? 1 : launchThreads();
  const double expectedNs = cost.nanoseconds() * static_cast<double>(programs.total);
  if (threads == 1 || (expectedNs > 0 && expectedNs <= kWorthHelpWhenCrowdedNs && crowding.isCrowded()))
    return runOnOneThread(programs, arena, cost);
  const bool isWorthTeam = expectedNs > kWorthTeamNs;
  uint64_t done = 0;
  if (expectedNs <= kWorthHelpNs && !(isWorthTeam && openMpThreads() != 0 && launchRate.isHigh())) {
    const DefaultFloatRules rules;
    done = runAlone(programs, arena, cost);
  }
  const LaunchEnd end = done < programs.total ? runShared(programs, done, arena, threads, cost) : LaunchEnd::Done;
  if (isWorthTeam)
    launchRate.noteEnd();
  return end;
}

} // namespace nereid::runtime
