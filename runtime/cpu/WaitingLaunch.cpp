// Claims the programs of a launch for threads, and ends launches that are stopped or cannot go on.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/WaitingLaunch.h"

#include "runtime/cpu/OpenMpTeam.h"
#include "runtime/cpu/ThreadState.h"
#include "runtime/cpu/WaitingThread.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include <unistd.h>

namespace nereid::runtime {

using Clock = std::chrono::steady_clock;

// About the number of programs that a large GPU runs at a time.
static constexpr size_t kMostResident = 4096;
// The part of a stack that a program uses, about.
static constexpr uint64_t kStackUse = 65536;
// A program that has not asked for that long does not wait, but computes.
static constexpr auto kStillWaits = std::chrono::milliseconds(1000);
static constexpr auto kBetweenLooks = std::chrono::microseconds(50);

static std::atomic<double> waitLimit{10};

uint64_t WaitingLaunch::claim() {
  if (isStopping) {
    if (next.exchange(end) < end)
      isCut = true;
    return kNoProgram;
  }
  const uint64_t program = next.load() < end ? next.fetch_add(1) : end;
  return program < end ? program : kNoProgram;
}

/// The number of programs that may be resident: their arenas and stacks may fill half of the machine's memory.
size_t WaitingLaunch::mostResident() const {
  const long pages = sysconf(_SC_PHYS_PAGES), pageBytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || pageBytes <= 0)
    return kMostResident;
  const uint64_t half = static_cast<uint64_t>(pages) * static_cast<uint64_t>(pageBytes) / 2;
  const uint64_t each = std::min(programs.arenaBytes, kMaxRequestBytes) + kStackUse;
  return std::clamp<uint64_t>(half / each, 1, kMostResident);
}

/// Null where no further program may be resident, and where there is no memory.
ProgramContext *WaitingLaunch::addContext(void (*body)()) {
  {
    const std::lock_guard lock(mutex);
    if (contexts.size() >= residents)
      return nullptr;
  }
  constexpr uint64_t kGrain = 4096;
  const uint64_t bytes = (std::max<uint64_t>(programs.arenaBytes, 1) + kGrain - 1) / kGrain * kGrain;
  auto context = std::make_unique<ProgramContext>();
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
    if (ProgramContext *own = addContext(nullptr))
      count = ThreadPart(*this, *own, stop).run();
  present.fetch_sub(1);
  return count;
}

/// Returns when no thread takes part any more.
void WaitingLaunch::awaitHelpers(StopCheck &stop) {
  for (uint32_t spins = 0; present.load() != 0; ++spins) {
    if (spins > 2000)
      std::this_thread::sleep_for(kBetweenLooks);
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
  return isLate && endsInDeadlock();
}

/// The programs that have started and not ended, if all of them wait; else none.
std::vector<WaitingProgram> WaitingLaunch::stuckPrograms() const {
  const int64_t recent = (Clock::now() - kStillWaits).time_since_epoch().count();
  const std::lock_guard lock(mutex);
  std::vector<WaitingProgram> waiting;
  for (const auto &context : contexts) {
    const uint64_t program = context->program.load();
    if (program == kNoProgram)
      continue;
    const WaitSite *site = context->site;
    if (!site || site->kind != WaitKind::Polls || context->lastWait.load() <= recent)
      return {};
    waiting.push_back({program, site});
  }
  return waiting;
}

bool WaitingLaunch::endsInDeadlock() {
  const std::vector<WaitingProgram> waiting = stuckPrograms();
  if (waiting.empty())
    return false;
  reportDeadlock(programs, waiting, end - std::min(next.load(), end), residents);
  isDeadlockReported = true;
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
