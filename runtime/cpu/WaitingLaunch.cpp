// Switches between the programs of a thread, starts more where all of them wait, and finds launches that cannot go on.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/WaitingLaunch.h"

#include "artifact/TargetInfo.h"
#include "runtime/cpu/CrashReport.h"
#include "runtime/cpu/Fiber.h"
#include "runtime/cpu/HostCalls.h"
#include "runtime/cpu/OpenMpTeam.h"
#include "runtime/cpu/ThreadState.h"
#include "runtime/process/StopCheck.h"
#include "runtime/process/WorkerPool.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

namespace nereid::runtime {

namespace {
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

// As many as a large GPU has at a time, about.
constexpr size_t kMostResident = 4096;
// The part of a stack that a program uses, about.
constexpr uint64_t kStackUse = 65536;
// So many start before the first goes on after an atomic operation; more would cost more memory than they are worth.
constexpr size_t kMostArrived = 128;
// A program that waits for one of another thread gets what it waits for within that many iterations, mostly.
constexpr uint32_t kSpins = 128;
// Other threads may end what all programs of this one wait for; starting one more takes memory.
constexpr auto kBeforeStart = microseconds(50);
// A loop that takes tiles looks like one that waits, the first time.
constexpr auto kBeforeStartUnsure = milliseconds(10);
// A loop that counts its tries has some to spare; each of the others is worth a turn of all programs.
constexpr uint32_t kFreeTries = 8;
// Where nothing changes, other processes get the processor.
constexpr auto kBeforeYield = microseconds(200), kBeforeSleep = microseconds(20'000), kSleep = microseconds(100);
constexpr auto kAfterFailure = milliseconds(10);
// A program that has not asked for that long does not wait, but computes.
constexpr auto kStillWaits = milliseconds(1000);
constexpr uint64_t kNone = ~uint64_t(0);

std::atomic<double> waitLimit{10};

void relaxProcessor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

int64_t ticks(Clock::time_point time) { return time.time_since_epoch().count(); }

using FreeDeleter = decltype([](char *memory) { std::free(memory); });

/// A program that has started, or none; of one thread, others only read.
struct Context {
  std::unique_ptr<Fiber> fiber;
  std::unique_ptr<char, FreeDeleter> arena;
  std::atomic<uint64_t> program{kNone};
  std::atomic<const WaitSite *> site{nullptr}; ///< where the program has waited last
  std::atomic<int64_t> lastWait{0};
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
    return isStuckReported ? LaunchEnd::Done
           : isCut         ? LaunchEnd::Stopped
           : lacksMemory   ? LaunchEnd::NoMemory
                           : LaunchEnd::Done;
  }

private:
  friend class ThreadPart;

  uint64_t claim();
  size_t mostResident() const;
  Context *addContext(void (*body)());
  /// Ends the launch: programs that wait are not finished, others are not started.
  void stop() { isStopping = true; }
  void awaitHelpers(StopCheck &stop);
  bool isOver(StopCheck &stop);
  bool isStuck() const;
  bool reportStuck();
  std::string stuckText(std::string_view name, uint64_t &lowest) const;

  const Programs programs;
  const size_t residents = mostResident();
  std::atomic<uint64_t> next;
  const uint64_t end;
  std::atomic<bool> isStopping{false}, isCut{false};
  alignas(64) std::atomic<uint64_t> progress{0}; ///< changes when a program ends, or comes to another wait
  alignas(64) std::atomic<uint32_t> present{0};
  // Of the launching thread:
  bool isStuckReported = false, lacksMemory = false;
  uint64_t seenProgress = 0;
  Clock::time_point seenAt = Clock::now();

  mutable std::mutex mutex;
  std::vector<std::unique_ptr<Context>> contexts;
};

/// The programs that one thread runs by turns. The first context has the thread's own stack.
class ThreadPart {
public:
  ThreadPart(WaitingLaunch &launch, Context &own, StopCheck *stop);
  ~ThreadPart() { current() = outer; }
  static ThreadPart *&current() {
    static thread_local ThreadPart *part = nullptr;
    return part;
  }

  uint64_t run();
  bool wait(const WaitSite *site, bool isFirst);
  void arrive();

private:
  static void runOther();
  void runPrograms();
  void askHost(Clock::time_point now);
  bool mayGoOn(Context &context, WaitKind kind) const;
  bool letOthersRun(Context &context);
  bool mayStart(WaitKind kind, Clock::duration waited);
  Context *startable();
  Context *following();
  void switchTo(Context &other);
  static void pause(WaitKind kind, Clock::duration waited);

  WaitingLaunch &launch;
  StopCheck *const stop;
  ThreadPart *const outer;     ///< of a launch that a stop check interrupts
  std::vector<Context *> live; ///< with a program
  std::vector<Context *> idle;
  Context *const own;
  Context *running;
  uint64_t count = 0;
  uint64_t seenProgress = 0;
  Clock::time_point seenAt = Clock::now(), nextAsk = seenAt + StopCheck::kInterval;
  Clock::duration beforeStartUnsure = kBeforeStartUnsure;
};
} // namespace

//--- A thread's part -----------------------------------------------------------------------------

ThreadPart::ThreadPart(WaitingLaunch &launch, Context &own, StopCheck *stop)
    : launch(launch), stop(stop), outer(current()), live{&own}, own(&own), running(&own) {
  current() = this;
}

void ThreadPart::runPrograms() {
  for (uint64_t program = launch.claim(); program != kNone; program = launch.claim()) {
    Context &context = *running;
    context.site.store(nullptr);
    context.program.store(program);
    launch.programs.run(program, program + 1, context.arena.get());
    context.program.store(kNone);
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
  Context *const done = part.running;
  Context *const after = part.following();
  std::erase(part.live, done);
  part.idle.push_back(done);
  part.switchTo(after == done ? *part.own : *after);
  std::abort(); // an idle context is restarted
}

void ThreadPart::switchTo(Context &other) {
  Context &before = *std::exchange(running, &other);
  before.fiber->switchTo(*other.fiber);
}

/// The next one that has a program; the same where there is no other.
Context *ThreadPart::following() {
  const auto found = std::ranges::find(live, running);
  return found == live.end() || found + 1 == live.end() ? live.front() : *(found + 1);
}

Context *ThreadPart::startable() {
  if (launch.isUsedUp() || launch.isStopping)
    return nullptr;
  Context *context = nullptr;
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

bool ThreadPart::letOthersRun(Context &context) {
  const auto now = Clock::now();
  context.lastWait.store(ticks(now), std::memory_order_relaxed);
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
  Context *other = mayStart(kind, waited) ? startable() : nullptr;
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
  Context *other = startable();
  if (!other)
    other = following();
  if (other != running)
    switchTo(*other);
}

/// Whether the next iteration may end the wait: another thread may do so, and some tries may cost nothing.
bool ThreadPart::mayGoOn(Context &context, WaitKind kind) const {
  ++context.spins;
  if (kind == WaitKind::Counts)
    return context.spins <= kFreeTries;
  const bool isAlone = live.size() == 1 && launch.present.load(std::memory_order_relaxed) > 1;
  return isAlone && context.spins % kSpins != 0;
}

bool ThreadPart::wait(const WaitSite *site, bool isFirst) {
  Context &context = *running;
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

//--- The launch ----------------------------------------------------------------------------------

uint64_t WaitingLaunch::claim() {
  if (isStopping) {
    if (next.exchange(end) < end)
      isCut = true;
    return kNone;
  }
  const uint64_t program = next.load() < end ? next.fetch_add(1) : end;
  return program < end ? program : kNone;
}

/// As many programs as may be resident: their arenas and stacks may fill half of the machine's memory.
size_t WaitingLaunch::mostResident() const {
  const long pages = sysconf(_SC_PHYS_PAGES), pageBytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || pageBytes <= 0)
    return kMostResident;
  const uint64_t half = static_cast<uint64_t>(pages) * static_cast<uint64_t>(pageBytes) / 2;
  const uint64_t each = std::min(programs.arenaBytes, kMaxRequestBytes) + kStackUse;
  return std::clamp<uint64_t>(half / each, 1, kMostResident);
}

/// Null where as many programs as may be are resident, and where there is no memory.
Context *WaitingLaunch::addContext(void (*body)()) {
  {
    const std::lock_guard lock(mutex);
    if (contexts.size() >= residents)
      return nullptr;
  }
  constexpr uint64_t kGrain = 4096;
  const uint64_t bytes = (std::max<uint64_t>(programs.arenaBytes, 1) + kGrain - 1) / kGrain * kGrain;
  auto context = std::make_unique<Context>();
  context->arena.reset(bytes > kMaxRequestBytes ? nullptr : static_cast<char *>(std::aligned_alloc(kGrain, bytes)));
  context->fiber = body ? Fiber::create(body) : std::make_unique<Fiber>();
  if (!context->arena || !context->fiber)
    return nullptr;
  std::memset(context->arena.get(), 0, sizeof(uint64_t)); // it holds nothing of earlier programs: PartOfLaunch
  const std::lock_guard lock(mutex);
  return contexts.emplace_back(std::move(context)).get();
}

uint64_t WaitingLaunch::take(StopCheck *stop) {
  present.fetch_add(1);
  uint64_t count = 0;
  if (!isUsedUp())
    if (Context *own = addContext(nullptr))
      count = ThreadPart(*this, *own, stop).run();
  present.fetch_sub(1);
  return count;
}

/// Returns when no thread takes part any more.
void WaitingLaunch::awaitHelpers(StopCheck &stop) {
  for (uint32_t spins = 0; present.load() != 0; ++spins) {
    if (spins > 2000)
      std::this_thread::sleep_for(kSleep / 2);
    if (isOver(stop))
      this->stop();
  }
}

void WaitingLaunch::finish(StopCheck &stop) {
  awaitHelpers(stop);
  const bool isCutShort = next.exchange(end) < end;
  awaitHelpers(stop); // one may have come before the exchange
  if (isCutShort)     // this thread has had no memory, and nobody has helped
    isStopping ? isCut.store(true) : void(lacksMemory = true);
}

/// Asked by the launching thread: whether the host requests the end, or no program can go on.
bool WaitingLaunch::isOver(StopCheck &stop) {
  if (isStopping)
    return true;
  if (stop.isStopRequested())
    return true;
  const uint64_t now = progress.load(std::memory_order_relaxed);
  if (now != seenProgress) {
    seenProgress = now;
    seenAt = Clock::now();
    return false;
  }
  const double limit = waitLimit.load(std::memory_order_relaxed);
  const bool isLate = limit > 0 && std::chrono::duration<double>(Clock::now() - seenAt).count() >= limit;
  return isLate && isStuck() && reportStuck();
}

/// Whether every program that has started and not ended waits, and there is one.
bool WaitingLaunch::isStuck() const {
  const int64_t recent = ticks(Clock::now() - kStillWaits);
  const std::lock_guard lock(mutex);
  bool someWaits = false;
  for (const auto &context : contexts) {
    if (context->program.load() == kNone)
      continue;
    const WaitSite *site = context->site;
    if (!site || site->kind != WaitKind::Polls || context->lastWait.load() <= recent)
      return false;
    someWaits = true;
  }
  return someWaits;
}

static std::string programText(const Programs &programs, uint64_t id) {
  const uint64_t x = programs.grid[0], y = programs.grid[1];
  return "program (" + std::to_string(id % x) + ", " + std::to_string(id / x % y) + ", " + std::to_string(id / x / y) +
         ")";
}

std::string WaitingLaunch::stuckText(std::string_view name, uint64_t &lowest) const {
  std::vector<std::pair<const WaitSite *, uint64_t>> lowestAt;
  uint64_t waiting = 0;
  for (const auto &context : contexts) {
    const uint64_t program = context->program;
    if (program == kNone)
      continue;
    ++waiting;
    auto found = std::ranges::find(lowestAt, context->site.load(), [](const auto &entry) { return entry.first; });
    if (found == lowestAt.end())
      lowestAt.push_back({context->site, program});
    else
      found->second = std::min(found->second, program);
  }
  if (lowestAt.empty()) // all have ended since
    return "";
  std::ranges::sort(lowestAt, {}, [](const auto &entry) { return entry.second; });
  lowest = lowestAt.front().second;
  const auto at = [](const WaitSite *site) { return *site->text ? std::string(site->text) + ": " : std::string(); };
  const uint64_t started = std::min(next.load(), end);
  std::string text = at(lowestAt.front().first) + "error: kernel `" + std::string(name) +
                     "` cannot go on: " + programText(programs, lowest) + " waits here" +
                     (waiting > 1 ? ", " + std::to_string(waiting - 1) + " more wait" : "") + "; ";
  text += started == end ? "all programs have started"
                         : std::to_string(end - started) + " of " + std::to_string(programs.total) +
                               " programs have not started, as at most " + std::to_string(residents) + " run at a time";
  text += "; TRITON_CPU_WAIT_LIMIT is how many seconds they may wait";
  for (size_t index = 1; index < std::min<size_t>(lowestAt.size(), 4); ++index)
    text += "\n" + at(lowestAt[index].first) + "note: " + programText(programs, lowestAt[index].second) + " waits here";
  return text;
}

/// False if all programs have ended since.
bool WaitingLaunch::reportStuck() {
  const std::lock_guard lock(mutex);
  uint64_t lowest = 0;
  const std::string text = stuckText(programs.failure->memory.artifact->name, lowest);
  if (text.empty())
    return false;
  const uint64_t x = programs.grid[0], y = programs.grid[1];
  const uint32_t ids[3] = {uint32_t(lowest % x), uint32_t(lowest / x % y), uint32_t(lowest / x / y)};
  programs.failure->report(ids, text, "launch-deadlock");
  isStuckReported = true;
  return true;
}

//--- Calls ---------------------------------------------------------------------------------------

bool waitForOthers(const WaitSite *site, uint32_t isFirst) {
  ThreadPart *part = ThreadPart::current();
  return !part || part->wait(site, isFirst != 0);
}

void startOthers() {
  if (ThreadPart *part = ThreadPart::current())
    part->arrive();
}

void setWaitLimit(double seconds) { waitLimit = seconds; }

LaunchEnd runWaiting(const Programs &programs, CostEstimate &cost) {
  constexpr double kWorthHelpNs = 20'000;
  const auto launch = std::make_shared<WaitingLaunch>(programs);
  const double known = cost.nanoseconds();
  const bool isShort = known > 0 && known * static_cast<double>(programs.total) < kWorthHelpNs;
  uint32_t threads = programs.only || programs.total == 1 || isShort ? 1 : launchThreads();
  if (threads > 1 && !hasRoomForThreads(threads))
    threads = 1;
  StopCheck stop;
  const auto begin = Clock::now();
  uint64_t count = 0;
  if (threads > 1 && sharesWithTeam()) {
    struct Region {
      WaitingLaunch &launch;
      StopCheck &stop;
      uint64_t &count;
    } region{*launch, stop, count};
    runOnOpenMpTeam(
        threads,
        [](void *data, uint32_t index, uint32_t) {
          auto &region = *static_cast<Region *>(data);
          if (index != 0)
            return region.launch.join();
          region.count = region.launch.take(&region.stop);
          region.launch.finish(region.stop);
        },
        &region);
  } else {
    if (threads > 1)
      requestHelp(launch, static_cast<uint32_t>(std::min<uint64_t>(threads - 1, programs.total - 1)));
    count = launch->take(&stop);
    launch->finish(stop);
  }
  if (count && launch->result() == LaunchEnd::Done)
    cost.learn(std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / static_cast<double>(count));
  return launch->result();
}

} // namespace nereid::runtime
