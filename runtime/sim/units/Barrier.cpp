// Barriers of warps, CTAs and clusters.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/Barrier.h"

#include "runtime/sim/machine/Async.h"
#include "runtime/sim/machine/Report.h"
#include "runtime/sim/units/Opcodes.h"

#include <algorithm>

using namespace nereid::sim;

namespace {
enum class BarrierKind : uint8_t { Sync, Arrive, And, Or, Popc };
struct BarrierRoles {
  BarrierKind kind = BarrierKind::Sync;
  bool hasCount = false, isAligned = false;
};
struct ClusterArrivalRoles {
  bool isRelaxed;
};
} // namespace

uint32_t nereid::sim::liveThreads(const Cta &cta) {
  uint32_t count = 0;
  for (const Warp &warp : cta.warps)
    count += unsigned(std::popcount(~warp.exited));
  return count;
}

bool nereid::sim::meetAtBarrier(Warp &warp, NamedBarrier &barrier, SyncEvent event, bool waits, uint32_t arrivals) {
  Split &split = warp.split();
  if (!split.hasArrived) {
    event.kind = SyncKind::BarrierArrive;
    tell(warp, event);
    barrier.arrived += arrivals;
    split.ticket = barrier.phase;
    split.hasArrived = true;
  }
  if (barrier.phase == split.ticket && barrier.arrived >= event.count) {
    event.kind = SyncKind::BarrierComplete;
    tell(warp, event);
    ++barrier.phase;
    barrier.arrived = 0;
    barrier.votes = barrier.open;
    barrier.open = 0;
  }
  if (waits && barrier.phase == split.ticket)
    return false;
  split.hasArrived = false;
  event.kind = SyncKind::BarrierLeave;
  if (waits)
    tell(warp, event);
  return true;
}

/// slots: barrier, threads, predicate, result.
static Step atBarrier(Warp &warp, const Instruction &instruction) {
  const unsigned first = unsigned(std::countr_zero(warp.mask));
  const uint32_t index = warp.at<uint32_t>(instruction.slots[0])[first];
  if (index >= 16)
    return fail(warp, instruction, "sim-fault", "a CTA has 16 barriers, there is none " + std::to_string(index));
  const auto [kind, hasCount, isAligned] = instruction.roles<BarrierRoles>();
  NamedBarrier &barrier = warp.cta->barriers[index];
  const bool votes = kind == BarrierKind::And || kind == BarrierKind::Or || kind == BarrierKind::Popc;
  const uint32_t expected = hasCount ? warp.at<uint32_t>(instruction.slots[1])[first] : liveThreads(*warp.cta);
  if (votes && !warp.split().hasArrived) {
    const uint32_t predicate = warp.predicate(instruction.slots[2]);
    barrier.open += unsigned(std::popcount(predicate & warp.mask));
  }
  SyncEvent event{SyncKind::BarrierArrive, &instruction, warp.mask, &barrier, expected};
  event.isAligned = isAligned;
  event.isCounted = hasCount;
  if (!meetAtBarrier(warp, barrier, event, kind != BarrierKind::Arrive, unsigned(std::popcount(warp.mask))))
    return Step::Wait;
  if (kind == BarrierKind::And || kind == BarrierKind::Or)
    writePredicate(warp, instruction.slots[3],
                   (kind == BarrierKind::And ? barrier.votes == expected : barrier.votes != 0) ? kAllLanes : 0);
  if (kind == BarrierKind::Popc) {
    uint32_t values[kLanes];
    std::fill_n(values, kLanes, barrier.votes);
    writeLanes(warp, instruction.slots[3], values);
  }
  return Step::Next;
}

/// bar.warp.sync: the named lanes meet.
static Step atWarpBarrier(Warp &warp, const Instruction &instruction) {
  const unsigned first = unsigned(std::countr_zero(warp.mask));
  const uint32_t members = warp.at<uint32_t>(instruction.slots[0])[first];
  if (!hasConverged(warp, members))
    return Step::Wait;
  tell(warp, {SyncKind::WarpSync, &instruction, warp.mask, nullptr, members});
  return Step::Next;
}

static uint32_t liveThreads(const Cluster &cluster) {
  uint32_t count = 0;
  for (const Cta &cta : cluster.ctas)
    count += liveThreads(cta);
  return count;
}

static Step arriveAtCluster(Warp &warp, const Instruction &instruction) {
  Cluster &cluster = *warp.cta->cluster;
  SyncEvent event{SyncKind::BarrierArrive, &instruction, warp.mask, &cluster.barrier, liveThreads(cluster)};
  event.isRelaxed = instruction.roles<ClusterArrivalRoles>().isRelaxed;
  tell(warp, event);
  cluster.barrier.arrived += unsigned(std::popcount(warp.mask));
  warp.clusterPhase = cluster.barrier.phase;
  return Step::Next;
}

static Step waitForCluster(Warp &warp, const Instruction &instruction) {
  Cluster &cluster = *warp.cta->cluster;
  SyncEvent event{SyncKind::BarrierComplete, &instruction, warp.mask, &cluster.barrier, liveThreads(cluster)};
  if (cluster.barrier.phase == warp.clusterPhase && cluster.barrier.arrived >= event.count) {
    tell(warp, event);
    ++cluster.barrier.phase;
    cluster.barrier.arrived = 0;
  }
  if (cluster.barrier.phase == warp.clusterPhase)
    return Step::Wait;
  event.kind = SyncKind::BarrierLeave;
  tell(warp, event);
  return Step::Next;
}

static std::string comeText(const std::string &barrier, uint32_t arrived, uint32_t expected) {
  return "[" + std::to_string(arrived) + " of " + std::to_string(expected) + " threads have come to " + barrier + "]";
}

std::string nereid::sim::missingAtBarrier(const Warp &warp, uint32_t lanes, const Instruction &instruction) {
  const Cluster &cluster = *warp.cta->cluster;
  if (instruction.execute == &waitForCluster)
    return comeText("the cluster's barrier", cluster.barrier.arrived, ::liveThreads(cluster));
  if (instruction.execute != &atBarrier || !lanes)
    return "";
  const auto first = unsigned(std::countr_zero(lanes));
  const uint32_t index = warp.at<uint32_t>(instruction.slots[0])[first];
  if (index >= std::size(warp.cta->barriers))
    return "";
  return comeText("barrier " + std::to_string(index), warp.cta->barriers[index].arrived,
                  instruction.roles<BarrierRoles>().hasCount ? warp.at<uint32_t>(instruction.slots[1])[first]
                                                             : liveThreads(*warp.cta));
}

//--- decoding ------------------------------------------------------------------------------

static void decodeClusterBarrier(Decoder &decoder) {
  const bool isArrive = decoder.take("arrive"), isWait = decoder.take("wait");
  decoder.take("cluster"), decoder.take("aligned"), decoder.take("release"), decoder.take("acquire");
  const bool isRelaxed = decoder.take("relaxed");
  if (isArrive == isWait)
    return decoder.fail("this form is not known");
  decoder.emit(isArrive ? &arriveAtCluster : &waitForCluster).setRoles(ClusterArrivalRoles{isRelaxed});
}

static void decodeReduction(Decoder &decoder, BarrierRoles roles) {
  Instruction instruction;
  instruction.execute = &atBarrier;
  const std::string op = decoder.takeOf({"and", "or", "popc"});
  decoder.takeType();
  const size_t last = decoder.operands().size() - 1;
  roles.kind = op == "and" ? BarrierKind::And : op == "or" ? BarrierKind::Or : BarrierKind::Popc;
  roles.hasCount = last == 3;
  instruction.setRoles(roles);
  instruction.slots[0] = decoder.source(decoder.operand(1), 4);
  if (last == 3)
    instruction.slots[1] = decoder.source(decoder.operand(2), 4);
  instruction.slots[2] = decoder.source(decoder.operand(last), 0);
  instruction.slots[3] = decoder.destination(decoder.operand(0), op == "popc" ? 4 : 0);
  decoder.add(std::move(instruction));
}

static void decodeBarrier(Decoder &decoder) {
  if (decoder.has("cluster"))
    return decodeClusterBarrier(decoder);
  decoder.take("cta");
  Instruction instruction;
  BarrierRoles roles;
  roles.isAligned = decoder.take("aligned") || decoder.opcode() == "bar";
  if (decoder.take("warp")) {
    decoder.take("sync");
    instruction.slots[0] = decoder.source(decoder.operand(0), 4);
    instruction.execute = &atWarpBarrier;
    return void(decoder.add(std::move(instruction)));
  }
  if (decoder.take("red"))
    return decodeReduction(decoder, roles);
  const bool isArrive = decoder.take("arrive");
  decoder.take("sync");
  roles.kind = isArrive ? BarrierKind::Arrive : BarrierKind::Sync;
  roles.hasCount = decoder.operands().size() > 1;
  instruction.setRoles(roles);
  instruction.execute = &atBarrier;
  instruction.slots[0] = decoder.source(decoder.operand(0), 4);
  if (roles.hasCount)
    instruction.slots[1] = decoder.source(decoder.operand(1), 4);
  decoder.add(std::move(instruction));
}

void nereid::sim::addBarrierOpcodes(OpcodeTable &table) { table.add("bar barrier", decodeBarrier, Kind::Barrier); }
