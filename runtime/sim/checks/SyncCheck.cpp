// Rules of barriers, collectives, mbarriers and asynchronous copies that need no clocks.
// SPDX-License-Identifier: MIT
#include "runtime/sim/checks/SyncCheck.h"

#include "runtime/sim/checks/Checks.h"

#include <bit>

using namespace nereid::sim;

static constexpr const char *kCode = "sanitize-sync";
/// PTX ISA, tx-count of an mbarrier.
static constexpr int64_t kMaxBytes = (1 << 20) - 1;

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
    return atMbarrier(warp, event);
  case SyncKind::AsyncIssue:
  case SyncKind::AsyncCommit:
  case SyncKind::AsyncWait:
    return atAsync(warp, event);
  case SyncKind::BarrierLeave:
  case SyncKind::Fence:
  case SyncKind::ProxyFence:
  case SyncKind::MbarrierArrive:
  case SyncKind::MbarrierWait:
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

void SyncCheck::atMbarrier(Warp &warp, const SyncEvent &event) {
  Mbarrier &barrier = mbarriers[event.object];
  switch (event.kind) {
  case SyncKind::MbarrierInit:
    if (barrier.isValid)
      fail(warp, *event.instruction, kCode, "an mbarrier is initialised again without `mbarrier.inval` before");
    barrier.isValid = true;
    barrier.bytes = 0;
    return;
  case SyncKind::MbarrierInval:
    barrier.isValid = false;
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
  default:
    break;
  }
  // Bytes have come.
  barrier.bytes -= event.count;
  auto found = copies.find({event.operation, event.object});
  if (found == copies.end())
    return;
  const Copy copy = found->second;
  copies.erase(found);
  if (copy.phase != barrier.phase)
    fail(*copy.warp, *copy.instruction, kCode,
         "the phase of the mbarrier has ended before the bytes of this copy came: it expects too few bytes",
         int(copy.lane));
}

void SyncCheck::atAsync(Warp &warp, const SyncEvent &event) {
  const bool isIssue = event.kind == SyncKind::AsyncIssue;
  if (isIssue && event.async == AsyncKind::Signalling) {
    copies[{event.operation, event.object}] = {&warp, event.instruction, event.object, mbarriers[event.object].phase,
                                               unsigned(std::countr_zero(event.lanes))};
    return;
  }
  const bool isStore = event.async == AsyncKind::BulkStore;
  if (!isStore && event.async != AsyncKind::Copy && event.async != AsyncKind::CopyArrival)
    return;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(event.lanes >> lane & 1))
      continue;
    Copies &own = (isStore ? laneStores : laneCopies)[{&warp, lane}];
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

void SyncCheck::onEnd(Cluster &) {
  for (const auto &[thread, own] : laneCopies)
    if (own.last && !cluster.error)
      fail(*thread.first, *own.last, kCode, "the thread ends without a wait for this copy", int(thread.second));
  for (const auto &[thread, own] : laneStores)
    if (own.last && !cluster.error)
      fail(*thread.first, *own.last, kCode, "the thread ends while this copy may still read its CTA's shared memory",
           int(thread.second));
}

std::shared_ptr<Observer> nereid::sim::makeSyncCheck(Cluster &cluster) { return std::make_shared<SyncCheck>(cluster); }
