// Gives the clusters of a grid their registers, memory and observers; checks a launch.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Prepare.h"

#include "runtime/sim/machine/Observer.h"

#include <algorithm>

using namespace nereid::sim;

static constexpr uint32_t kMaxSharedBytes = 232448, kMaxThreads = 1024, kDefaultResident = 1024;

static Dim ceilDiv(Dim a, Dim b) { return {(a.x + b.x - 1) / b.x, (a.y + b.y - 1) / b.y, (a.z + b.z - 1) / b.z}; }
static Dim position(uint64_t index, Dim extent) {
  return {uint32_t(index % extent.x), uint32_t(index / extent.x % extent.y), uint32_t(index / extent.x / extent.y)};
}

Dim nereid::sim::clustersOf(const Launch &launch) { return ceilDiv(launch.grid, launch.cluster); }

uint64_t nereid::sim::residentClusters(const Launch &launch) {
  const uint64_t ctas = launch.residentCtas ? launch.residentCtas : kDefaultResident;
  return std::max<uint64_t>(ctas / std::max<uint64_t>(launch.cluster.count(), 1), 1);
}

//--- clusters -----------------------------------------------------------------------------------

static SpecialWords specialsOf(const Launch &launch, const Code &code, const Cta &cta, const Warp &warp,
                               unsigned lane) {
  const Dim &cluster = launch.cluster, &id = cta.id;
  SpecialValues values;
  values.tid = position(uint64_t{warp.index} * kLanes + lane, launch.block), values.ntid = launch.block;
  values.ctaid = id, values.nctaid = launch.grid;
  values.clusterid = {id.x / cluster.x, id.y / cluster.y, id.z / cluster.z};
  values.nclusterid = ceilDiv(launch.grid, cluster);
  values.clusterCtaid = {id.x % cluster.x, id.y % cluster.y, id.z % cluster.z}, values.clusterNctaid = cluster;
  values.laneid = lane, values.warpid = warp.index;
  values.nwarpid = uint32_t((launch.block.count() + kLanes - 1) / kLanes);
  values.lanemaskEq = 1u << lane;
  values.lanemaskLt = values.lanemaskEq - 1, values.lanemaskGe = ~values.lanemaskLt;
  values.lanemaskLe = values.lanemaskLt | values.lanemaskEq, values.lanemaskGt = ~values.lanemaskLe;
  values.clusterCtarank = cta.rank, values.clusterNctarank = uint32_t(cluster.count());
  values.dynamicSmemSize = launch.sharedBytes;
  values.totalSmemSize = launch.sharedBytes + code.staticSharedBytes;
  values.isExplicitCluster = cluster.count() > 1 ? ~0u : 0u;
  return std::bit_cast<SpecialWords>(values);
}

static void prepareWarp(Warp &warp, const Cta &cta, const Code &code, const Launch &launch) {
  warp.storage.assign(code.fileBytes / 8 + 16, 0);
  warp.file = reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(warp.storage.data()) + 63) / 64 * 64);
  warp.local.assign(size_t{code.localBytes} * kLanes, 0);
  for (const Constant &constant : code.constants)
    if (constant.bytes == 0)
      *warp.at<uint32_t>(constant.slot) = constant.value ? kAllLanes : 0;
    else if (constant.bytes == 4)
      std::fill_n(warp.at<uint32_t>(constant.slot), kLanes, uint32_t(constant.value));
    else if (constant.bytes == 8)
      std::fill_n(warp.at<uint64_t>(constant.slot), kLanes, constant.value);
    else
      std::fill_n(warp.at<Bits128>(constant.slot), kLanes, Bits128{constant.value, 0});
  uint32_t live = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint64_t thread = warp.index * kLanes + lane;
    live |= uint32_t{thread < launch.block.count()} << lane;
    const SpecialWords words = specialsOf(launch, code, cta, warp, lane);
    for (auto [slot, special] : code.specials)
      warp.at<uint32_t>(slot)[special == kIsExplicitCluster ? 0 : lane] = words[special];
  }
  warp.exited = ~live;
  warp.splits = {Split{live, 0}};
}

void nereid::sim::prepareCluster(Cluster &cluster, const Code &code, const Launch &launch, uint64_t index) {
  const Dim at = position(index, clustersOf(launch));
  cluster.code = &code;
  cluster.launch = &launch;
  cluster.random = launch.seed * 0x9e3779b97f4a7c15 + index;
  cluster.ctas.resize(launch.cluster.count());
  cluster.threadsLeft = uint32_t(launch.block.count() * cluster.ctas.size());
  for (uint32_t rank = 0; rank < cluster.ctas.size(); ++rank) {
    Cta &cta = cluster.ctas[rank];
    const Dim inner = position(rank, launch.cluster);
    cta.cluster = &cluster;
    cta.rank = rank;
    cta.id = {at.x * launch.cluster.x + inner.x, at.y * launch.cluster.y + inner.y, at.z * launch.cluster.z + inner.z};
    cta.sharedBytes = code.staticSharedBytes + launch.sharedBytes;
    cta.sharedStorage.assign((cta.sharedBytes + 1024) / 8 + 2, 0);
    cta.shared = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(cta.sharedStorage.data()) + 1023) / 1024 * 1024);
    cta.warps.resize((launch.block.count() + kLanes - 1) / kLanes);
    for (uint32_t warp = 0; warp < cta.warps.size(); ++warp) {
      cta.warps[warp].cta = &cta;
      cta.warps[warp].index = warp;
      prepareWarp(cta.warps[warp], cta, code, launch);
    }
  }
  for (const MakeObserver &make : launch.observers)
    if (std::shared_ptr<Observer> observer = make(cluster))
      cluster.observers.push_back(std::move(observer));
  cluster.isObserved = !cluster.observers.empty();
}

//--- launches -----------------------------------------------------------------------------------

std::optional<std::string> nereid::sim::problemOf(const Code &code, const Launch &launch) {
  const Dim &grid = launch.grid, &cluster = launch.cluster;
  const uint64_t threads = launch.block.count();
  if (threads == 0 || threads > kMaxThreads)
    return "a block has 1 to 1024 threads, this one " + std::to_string(threads);
  if (cluster.count() == 0 || cluster.count() > 16 || grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return "the grid is no multiple of the cluster, or the cluster has more than 16 CTAs";
  if (code.staticSharedBytes + uint64_t{launch.sharedBytes} > kMaxSharedBytes)
    return "shared memory has " + std::to_string(kMaxSharedBytes) + " bytes, the kernel needs " +
           std::to_string(code.staticSharedBytes + uint64_t{launch.sharedBytes});
  if (launch.isCooperative && ceilDiv(grid, cluster).count() > residentClusters(launch))
    return "a cooperative launch needs all of its " + std::to_string(grid.count()) +
           " programs on the GPU at once, which runs " + std::to_string(residentClusters(launch) * cluster.count()) +
           " of them; make the grid smaller";
  if (launch.params.size() < code.paramBytes)
    return "the parameters have " + std::to_string(code.paramBytes) + " bytes, given are " +
           std::to_string(launch.params.size());
  return std::nullopt;
}
