// Switches between the programs of a thread, and starts more where all of them wait.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/WaitingThread.h"

#include "runtime/cpu/CrashReport.h"
#include "runtime/cpu/ThreadState.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace nereid::runtime {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// So many start before the first goes on after an atomic operation; more would cost more memory than they are worth.
static constexpr size_t kMostArrived = 128;
// A program that waits for one of another thread gets what it waits for within that many iterations, mostly.
static constexpr uint32_t kSpins = 128;
// Other threads may end what all programs of this one wait for; starting one more takes memory.
static constexpr auto kBeforeStart = microseconds(50);
// A loop that takes tiles looks like one that waits, the first time.
static constexpr auto kBeforeStartUnsure = milliseconds(10);
// A loop that counts its tries has some to spare; each of the others is worth a turn of all programs.
static constexpr uint32_t kFreeTries = 8;
// Where nothing changes, other processes get the processor.
static constexpr auto kBeforeYield = microseconds(200), kBeforeSleep = microseconds(20'000), kSleep = microseconds(100);
static constexpr auto kAfterFailure = milliseconds(10);

static void relaxProcessor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

ThreadPart::ThreadPart(WaitingLaunch &launch, ProgramContext &own, StopCheck *stop)
    : launch(launch), stop(stop), outer(current()), live{&own}, own(&own), running(&own),
      beforeStartUnsure(kBeforeStartUnsure) {
  current() = this;
}

void ThreadPart::runPrograms() {
  for (uint64_t program = launch.claim(); program != kNoProgram; program = launch.claim()) {
    ProgramContext &context = *running;
    context.site.store(nullptr);
    context.program.store(program);
    launch.programs.run(program, program + 1, context.arena.get());
    context.program.store(kNoProgram);
    ++count;
    launch.progress.fetch_add(1, std::memory_order_relaxed);
    askHost(Clock::now());
  }
}

/// Handlers of signals run on the thread's own stack, which Python knows.
void ThreadPart::askHost(Clock::time_point now) {
  if (!stop || now < nextAsk)
    return;
  if (running != own)
    return switchTo(*own);
  nextAsk = now + StopCheck::kInterval;
  if (launch.isOver(*stop))
    launch.stop();
}

uint64_t ThreadPart::run() {
  const DefaultFloatRules rules;
  // Fibers end in any order: these hold for all of them.
  const FailureScope scope(launch.programs.failure);
  const RunningKernel runningKernel(launch.programs.kernelName);
  runPrograms();
  std::erase(live, own);
  while (!live.empty()) {
    switchTo(*live.front());
    askHost(Clock::now());
  }
  return count;
}

/// The body of a fiber.
void ThreadPart::runOther() {
  current()->runPrograms();
  ThreadPart &part = *current();
  ProgramContext *const done = part.running;
  ProgramContext *const after = part.following();
  std::erase(part.live, done);
  part.idle.push_back(done);
  part.switchTo(after == done ? *part.own : *after);
  std::abort(); // an idle context is restarted
}

void ThreadPart::switchTo(ProgramContext &other) {
  ProgramContext &before = *std::exchange(running, &other);
  before.fiber->switchTo(*other.fiber);
}

/// The next one that has a program; the same where there is no other.
ProgramContext *ThreadPart::following() {
  const auto found = std::ranges::find(live, running);
  return found == live.end() || found + 1 == live.end() ? live.front() : *(found + 1);
}

ProgramContext *ThreadPart::startable() {
  if (launch.isUsedUp() || launch.isStopping)
    return nullptr;
  ProgramContext *context = nullptr;
  if (!idle.empty()) {
    context = idle.back();
    idle.pop_back();
    context->fiber->restart(&ThreadPart::runOther);
  } else {
    context = launch.addContext(&ThreadPart::runOther);
  }
  if (context)
    live.push_back(context);
  return context;
}

/// Alone, nobody else can end the wait.
bool ThreadPart::mayStart(WaitKind kind, Clock::duration waited) {
  switch (kind) {
  case WaitKind::Counts:
    return live.size() < kMostArrived || waited > kBeforeStart;
  case WaitKind::Works:
    if (waited <= beforeStartUnsure)
      return false;
    beforeStartUnsure = std::max<Clock::duration>(beforeStartUnsure / 2, kBeforeStart); // it does wait, it seems
    return true;
  case WaitKind::Polls:
    break;
  }
  return launch.present.load(std::memory_order_relaxed) == 1 || waited > kBeforeStart;
}

/// Loops that may have work of their own do not sleep.
void ThreadPart::pause(WaitKind kind, Clock::duration waited) {
  if (waited > kBeforeSleep && kind == WaitKind::Polls)
    std::this_thread::sleep_for(kSleep);
  else if (waited > kBeforeYield && kind != WaitKind::Works)
    std::this_thread::yield();
}

bool ThreadPart::letOthersRun(ProgramContext &context) {
  const auto now = Clock::now();
  context.lastWait.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  if (const uint64_t progress = launch.progress.load(std::memory_order_relaxed); progress != seenProgress) {
    seenProgress = progress;
    seenAt = now;
  }
  const auto waited = now - seenAt;
  askHost(now);
  const LaunchFailure *failure = launch.programs.failure;
  if (failure && failure->happened() && waited > kAfterFailure)
    return false;
  const WaitKind kind = context.site.load(std::memory_order_relaxed)->kind;
  ProgramContext *other = mayStart(kind, waited) ? startable() : nullptr;
  if (other)
    seenAt = now;
  else
    other = following();
  if (other == live.front())
    pause(kind, waited);
  if (other != &context)
    switchTo(*other);
  return true;
}

void ThreadPart::arrive() {
  if (live.size() >= kMostArrived)
    return;
  ProgramContext *other = startable();
  if (!other)
    other = following();
  if (other != running)
    switchTo(*other);
}

/// Whether the next iteration may end the wait: another thread may do so, and some tries may cost nothing.
bool ThreadPart::mayGoOn(ProgramContext &context, WaitKind kind) const {
  ++context.spins;
  if (kind == WaitKind::Counts)
    return context.spins <= kFreeTries;
  const bool isAlone = live.size() == 1 && launch.present.load(std::memory_order_relaxed) > 1;
  return isAlone && context.spins % kSpins != 0;
}

bool ThreadPart::wait(const WaitSite *site, bool isFirst) {
  ProgramContext &context = *running;
  if (isFirst) {
    context.site.store(site, std::memory_order_relaxed);
    context.spins = 0;
    launch.progress.fetch_add(1, std::memory_order_relaxed);
  }
  if (mayGoOn(context, site->kind))
    relaxProcessor();
  else if (!letOthersRun(context))
    return false;
  if (!launch.isStopping.load(std::memory_order_relaxed))
    return true;
  launch.isCut = true;
  return false;
}

} // namespace nereid::runtime
