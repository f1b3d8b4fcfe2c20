// Rules of barriers, collectives, mbarriers and asynchronous copies that need no clocks.
// SPDX-License-Identifier: MIT
#include "runtime/sim/checks/SyncCheck.h"

#include "runtime/sim/checks/Checks.h"

#include <bit>

using namespace nereid::sim;

static constexpr const char *kCode = "sanitize-sync";
/// PTX ISA, tx-count of an mbarrier.
static constexpr int64_t kMaxBytes = (1 << 20) - 1;
static constexpr ptrdiff_t kMbarrierBytes = 8;

static std::string lanesOf(uint32_t mask) {
  std::string text = std::popcount(mask) == 1 ? "lane " : "lanes ";
  for (unsigned lane = 0, shown = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    unsigned last = lane;
    while (last + 1 < kLanes && mask >> (last + 1) & 1)
      ++last;
    text += (shown++ ? ", " : "") + std::to_string(lane) + (last > lane ? " to " + std::to_string(last) : "");
    lane = last;
  }
  return text;
}

/// The lanes of a warp that have threads.
uint32_t SyncCheck::threadsOf(const Warp &warp) const {
  const uint64_t left = cluster.launch->block.count() - uint64_t{warp.index} * kLanes;
  return left >= kLanes ? kAllLanes : (1u << left) - 1;
}

static bool isOfMbarrier(const Warp &warp, const Instruction &instruction) {
  const Code &code = *warp.cta->cluster->code;
  return code.profiles[size_t(&instruction - code.instructions.data())].kind == Kind::Barrier;
}

void SyncCheck::onSync(Warp &warp, const SyncEvent &event) {
  switch (event.kind) {
  case SyncKind::BarrierArrive:
    return atArrival(warp, event);
  case SyncKind::BarrierComplete:
    return atCompletion(warp, event);
  case SyncKind::WarpSync:
  case SyncKind::Collective:
    return atCollective(warp, event);
  case SyncKind::MbarrierInit:
  case SyncKind::MbarrierInval:
  case SyncKind::MbarrierExpect:
  case SyncKind::MbarrierBytes:
  case SyncKind::MbarrierPhase:
  case SyncKind::MbarrierWait:
    return atMbarrier(warp, event);
  case SyncKind::AsyncIssue:
  case SyncKind::AsyncCommit:
  case SyncKind::AsyncWait:
    return atAsync(warp, event);
  case SyncKind::BarrierLeave:
  case SyncKind::Fence:
  case SyncKind::ProxyFence:
  case SyncKind::MbarrierArrive:
  case SyncKind::MbarrierTest:
  case SyncKind::RegisterFence:
    return;
  }
}

//--- barriers ------------------------------------------------------------------------------

void SyncCheck::atArrival(Warp &warp, const SyncEvent &event) {
  Phase &phase = phases[event.object];
  if (event.isCounted && event.count % kLanes)
    fail(warp, *event.instruction, kCode,
         "a barrier counts whole warps: " + std::to_string(event.count) + " threads are no multiple of 32");
  if (phase.arrivals.empty())
    phase.first = event.instruction, phase.count = event.count;
  else if (event.isCounted && phase.count != event.count)
    fail(warp, *event.instruction, kCode,
         "this barrier expects " + std::to_string(event.count) + " threads, in the same phase " +
             std::to_string(phase.count) + " are expected elsewhere",
         -1, {{phase.first, "there (line " + std::to_string(phase.first->line) + " of the PTX)"}});
  Arrival &arrival = phase.arrivals[&warp];
  arrival.isMixed |= arrival.instruction && arrival.instruction != event.instruction;
  arrival.instruction = event.instruction;
  arrival.isAligned |= event.isAligned;
  arrival.lanes |= event.lanes;
}

void SyncCheck::atCompletion(Warp &, const SyncEvent &event) {
  const Phase phase = std::move(phases[event.object]);
  phases.erase(event.object);
  for (const auto &[warp, arrival] : phase.arrivals) {
    const uint32_t missing = threadsOf(*warp) & ~arrival.lanes;
    if (!arrival.isAligned || (!missing && !arrival.isMixed))
      continue;
    if (!missing)
      fail(*warp, *arrival.instruction, kCode, "lanes of one warp are at different barriers");
    else
      fail(*warp, *arrival.instruction, kCode,
           std::string("divergent barrier: ") + lanesOf(missing) + " of the warp " +
               (missing & ~warp->exited ? "are elsewhere" : "have ended before it"));
  }
}

void SyncCheck::atCollective(Warp &warp, const SyncEvent &event) {
  const uint32_t strangers = event.lanes & ~event.count;
  if (strangers)
    fail(warp, *event.instruction, kCode, lanesOf(strangers) + " executes this, but the mask of lanes does not name it",
         std::countr_zero(strangers));
}

//--- mbarriers -----------------------------------------------------------------------------

/// Only mbarrier instructions may access an mbarrier (PTX ISA, contents of the mbarrier object).
bool SyncCheck::onAccess(Warp &warp, const MemoryAccess &access) {
  if (access.space != Space::Shared || access.isAtomic || access.stage == Stage::Effect || mbarriers.empty())
    return true;
  const char *const begin = mbarriers.begin()->first, *const end = mbarriers.rbegin()->first + kMbarrierBytes;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const char *const first = access.host[lane], *const last = first + access.bytes;
    if (!(access.lanes >> lane & 1) || first >= end || last <= begin)
      continue;
    for (auto found = mbarriers.upper_bound(first - kMbarrierBytes); found != mbarriers.end() && found->first < last;
         ++found)
      if (found->second.valid && !isOfMbarrier(warp, *access.instruction))
        return reportAccess(warp, access, lane, *found->second.valid);
  }
  return true;
}

bool SyncCheck::reportAccess(Warp &warp, const MemoryAccess &access, unsigned lane, const Instruction &init) {
  fail(warp, *access.instruction, kCode,
       std::string("this ") + (access.writes ? "writes" : "reads") +
           " the memory of an mbarrier, which ends by "
           "`mbarrier.inval`",
       int(access.threadOf(lane)), {{&init, "initialised here (line " + std::to_string(init.line) + " of the PTX)"}});
  return false;
}

void SyncCheck::atMbarrier(Warp &warp, const SyncEvent &event) {
  Mbarrier &barrier = mbarriers[static_cast<const char *>(event.object)];
  switch (event.kind) {
  case SyncKind::MbarrierInit:
    if (barrier.valid)
      fail(warp, *event.instruction, kCode, "an mbarrier is initialised again without `mbarrier.inval` before");
    barrier.valid = event.instruction;
    barrier.bytes = 0;
    return;
  case SyncKind::MbarrierInval:
    barrier.valid = nullptr;
    if (barrier.bytes > 0)
      fail(warp, *event.instruction, kCode,
           "an mbarrier ends while it expects " + std::to_string(barrier.bytes) + " bytes");
    return;
  case SyncKind::MbarrierExpect:
    barrier.bytes += event.count;
    if (barrier.bytes > kMaxBytes)
      fail(warp, *event.instruction, kCode, "an mbarrier expects more than 1048575 bytes");
    return;
  case SyncKind::MbarrierPhase:
    ++barrier.phase;
    return;
  case SyncKind::MbarrierWait:
    std::erase_if(barrier.unawaited, [&](const Copy &copy) { return copy.phase < barrier.phase; });
    return;
  default:
    return atBytes(warp, barrier, event);
  }
}

/// Bytes have come.
void SyncCheck::atBytes(Warp &, Mbarrier &barrier, const SyncEvent &event) {
  barrier.bytes -= event.count;
  auto found = copies.find({event.operation, event.object});
  if (found == copies.end())
    return;
  const Copy copy = found->second;
  copies.erase(found);
  barrier.unawaited.push_back(copy);
  if (copy.phase != barrier.phase)
    fail(*copy.warp, *copy.instruction, kCode,
         "the phase of the mbarrier has ended before the bytes of this copy came: it expects too few bytes",
         int(copy.lane));
}

void SyncCheck::atAsync(Warp &warp, const SyncEvent &event) {
  const bool isIssue = event.kind == SyncKind::AsyncIssue;
  if (isIssue && event.async == AsyncKind::Signalling) {
    const uint32_t phase = mbarriers[static_cast<const char *>(event.object)].phase;
    copies[{event.operation, event.object}] = {&warp, event.instruction, phase,
                                               unsigned(std::countr_zero(event.lanes))};
    return;
  }
  auto &kind = event.async == AsyncKind::BulkStore ? laneStores
               : event.async == AsyncKind::Wgmma   ? products
                                                   : laneCopies;
  const uint32_t lanes = event.async == AsyncKind::Wgmma ? 1 : event.lanes;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(lanes >> lane & 1))
      continue;
    Copies &own = kind[{&warp, lane}];
    if (event.async == AsyncKind::CopyArrival)
      own.last = nullptr;
    else if (isIssue)
      own.last = event.instruction, own.group = own.committed;
    else if (event.kind == SyncKind::AsyncCommit)
      ++own.committed;
    else if (event.isAll || own.group + event.count < own.committed)
      own.last = nullptr;
  }
}

void SyncCheck::reportAtEnd(const Copy &copy, const char *text) {
  if (!cluster.error)
    fail(*copy.warp, *copy.instruction, kCode, text, int(copy.lane));
}

void SyncCheck::onEnd(Cluster &) {
  for (const auto &[address, barrier] : mbarriers)
    for (const Copy &copy : barrier.unawaited)
      reportAtEnd(copy, "the kernel ends without a wait for the phase of the mbarrier that this copy signals");
  for (const auto &[thread, own] : products)
    if (own.last && !cluster.error)
      fail(*thread.first, *own.last, kCode, "the warp ends without a `wgmma.wait_group` for this");
  for (const auto &[thread, own] : laneCopies)
    if (own.last && !cluster.error)
      fail(*thread.first, *own.last, kCode, "the thread ends without a wait for this copy", int(thread.second));
  for (const auto &[thread, own] : laneStores)
    if (own.last && !cluster.error)
      fail(*thread.first, *own.last, kCode, "the thread ends while this copy may still read its CTA's shared memory",
           int(thread.second));
}

std::shared_ptr<Observer> nereid::sim::makeSyncCheck(Cluster &cluster) { return std::make_shared<SyncCheck>(cluster); }
