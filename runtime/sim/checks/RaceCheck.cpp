// Compares each access with those before it to the same bytes.
// SPDX-License-Identifier: MIT
#include "runtime/sim/checks/RaceCheck.h"

#include "runtime/sim/checks/Checks.h"

#include <bit>
#include <cstring>

using namespace nereid::sim;

namespace {
/// Reads of a word of global memory by more clusters than that are not all kept.
constexpr size_t kMaxGlobalTouches = 6;
} // namespace

/// One access while its words are visited.
struct RaceCheck::Visit {
  Warp &warp;
  const MemoryAccess &access;
  const Actor actor;
  uint64_t address = 0; ///< of the current word, as the program has it
  uint64_t word = 0;    ///< of the host
};

RaceCheck::RaceCheck(Cluster &cluster, std::shared_ptr<GridAccesses> grid, bool races, bool fences)
    : cluster(cluster), grid(std::move(grid)), races(races), fences(fences),
      order(cluster, this->grid->words, this->grid->grids) {}

void RaceCheck::onSync(Warp &warp, const SyncEvent &event) {
  order.onSync(warp, event);
  if (event.kind != SyncKind::AsyncIssue || event.async != AsyncKind::Signalling)
    return;
  // The async proxy will update the mbarrier.
  auto *host = static_cast<char *>(const_cast<void *>(event.object));
  char *const hosts[] = {host};
  const uint64_t addresses[] = {uint64_t(host - warp.cta->shared)};
  MemoryAccess access;
  access.instruction = event.instruction;
  access.space = Space::Shared;
  access.lanes = 1;
  access.bytes = 8;
  access.addresses = addresses;
  access.host = hosts;
  access.reads = access.writes = access.isAtomic = true;
  access.proxy = Proxy::Async;
  access.stage = Stage::Issue;
  access.issuer = std::countr_zero(event.lanes);
  onAccess(warp, access);
}

bool RaceCheck::onAccess(Warp &warp, const MemoryAccess &access) {
  if ((access.space != Space::Global && access.space != Space::Shared) || access.stage == Stage::Effect)
    return true;
  Visit visit{warp, access, order.actorOf(warp, access)};
  Shadow &shadow = access.space == Space::Shared ? shared : grid->shadow;
  Touch touch;
  touch.cluster = order.clusterIndex();
  touch.clock = visit.actor.clock;
  touch.thread = visit.actor.thread;
  touch.instruction = uint32_t(access.instruction - cluster.code->instructions.data());
  touch.isWrite = access.writes;
  touch.isAtomic = access.isAtomic;
  touch.isStrong = access.isAtomic || access.order != Order::Weak;
  // `.cta` is the default of mbarrier operations, also of those on mbarriers of other CTAs.
  const bool isOfMbarrier =
      touch.isStrong && access.space == Space::Shared && order.isMbarrier(access.host[std::countr_zero(access.lanes)]);
  touch.scope =
      static_cast<uint8_t>(touch.isStrong && (access.scope == Scope::None || isOfMbarrier) ? Scope::Gpu : access.scope);
  touch.isAsync = access.proxy == Proxy::Async;
  if (access.space == Space::Shared && cluster.ctas.size() > 1)
    noteRemote(warp, access, visit.actor);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(access.lanes >> lane & 1))
      continue;
    touch.lane = uint8_t(access.issuer >= 0 ? unsigned(access.issuer) : lane);
    const auto begin = reinterpret_cast<uint64_t>(access.host[lane]), end = begin + access.bytes;
    for (uint64_t word = begin & ~uint64_t{3}; word < end; word += 4) {
      const uint64_t low = std::max(word, begin) - word, high = std::min(word + 4, end) - word;
      touch.bytes = uint8_t((1u << high) - (1u << low));
      visit.word = word;
      visit.address = access.addresses[lane] + (word + low - begin);
      if (!visitWord(visit, shadow.at(word), touch))
        return false;
    }
  }
  order.onAccess(warp, access);
  return true;
}

bool RaceCheck::visitWord(const Visit &visit, Cell &cell, const Touch &touch) {
  bool isOver = false, isKept = false;
  cell.sift([&](const Touch &before) {
    if (isOver || !(before.bytes & touch.bytes))
      return false;
    const bool conflict = before.isWrite || touch.isWrite, isInit = isFencedInit(visit, before),
               inOrder = isInit || isInOrder(visit, before, touch);
    if (conflict && !inOrder && !(before.isStrong && touch.isStrong && includeEachOther(before, touch)))
      isOver = !reportRace(visit, before, touch);
    else if (inOrder && !isInit && visit.access.proxy != Proxy::Generic && before.isWrite && !before.isAsync &&
             !before.isStrong && !grid->grids.of(before.cluster).isCopy(before.thread) && isHidden(visit, before))
      isOver = !reportFence(visit, before, touch);
    if (isOver)
      return false;
    const bool isSame = before.thread == touch.thread && before.clock == touch.clock &&
                        before.cluster == touch.cluster && before.lane == touch.lane;
    // What races with a write also races with the read after it by the same thread.
    isKept |= isSame && before.isWrite && !touch.isWrite && !before.isStrong && !(touch.bytes & ~before.bytes);
    // Operations of one thread end in order: what comes after the last of them comes after all.
    const bool isEarlier = before.thread == touch.thread && before.cluster == touch.cluster && !before.isWrite &&
                           !touch.isWrite && before.lane == touch.lane;
    // A strong access does not stand for a weak one: others may race with that alone.
    return (inOrder || isEarlier) && touch.isStrong <= before.isStrong && (touch.isWrite || !before.isWrite) &&
           !(before.bytes & ~touch.bytes);
  });
  if (isOver)
    return false;
  if (!isKept && (visit.access.space == Space::Shared || touch.isWrite || cell.size() < kMaxGlobalTouches))
    cell.add(touch);
  return true;
}

/// Whether `before` happens before the access. Lanes of a warp exchange data in shared memory by barriers only; of
/// global memory they often hold copies of one element, which one of them stores.
bool RaceCheck::isInOrder(const Visit &visit, const Touch &before, const Touch &touch) const {
  const Actor &actor = visit.actor;
  if (before.cluster == touch.cluster && before.thread == touch.thread && !touch.isAsync && actor.convergedAt)
    return before.lane == touch.lane || before.clock < (*actor.convergedAt)[touch.lane] ||
           (before.instruction == touch.instruction ? !writeDifferently(visit, before, touch)
                                                    : visit.access.space == Space::Global);
  return order.covers(actor.view->now, before.cluster, before.thread, before.clock);
}

/// Whether two lanes store different values to the same bytes.
bool RaceCheck::writeDifferently(const Visit &visit, const Touch &before, const Touch &touch) const {
  const MemoryAccess &access = visit.access;
  if (access.elements.empty() || !(access.lanes >> before.lane & 1))
    return false;
  const uint32_t bytes = access.bytes / uint32_t(access.elements.size());
  const auto byteOf = [&](unsigned lane, uint64_t offset) {
    return visit.warp.file[access.elements[offset / bytes] + lane * access.slotBytes + offset % bytes];
  };
  for (unsigned byte = 0; byte < 4; ++byte) {
    const uint64_t at = visit.word + byte, other = at - reinterpret_cast<uint64_t>(access.host[before.lane]);
    if (touch.bytes >> byte & 1 && other < access.bytes &&
        byteOf(before.lane, other) != byteOf(touch.lane, at - reinterpret_cast<uint64_t>(access.host[touch.lane])))
      return true;
  }
  return false;
}

bool RaceCheck::includeEachOther(const Touch &before, const Touch &touch) const {
  const auto narrower = static_cast<Scope>(std::min<uint8_t>(before.scope, touch.scope));
  const GridRecord &own = grid->grids.of(touch.cluster);
  if (narrower >= Scope::Gpu)
    return narrower == Scope::Sys || grid->grids.of(before.cluster).device == own.device;
  if (before.cluster != touch.cluster)
    return false;
  return narrower == Scope::Cluster || own.rankOf(before.thread) == own.rankOf(touch.thread);
}

/// Whether the proxy of the access does not see a write that happened before.
bool RaceCheck::isHidden(const Visit &visit, const Touch &before) const {
  const View &view = *visit.actor.view;
  const Clock &seen = visit.access.proxy == Proxy::TensorMap ? view.maps
                      : visit.access.space == Space::Shared  ? view.shared
                                                             : view.global;
  return !order.coversLane(seen, before.cluster, before.thread, before.lane, before.clock);
}

/// Whether `before` initialises an mbarrier, and fence.mbarrier_init has ordered that before the access.
bool RaceCheck::isFencedInit(const Visit &visit, const Touch &before) const {
  constexpr uint64_t kMbarrierBytes = 8;
  return before.isWrite && !before.isStrong && visit.access.space == Space::Shared &&
         order.isMbarrier(reinterpret_cast<const char *>(visit.word & ~(kMbarrierBytes - 1))) &&
         order.coversLane(visit.actor.view->inits, before.cluster, before.thread, before.lane, before.clock);
}

//--- shared memory of other CTAs -----------------------------------------------------------

void RaceCheck::noteRemote(Warp &warp, const MemoryAccess &access, const Actor &actor) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(access.lanes >> lane & 1) ||
        (access.host[lane] >= warp.cta->shared && access.host[lane] < warp.cta->shared + warp.cta->sharedBytes))
      continue;
    for (const Cta &cta : cluster.ctas)
      if (access.host[lane] >= cta.shared && access.host[lane] < cta.shared + cta.sharedBytes)
        remote[{cta.rank, actor.thread}] = {&warp, access.instruction, actor.clock, access.threadOf(lane)};
  }
}

/// A CTA's shared memory ends with it: its threads must have seen that the others are done with it.
void RaceCheck::onEnd(Cluster &) {
  order.onEnd();
  for (const auto &[key, access] : remote)
    if (fences && !cluster.error && !order.isSeenAtEnd(key.first, key.second, access.clock))
      fail(*access.warp, *access.instruction, "sanitize-sync",
           "this accesses the shared memory of CTA " + std::to_string(key.first) +
               " of the cluster, which may have ended: nothing lets it wait for the access",
           int(access.lane));
}

//--- reports -------------------------------------------------------------------------------

static const char *kindOf(const Touch &touch) {
  return touch.isAtomic ? "atomic update" : touch.isWrite ? "write" : "read";
}

Note RaceCheck::describe(const Touch &touch) const {
  const GridRecord &launch = grid->grids.of(touch.cluster);
  const Instruction &instruction = launch.code->instructions[touch.instruction];
  std::string text =
      std::string("the ") + kindOf(touch) + " by " + nameOf(touch) + ", lane " + std::to_string(unsigned(touch.lane));
  if (touch.cluster != order.clusterIndex())
    text += ", of cluster " + std::to_string(touch.cluster - launch.firstCluster);
  if (cluster.launch->hasPeers)
    text += " of `" + launch.code->name + "` on device " + std::to_string(launch.device);
  return {&instruction, text + " (line " + std::to_string(instruction.line) + " of the PTX)", launch.code};
}

std::string RaceCheck::memoryOf(Space space, uint64_t address) const {
  if (space == Space::Shared)
    return "shared memory at byte " + std::to_string(address & 0xffffff);
  return globalPlaceText(*cluster.launch, address);
}

bool RaceCheck::reportRace(const Visit &visit, const Touch &before, const Touch &touch) {
  if (!races)
    return true;
  const bool areStrong = before.isStrong && touch.isStrong;
  const bool canCompare = visit.access.stage == Stage::Whole && !touch.isAtomic && !before.isAtomic;
  if (before.isWrite && touch.isWrite && canCompare && !writeDifferently(visit, before, touch)) {
    Rewrite rewrite{reinterpret_cast<const char *>(visit.word), {}, before, touch, visit.access.space, visit.address};
    std::memcpy(rewrite.old, rewrite.word, 4);
    rewrites.push_back(rewrite);
    return true;
  }
  fail(visit.warp, *visit.access.instruction, "sanitize-race",
       std::string("race in ") + memoryOf(visit.access.space, visit.address) + ": this " + kindOf(touch) + " by " +
           nameOf(touch) +
           (areStrong ? " and another access have scopes that do not include each other"
                      : " and another access are in no order"),
       touch.lane, {describe(before)});
  return false;
}

void RaceCheck::onIssue(Warp &warp, const Instruction &instruction) {
  for (const Rewrite &rewrite : rewrites)
    for (unsigned byte = 0; byte < 4; ++byte)
      if (rewrite.touch.bytes & rewrite.before.bytes & 1u << byte && rewrite.old[byte] != rewrite.word[byte])
        fail(warp, instruction, "sanitize-race",
             "race in " + memoryOf(rewrite.space, rewrite.address) + ": this write by " + nameOf(rewrite.touch) +
                 " and another of a different value are in no order",
             rewrite.touch.lane, {describe(rewrite.before)});
  rewrites.clear();
}

bool RaceCheck::reportFence(const Visit &visit, const Touch &before, const Touch &touch) {
  if (!fences)
    return true;
  const bool isMap = visit.access.proxy == Proxy::TensorMap;
  fail(visit.warp, *visit.access.instruction, "sanitize-sync",
       (isMap ? "a tensor map is read from " : "the async proxy accesses ") +
           memoryOf(visit.access.space, visit.address) + ", which was written without a `fence.proxy." +
           (isMap ? "tensormap::generic.acquire" : "async") + "` after it",
       touch.lane, {describe(before)});
  return false;
}

std::shared_ptr<GridAccesses> nereid::sim::makeGridAccesses() { return std::make_shared<GridAccesses>(); }

std::shared_ptr<Observer> nereid::sim::makeRaceCheck(Cluster &cluster, std::shared_ptr<GridAccesses> grid, bool races,
                                                     bool fences) {
  return std::make_shared<RaceCheck>(cluster, std::move(grid), races, fences);
}
