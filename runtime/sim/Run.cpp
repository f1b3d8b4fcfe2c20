// Runs the clusters of a grid on the threads of the host.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/WorkerPool.h"
#include "runtime/sim/Checks.h"
#include "runtime/sim/Counting.h"
#include "runtime/sim/Module.h"
#include "runtime/sim/Observer.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

using namespace nereid::sim;

namespace {
constexpr uint32_t kMaxSharedBytes = 232448, kMaxThreads = 1024;

Dim ceilDiv(Dim a, Dim b) { return {(a.x + b.x - 1) / b.x, (a.y + b.y - 1) / b.y, (a.z + b.z - 1) / b.z}; }
Dim position(uint64_t index, Dim extent) {
  return {uint32_t(index % extent.x), uint32_t(index / extent.x % extent.y), uint32_t(index / extent.x / extent.y)};
}

/// The clusters of a launch, which threads take one by one.
class GridWork : public nereid::runtime::SharedWork {
public:
  GridWork(const Code &code, const Launch &launch)
      : code(code), launch(launch), clusters(ceilDiv(launch.grid, launch.cluster)), count(clusters.count()),
        counts(this->code), accesses(makeGridAccesses(launch)) {}

  void join() override;
  bool isUsedUp() const override { return next.load() >= count; }
  Expected<Counters> wait();

private:
  void runOne(uint64_t index);
  void prepare(Cluster &cluster, uint64_t index);
  void prepare(Warp &warp, const Cta &cta) const;

  const Code code;
  const Launch launch;
  const Dim clusters;
  const uint64_t count;
  LaunchCounts counts;
  const std::shared_ptr<GridAccesses> accesses;
  std::atomic<uint64_t> next{0};
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t numDone = 0, threadInstructions = 0;
  std::optional<Error> error;
};
} // namespace

static uint32_t valueOf(Special special, const Launch &launch, const Cta &cta, Dim tid, unsigned lane, uint32_t warp,
                        const Code &code) {
  const Dim &block = launch.block, &grid = launch.grid, &cluster = launch.cluster, &id = cta.id;
  const Dim clusters = ceilDiv(grid, cluster);
  const uint32_t values[] = {tid.x,
                             tid.y,
                             tid.z,
                             block.x,
                             block.y,
                             block.z,
                             id.x,
                             id.y,
                             id.z,
                             grid.x,
                             grid.y,
                             grid.z,
                             lane,
                             warp,
                             uint32_t((block.count() + kLanes - 1) / kLanes),
                             1u << lane,
                             (1u << lane) - 1,
                             uint32_t((uint64_t{2} << lane) - 1),
                             uint32_t(~((uint64_t{2} << lane) - 1)),
                             ~((1u << lane) - 1),
                             id.x / cluster.x,
                             id.y / cluster.y,
                             id.z / cluster.z,
                             clusters.x,
                             clusters.y,
                             clusters.z,
                             id.x % cluster.x,
                             id.y % cluster.y,
                             id.z % cluster.z,
                             cluster.x,
                             cluster.y,
                             cluster.z,
                             cta.rank,
                             uint32_t(cluster.count()),
                             launch.sharedBytes,
                             launch.sharedBytes + code.staticSharedBytes,
                             0,
                             1,
                             1,
                             cluster.count() > 1 ? ~0u : 0u};
  return values[static_cast<size_t>(special)];
}

void GridWork::prepare(Warp &warp, const Cta &cta) const {
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
    for (auto [slot, special] : code.specials)
      warp.at<uint32_t>(slot)[special == Special::IsExplicitCluster ? 0 : lane] =
          valueOf(special, launch, cta, position(thread, launch.block), lane, warp.index, code);
  }
  warp.exited = ~live;
  warp.splits = {Split{live, 0}};
}

void GridWork::prepare(Cluster &cluster, uint64_t index) {
  const Dim at = position(index, clusters);
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
      prepare(cta.warps[warp], cta);
    }
  }
  if (launch.wantsCounters)
    cluster.observers.push_back(makeCounter(counts));
  for (const MakeObserver &make : launch.observers)
    cluster.observers.push_back(make(cluster));
  addChecks(cluster, accesses);
  cluster.isObserved = !cluster.observers.empty();
}

void GridWork::runOne(uint64_t index) {
  Cluster cluster;
  bool isStopped;
  {
    std::lock_guard lock(mutex);
    isStopped = error.has_value();
  }
  if (!isStopped) {
    prepare(cluster, index);
    runCluster(cluster);
  }
  std::lock_guard lock(mutex);
  threadInstructions += cluster.threadInstructions;
  if (cluster.error && !error)
    error = std::move(cluster.error);
  if (++numDone == count)
    changed.notify_all();
}

void GridWork::join() {
  for (uint64_t index = next++; index < count; index = next++)
    runOne(index);
}

Expected<Counters> GridWork::wait() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return numDone == count; });
  if (error)
    return *error;
  Counters counters{threadInstructions};
  if (launch.wantsCounters)
    counts.finish(counters);
  return counters;
}

static std::optional<std::string> problemOf(const Code &code, const Launch &launch) {
  const Dim &grid = launch.grid, &cluster = launch.cluster;
  const uint64_t threads = launch.block.count();
  if (threads == 0 || threads > kMaxThreads)
    return "a block has 1 to 1024 threads, this one " + std::to_string(threads);
  if (cluster.count() == 0 || cluster.count() > 16 || grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
    return "the grid is no multiple of the cluster, or the cluster has more than 16 CTAs";
  if (code.staticSharedBytes + uint64_t{launch.sharedBytes} > kMaxSharedBytes)
    return "shared memory has " + std::to_string(kMaxSharedBytes) + " bytes, the kernel needs " +
           std::to_string(code.staticSharedBytes + uint64_t{launch.sharedBytes});
  if (launch.params.size() < code.paramBytes)
    return "the parameters have " + std::to_string(code.paramBytes) + " bytes, given are " +
           std::to_string(launch.params.size());
  return std::nullopt;
}

Expected<Counters> nereid::sim::run(const Module &module, const Launch &launch) {
  auto found = module.state.entries.find(launch.entry);
  if (found == module.state.entries.end())
    return Error{"sim-launch", "the PTX has no entry `" + launch.entry + "`"};
  if (std::optional<std::string> problem = problemOf(found->second, launch))
    return Error{"sim-launch", std::move(*problem)};
  if (launch.grid.count() == 0)
    return Counters{};
  auto work = std::make_shared<GridWork>(found->second, launch);
  // What looks for races sees one cluster after another.
  const uint32_t threads = launch.checks & (CheckRace | CheckSync) ? 1
                           : launch.threads                        ? launch.threads
                                                                   : nereid::runtime::poolThreads();
  if (threads > 1)
    nereid::runtime::requestHelp(work, threads - 1);
  work->join();
  return work->wait();
}
