// A launch whose programs may wait for each other, and the part that one thread takes in it.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cpu/DeadlockReport.h"
#include "runtime/cpu/Fiber.h"
#include "runtime/cpu/HostCalls.h"
#include "runtime/cpu/Schedule.h"
#include "runtime/process/StopCheck.h"
#include "runtime/process/WorkerPool.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

namespace nereid::runtime {

inline constexpr uint64_t kNoProgram = ~uint64_t(0);
using FreeDeleter = decltype([](char *memory) { std::free(memory); });

/// A program that has started, or none; of one thread, others only read.
struct ProgramContext {
  std::unique_ptr<Fiber> fiber;
  std::unique_ptr<char, FreeDeleter> arena;
  std::atomic<uint64_t> program{kNoProgram};
  std::atomic<const WaitSite *> site{nullptr}; ///< where the program has waited last
  std::atomic<int64_t> lastWait{0}; ///< ticks of the steady clock
  uint32_t spins = 0;
};

class WaitingLaunch : public SharedWork {
public:
  explicit WaitingLaunch(const Programs &programs)
      : programs(programs), next(programs.only.value_or(0)), end(programs.only ? *programs.only + 1 : programs.total) {}

  void join() override { take(nullptr); }
  bool isUsedUp() const override { return next.load() >= end; }
  /// The calling thread's part; returns the number of programs that it ran. With `stop`, of the launching thread.
  uint64_t take(StopCheck *stop);
  /// Returns once all threads have left.
  void finish(StopCheck &stop);
  /// After finish().
  LaunchEnd result() const {
    return isDeadlockReported ? LaunchEnd::Done
           : isCut            ? LaunchEnd::Stopped
           : lacksMemory      ? LaunchEnd::NoMemory
                              : LaunchEnd::Done;
  }

private:
  friend class ThreadPart;

  uint64_t claim();
  size_t mostResident() const;
  ProgramContext *addContext(void (*body)());
  /// Ends the launch: programs that wait are not finished, others are not started.
  void stop() { isStopping = true; }
  void awaitHelpers(StopCheck &stop);
  bool isOver(StopCheck &stop);
  std::vector<WaitingProgram> stuckPrograms() const;
  bool endsInDeadlock();

  const Programs programs;
  const size_t residents = mostResident();
  std::atomic<uint64_t> next;
  const uint64_t end;
  std::atomic<bool> isStopping{false}, isCut{false};
  alignas(64) std::atomic<uint64_t> progress{0}; ///< changes when a program ends, or comes to another wait
  alignas(64) std::atomic<uint32_t> present{0};
  // Of the launching thread:
  bool isDeadlockReported = false, lacksMemory = false;
  uint64_t seenProgress = 0;
  std::chrono::steady_clock::time_point seenAt = std::chrono::steady_clock::now();

  mutable std::mutex mutex;
  std::vector<std::unique_ptr<ProgramContext>> contexts;
};

/// The programs that one thread runs by turns. The first context has the thread's own stack.
class ThreadPart {
public:
  ThreadPart(WaitingLaunch &launch, ProgramContext &own, StopCheck *stop);
  ~ThreadPart() { current() = outer; }
  static ThreadPart *&current() {
    static thread_local ThreadPart *part = nullptr;
    return part;
  }

  uint64_t run();
  bool wait(const WaitSite *site, bool isFirst);
  void arrive();

private:
  using Clock = std::chrono::steady_clock;

  static void runOther();
  void runPrograms();
  void askHost(Clock::time_point now);
  bool mayGoOn(ProgramContext &context, WaitKind kind) const;
  bool letOthersRun(ProgramContext &context);
  bool mayStart(WaitKind kind, Clock::duration waited);
  ProgramContext *startable();
  ProgramContext *following();
  void switchTo(ProgramContext &other);
  static void pause(WaitKind kind, Clock::duration waited);

  WaitingLaunch &launch;
  StopCheck *const stop;
  ThreadPart *const outer;            ///< of a launch that a stop check interrupts
  std::vector<ProgramContext *> live; ///< with a program
  std::vector<ProgramContext *> idle;
  ProgramContext *const own;
  ProgramContext *running;
  uint64_t count = 0;
  uint64_t seenProgress = 0;
  Clock::time_point seenAt = Clock::now(), nextAsk = seenAt + StopCheck::kInterval;
  Clock::duration beforeStartUnsure; ///< another program; less once the loops were seen to wait
};

} // namespace nereid::runtime
