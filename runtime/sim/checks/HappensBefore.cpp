// Vector clocks of warps, of what they have started, and of mbarriers.
// SPDX-License-Identifier: MIT
//
// A thread's own entry rises after each release, so that what comes later is not covered by what was published.
#include "runtime/sim/checks/HappensBefore.h"

#include <bit>

using namespace nereid::sim;

static unsigned levelOf(Scope scope) {
  return scope <= Scope::Cta ? 0 : static_cast<unsigned>(scope) - static_cast<unsigned>(Scope::Cta);
}
static_assert(static_cast<unsigned>(Scope::Sys) - static_cast<unsigned>(Scope::Cta) == kLevels - 1);

/// The agent of a group of asynchronous operations; reads of bulk stores have one of their own.
static Agent agentOfKind(AsyncKind kind) {
  return kind == AsyncKind::Copy ? Agent::Copy : kind == AsyncKind::Wgmma ? Agent::Wgmma : Agent::BulkWrite;
}

HappensBefore::HappensBefore(const Cluster &cluster, SyncWords &global, GridTable &grids)
    : cluster(cluster), index(numberOf(cluster)), numWarps(cluster.ctas[0].warps.size()), global(global), grids(grids),
      threads(cluster.ctas.size() * numWarps) {
  grids.add(cluster);
  const View start = grids.startOf(cluster);
  for (size_t thread = 0; thread < threads.size(); ++thread) {
    threads[thread].view = start;
    threads[thread].convergedAt.fill(1);
    threads[thread].view.now.raise(index, uint16_t(thread * kAgents), 1);
  }
}

void HappensBefore::onEnd() {
  for (const Thread &thread : threads)
    grids.end(cluster, thread.view);
}

bool HappensBefore::isSeenAtEnd(uint32_t rank, uint16_t thread, uint32_t clock) const {
  const auto first = threads.begin() + ptrdiff_t(rank * numWarps);
  return std::any_of(first, first + ptrdiff_t(numWarps),
                     [&](const Thread &each) { return each.view.now.of(index, thread) >= clock; });
}

//--- threads -------------------------------------------------------------------------------

uint32_t HappensBefore::clockOf(const Warp &warp) const {
  return threads[flatIndex(warp)].view.now.of(index, agentOf(warp, Agent::Warp));
}

const Snapshot &HappensBefore::snapshotOf(const Thread &thread) const {
  if (!thread.snapshot)
    thread.snapshot = std::make_shared<View>(thread.view);
  return thread.snapshot;
}

void HappensBefore::advance(Warp &warp) {
  Thread &thread = threadOf(warp);
  thread.view.now.raise(index, agentOf(warp, Agent::Warp), clockOf(warp) + 1);
  thread.snapshot = nullptr;
  thread.hasIssued = false;
}

void HappensBefore::join(Warp &warp, const View &view) {
  Thread &thread = threadOf(warp);
  thread.view.join(view);
  thread.snapshot = nullptr;
}

Actor HappensBefore::actorOf(Warp &warp, const MemoryAccess &access) {
  Thread &thread = threadOf(warp);
  if (access.stage == Stage::Issue) {
    const bool isRead = current.kind == AsyncKind::BulkStore && !access.writes;
    return {isRead ? agentOf(warp, Agent::BulkRead) : current.thread, current.clock, nullptr, &thread.view};
  }
  if (thread.hasIssued)
    advance(warp);
  return {agentOf(warp, Agent::Warp), clockOf(warp), &thread.convergedAt, &thread.view};
}

//--- events --------------------------------------------------------------------------------

void HappensBefore::onSync(Warp &warp, const SyncEvent &event) {
  Thread &thread = threadOf(warp);
  switch (event.kind) {
  case SyncKind::BarrierArrive:
    if (event.isRelaxed) // what fence.mbarrier_init has ordered needs no release
      barriers[event.object].open.inits.join(thread.view.inits);
    else
      barriers[event.object].open.join(thread.view);
    return advance(warp);
  case SyncKind::BarrierComplete: {
    Barrier &barrier = barriers[event.object];
    barrier.done = std::move(barrier.open);
    barrier.open = {};
    return;
  }
  case SyncKind::BarrierLeave:
    join(warp, barriers[event.object].done);
    [[fallthrough]];
  case SyncKind::WarpSync:
    advance(warp);
    thread.convergedAt.fill(clockOf(warp));
    return;
  case SyncKind::Fence:
    return onFence(warp, event.scope);
  case SyncKind::ProxyFence:
    return onProxyFence(warp, event);
  case SyncKind::MbarrierInit:
  case SyncKind::MbarrierArrive:
  case SyncKind::MbarrierPhase:
  case SyncKind::MbarrierWait:
    return onMbarrier(warp, event);
  case SyncKind::AsyncIssue:
    return onIssue(warp, event);
  case SyncKind::AsyncCommit:
  case SyncKind::AsyncWait:
    return onWait(warp, event);
  case SyncKind::Collective:
  case SyncKind::MbarrierInval:
  case SyncKind::MbarrierExpect:
  case SyncKind::MbarrierBytes:
  case SyncKind::MbarrierTest:
  case SyncKind::RegisterFence:
    return;
  }
}

void HappensBefore::onFence(Warp &warp, Scope scope) {
  Thread &thread = threadOf(warp);
  for (unsigned level = 0; level <= levelOf(scope); ++level)
    if (thread.observed[level]) {
      join(warp, *thread.observed[level]);
      thread.observed[level] = nullptr;
    }
  for (unsigned level = 0; level <= levelOf(scope); ++level)
    thread.fenced[level] = snapshotOf(thread);
  advance(warp);
}

void HappensBefore::onProxyFence(Warp &warp, const SyncEvent &event) {
  Thread &thread = threadOf(warp);
  View &view = thread.view;
  const ProxyFence fence = event.proxy;
  GridTable::Lanes lanes{index, agentOf(warp, Agent::Warp), event.lanes};
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (event.lanes >> lane & 1)
      lanes.others = std::max(lanes.others, thread.convergedAt[lane] - 1);
  const auto add = [&](Clock &clock) { grids.addLanes(clock, view.now, lanes); };
  if (fence == ProxyFence::Async || fence == ProxyFence::AsyncShared || fence == ProxyFence::MbarrierInit)
    add(view.shared);
  if (fence == ProxyFence::Async || fence == ProxyFence::AsyncGlobal)
    add(view.global);
  if (fence == ProxyFence::MbarrierInit)
    add(view.inits);
  if (fence == ProxyFence::TensorMapAcquire)
    add(view.maps);
  advance(warp);
}

//--- mbarriers -----------------------------------------------------------------------------

/// Lanes have waited for an arrival of their own warp, which covers what it had done at that clock.
void HappensBefore::orderLanes(Warp &warp, uint32_t lanes, uint32_t clock) {
  LaneClocks &convergedAt = threadOf(warp).convergedAt;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (lanes >> lane & 1)
      convergedAt[lane] = std::max(convergedAt[lane], clock + 1);
}

HappensBefore::Mbarrier &HappensBefore::mbarrierAt(const void *address) {
  auto [found, isNew] = mbarriers.try_emplace(address);
  if (isNew)
    found->second.thread = uint16_t(threads.size() * kAgents + mbarriers.size() - 1);
  return found->second;
}

void HappensBefore::onMbarrier(Warp &warp, const SyncEvent &event) {
  Mbarrier &barrier = mbarrierAt(event.object);
  if (event.kind == SyncKind::MbarrierWait) {
    if (!event.isRelaxed) {
      join(warp, barrier.done);
      orderLanes(warp, event.lanes, barrier.done.now.of(index, agentOf(warp, Agent::Warp)));
    }
    return;
  }
  if (event.kind == SyncKind::MbarrierArrive) {
    if (auto found = arrivals.find(event.operation); event.operation && found != arrivals.end()) {
      barrier.open.join(found->second);
      arrivals.erase(found);
      return;
    }
    if (!event.isRelaxed)
      barrier.open.join(threadOf(warp).view);
    return advance(warp);
  }
  // A phase ends, or all before the initialisation is over.
  ++barrier.phase;
  barrier.done = event.kind == SyncKind::MbarrierInit ? View() : std::move(barrier.open);
  barrier.done.now.raise(index, barrier.thread, barrier.phase);
  barrier.open = {};
}

//--- asynchronous operations ---------------------------------------------------------------

void HappensBefore::onIssue(Warp &warp, const SyncEvent &event) {
  Thread &thread = threadOf(warp);
  thread.hasIssued = true;
  if (event.async == AsyncKind::Signalling) {
    const Mbarrier &barrier = mbarrierAt(event.object);
    current = {event.async, barrier.thread, barrier.phase + 1};
    return;
  }
  if (event.async == AsyncKind::CopyArrival) { // brings the copies of the lane so far
    View &view = arrivals.try_emplace(event.operation, thread.view).first->second;
    if (const std::vector<Group> &groups = thread.groups[static_cast<unsigned>(AsyncKind::Copy)]; !groups.empty())
      view.now.raise(index, agentOf(warp, Agent::Copy), groups[unsigned(std::countr_zero(event.lanes))].issued);
    return;
  }
  const unsigned kind = static_cast<unsigned>(event.async);
  current = {event.async, agentOf(warp, agentOfKind(event.async)), ++thread.issued[kind]};
  thread.groups[kind].resize(kLanes);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (event.lanes >> lane & 1)
      thread.groups[kind][lane].issued = current.clock;
}

void HappensBefore::onWait(Warp &warp, const SyncEvent &event) {
  Thread &thread = threadOf(warp);
  const unsigned kind = static_cast<unsigned>(event.async);
  thread.groups[kind].resize(kLanes);
  uint32_t done = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(event.lanes >> lane & 1))
      continue;
    Group &group = thread.groups[kind][lane];
    if (event.kind == SyncKind::AsyncCommit) {
      group.committed.push_back(group.issued);
      continue;
    }
    if (event.isAll)
      done = std::max(done, group.issued);
    // A wait for reads leaves the groups to a wait for writes.
    if (const size_t count = group.committed.size(); count > event.count)
      done = std::max(done, group.committed[count - event.count - 1]);
    while (!event.isRead && group.committed.size() > event.count + 1)
      group.committed.pop_front();
  }
  if (event.kind == SyncKind::AsyncCommit || !done)
    return;
  const bool isBulk = event.async == AsyncKind::BulkStore;
  if (isBulk)
    thread.view.now.raise(index, agentOf(warp, Agent::BulkRead), done);
  if (!event.isRead)
    thread.view.now.raise(index, agentOf(warp, agentOfKind(event.async)), done);
  thread.snapshot = nullptr;
}

//--- atomics and ordered accesses ----------------------------------------------------------

void HappensBefore::acquire(Warp &warp, const SyncWord &word, const MemoryAccess &access) {
  Thread &thread = threadOf(warp);
  const unsigned level = levelOf(access.scope == Scope::None ? Scope::Gpu : access.scope);
  const bool isNow = access.order == Order::Acquire || access.order == Order::AcqRel;
  const auto take = [&](const Snapshot &seen, unsigned at) {
    if (seen && isNow)
      join(warp, *seen);
    else if (seen)
      thread.observed[at] = joined(thread.observed[at], seen);
  };
  const uint32_t rank = warp.cta->rank;
  if (word.cluster == index && rank < word.ofCta.size())
    take(word.ofCta[rank], 0);
  if (word.cluster == index && level >= 1)
    take(word.ofCluster, 1);
  if (word.device == cluster.launch->device && level >= 2)
    take(word.ofGpu, 2);
  if (level >= 3)
    take(word.system, 3);
}

void HappensBefore::publish(Warp &warp, SyncWord &word, const MemoryAccess &access) {
  const Thread &thread = threadOf(warp);
  const unsigned top = levelOf(access.scope == Scope::None ? Scope::Gpu : access.scope);
  const bool isRelease = access.order == Order::Release || access.order == Order::AcqRel;
  const uint32_t rank = warp.cta->rank;
  if (word.cluster != index)
    word.ofCta.clear(), word.ofCluster = nullptr, word.cluster = index;
  if (word.device != cluster.launch->device)
    word.ofGpu = nullptr, word.device = cluster.launch->device;
  word.ofCta.resize(std::max<size_t>(word.ofCta.size(), rank + 1));
  Snapshot *levels[kLevels] = {&word.ofCta[rank], &word.ofCluster, &word.ofGpu, &word.system};
  for (unsigned level = 0; level < kLevels; ++level) {
    const Snapshot snapshot = level > top ? nullptr : isRelease ? snapshotOf(thread) : thread.fenced[level];
    // A plain store ends the release sequence, a read-modify-write continues it.
    *levels[level] = access.isAtomic ? joined(*levels[level], snapshot) : snapshot;
  }
}

void HappensBefore::onAccess(Warp &warp, const MemoryAccess &access) {
  if (access.stage != Stage::Whole || (!access.isAtomic && access.order == Order::Weak))
    return;
  const Thread &thread = threadOf(warp);
  const bool isRelease = access.order == Order::Release || access.order == Order::AcqRel;
  const bool publishes = access.writes && (isRelease || !access.isAtomic || thread.fenced[0]);
  SyncWords &words = access.space == Space::Shared ? shared : global;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(access.lanes >> lane & 1) || isMbarrier(access.host[lane]))
      continue;
    auto found = words.find(access.host[lane]);
    if (access.reads && found != words.end())
      acquire(warp, found->second, access);
  }
  for (unsigned lane = 0; publishes && lane < kLanes; ++lane)
    if (access.lanes >> lane & 1 && !isMbarrier(access.host[lane]))
      publish(warp, words[access.host[lane]], access);
  if (publishes)
    advance(warp);
}
