// Runs the clusters of a grid on the threads of the host.
// SPDX-License-Identifier: MIT
#include "runtime/process/StopCheck.h"
#include "runtime/process/WorkerPool.h"
#include "runtime/sim/machine/Module.h"
#include "runtime/sim/machine/Observer.h"
#include "runtime/sim/machine/Report.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <tuple>

using namespace nereid::sim;

namespace {
using nereid::runtime::StopCheck;

constexpr uint32_t kMaxSharedBytes = 232448, kMaxThreads = 1024;
// Instructions between two questions whether to stop, and slices of that many after which a cluster gives way.
constexpr uint64_t kSliceInstructions = uint64_t{1} << 18, kSlicesOfTurn = 16;
// A cluster that has been resumed so often, while no other has changed memory, waits for what does not come.
constexpr uint32_t kFruitless = 64;
constexpr auto kBeforeStuck = std::chrono::seconds(1);
// How long a cluster that awaits its first atomic operation lets those that other threads have begun reach theirs.
constexpr auto kBeforeFirst = std::chrono::milliseconds(50);
constexpr uint32_t kDefaultResident = 1024;
constexpr uint64_t kMostArrived = 128;

uint64_t residentClusters(const Launch &launch) {
  const uint64_t ctas = launch.residentCtas ? launch.residentCtas : kDefaultResident;
  return std::max<uint64_t>(ctas / std::max<uint64_t>(launch.cluster.count(), 1), 1);
}

Dim ceilDiv(Dim a, Dim b) { return {(a.x + b.x - 1) / b.x, (a.y + b.y - 1) / b.y, (a.z + b.z - 1) / b.z}; }
Dim position(uint64_t index, Dim extent) {
  return {uint32_t(index % extent.x), uint32_t(index / extent.x % extent.y), uint32_t(index / extent.x / extent.y)};
}

/// The clusters of a launch. Threads take them one by one; a cluster that waits for others, or has run for long, gives
/// way to the next, up to the number that is resident on the GPU.
class GridWork : public nereid::runtime::SharedWork {
public:
  GridWork(const Code &code, const Launch &launch)
      : code(code), launch(launch), clusters(ceilDiv(launch.grid, launch.cluster)), count(clusters.count()),
        capacity(residentClusters(launch)) {}

  void join() override { takePart(nullptr); }
  bool isUsedUp() const override { return next.load() >= count; }
  void takePart(StopCheck *stop);
  /// The number of instructions of threads.
  Expected<uint64_t> wait(StopCheck &stop);

private:
  /// A cluster that has started.
  struct Resident {
    Cluster cluster;
    uint64_t epoch = 0;     ///< changes of memory when it last ran
    uint32_t fruitless = 0; ///< times that it has been resumed since then
    bool isFresh = true;    ///< has not come to an atomic operation, nor given way
    bool hasStayed = false; ///< has let fresh clusters come that far
  };

  std::unique_ptr<Resident> take();
  void run(Resident &resident, StopCheck *stop);
  bool mayLetOthersStart(Resident &resident);
  void noteNotFresh(Resident &resident);
  void awaitFresh(std::unique_lock<std::mutex> &lock, Resident &resident);
  void putBack(std::unique_ptr<Resident> resident);
  void retire(Resident &resident);
  void noteWait(Resident &resident);
  bool isStuck() const;
  Error stuckError(const Resident &last) const;
  void fail(Error reason);
  void prepare(Cluster &cluster, uint64_t index);
  void prepare(Warp &warp, const Cta &cta) const;

  const Code code;
  const Launch launch;
  const Dim clusters;
  const uint64_t count, capacity;
  std::atomic<uint64_t> next{0};
  std::atomic<bool> hasFailed{false};
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::unique_ptr<Resident>> waiting;
  uint64_t numResident = 0, numFresh = 0, numDone = 0, threadInstructions = 0;
  bool takesNew = true; ///< new clusters and those that wait take turns, once many have started
  uint64_t epoch = 1, numStuck = 0;
  std::chrono::steady_clock::time_point changedAt = std::chrono::steady_clock::now();
  std::optional<Error> error;
};
} // namespace

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
    const SpecialWords words = specialsOf(launch, code, cta, warp, lane);
    for (auto [slot, special] : code.specials)
      warp.at<uint32_t>(slot)[special == kIsExplicitCluster ? 0 : lane] = words[special];
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
  for (const MakeObserver &make : launch.observers)
    if (std::shared_ptr<Observer> observer = make(cluster))
      cluster.observers.push_back(std::move(observer));
  cluster.isObserved = !cluster.observers.empty();
}

//--- taking turns --------------------------------------------------------------------------

/// The next cluster to run: a new one, or the one that has waited longest. Null where all that have started run on
/// other threads, which put them back or end them.
std::unique_ptr<GridWork::Resident> GridWork::take() {
  std::unique_lock lock(mutex);
  const bool hasNew = next.load() < count && numResident < capacity && !error;
  if (!waiting.empty() && (!hasNew || (!takesNew && numResident >= kMostArrived))) {
    takesNew = true;
    std::unique_ptr<Resident> resident = std::move(waiting.front());
    waiting.pop_front();
    if (!hasNew)
      awaitFresh(lock, *resident);
    return resident;
  }
  if (!hasNew)
    return nullptr;
  takesNew = false;
  ++numResident;
  ++numFresh;
  const uint64_t index = next++;
  lock.unlock();
  auto resident = std::make_unique<Resident>();
  prepare(resident->cluster, index);
  return resident;
}

/// A program that awaits the result of an atomic operation gives way to few others, as each takes memory.
bool GridWork::mayLetOthersStart(Resident &resident) {
  std::lock_guard lock(mutex);
  noteNotFresh(resident);
  return !waiting.empty() || numFresh != 0 || (next.load() < count && numResident < std::min(capacity, kMostArrived));
}

void GridWork::noteNotFresh(Resident &resident) {
  if (!resident.isFresh)
    return;
  resident.isFresh = false;
  if (--numFresh == 0)
    changed.notify_all();
}

/// On a GPU, programs that start together come to their first atomic operation before any of them has the result of its
/// own; the threads of a host may be apart by more than that.
void GridWork::awaitFresh(std::unique_lock<std::mutex> &lock, Resident &resident) {
  if (!std::exchange(resident.hasStayed, true))
    changed.wait_for(lock, kBeforeFirst, [this] { return numFresh == 0 || hasFailed; });
}

/// Until the cluster ends or gives way. The launching thread asks whether to stop.
void GridWork::run(Resident &resident, StopCheck *stop) {
  Cluster &cluster = resident.cluster;
  for (uint64_t slices = 0; slices < kSlicesOfTurn && !hasEnded(cluster) && !hasFailed; ++slices) {
    runCluster(cluster, kSliceInstructions);
    if (stop && stop->isStopRequested())
      fail(Error{"launch-interrupted", "it was interrupted; some of its programs have not run"});
    if (isWaiting(cluster) || (cluster.hasArrived && mayLetOthersStart(resident)))
      return;
  }
}

void GridWork::takePart(StopCheck *stop) {
  while (std::unique_ptr<Resident> resident = take()) {
    run(*resident, stop);
    if (hasEnded(resident->cluster) || hasFailed)
      retire(*resident);
    else
      putBack(std::move(resident));
  }
}

void GridWork::fail(Error reason) {
  std::lock_guard lock(mutex);
  if (!error)
    error = std::move(reason);
  hasFailed = true;
}

void GridWork::retire(Resident &resident) {
  if (resident.cluster.error)
    fail(std::move(*resident.cluster.error));
  std::lock_guard lock(mutex);
  noteNotFresh(resident);
  threadInstructions += resident.cluster.threadInstructions;
  --numResident;
  ++numDone;
  ++epoch;
  numStuck = 0;
  changedAt = std::chrono::steady_clock::now();
  if (hasFailed ? numResident == 0 : numDone == count)
    changed.notify_all();
}

void GridWork::putBack(std::unique_ptr<Resident> resident) {
  std::unique_lock lock(mutex);
  noteNotFresh(*resident);
  noteWait(*resident);
  if (isStuck() && !error) {
    error = stuckError(*resident);
    hasFailed = true;
  }
  waiting.push_back(std::move(resident));
}

void GridWork::noteWait(Resident &resident) {
  if (resident.cluster.hasChanged || !(isWaiting(resident.cluster) || resident.cluster.hasArrived)) {
    ++epoch;
    numStuck = 0;
    changedAt = std::chrono::steady_clock::now();
  }
  resident.cluster.hasChanged = false;
  if (resident.epoch != epoch)
    resident.fruitless = 0;
  resident.epoch = epoch;
  if (isWaiting(resident.cluster) && ++resident.fruitless == kFruitless)
    ++numStuck;
}

/// Whether every cluster that has started waits for what none of them changes, and no other can start.
bool GridWork::isStuck() const {
  return numStuck == numResident && (next.load() >= count || numResident >= capacity) &&
         std::chrono::steady_clock::now() - changedAt > kBeforeStuck;
}

Error GridWork::stuckError(const Resident &last) const {
  const Cluster *lowest = &last.cluster;
  for (const auto &other : waiting)
    if (std::tie(other->cluster.ctas[0].id.z, other->cluster.ctas[0].id.y, other->cluster.ctas[0].id.x) <
        std::tie(lowest->ctas[0].id.z, lowest->ctas[0].id.y, lowest->ctas[0].id.x))
      lowest = &other->cluster;
  std::string text = "deadlock: every program waits for memory that none of them changes";
  if (const uint64_t left = count - std::min(next.load(), count))
    text += ", and " + std::to_string(left * launch.cluster.count()) + " programs cannot start, as " +
            std::to_string(numResident * launch.cluster.count()) + " are resident on the GPU";
  const Dim &id = lowest->ctas[0].id;
  return Error{"sim-deadlock", text + "; program " + std::to_string(id.x) + ", " + std::to_string(id.y) + ", " +
                                   std::to_string(id.z) + warpsText(*lowest)};
}

Expected<uint64_t> GridWork::wait(StopCheck &stop) {
  std::unique_lock lock(mutex);
  while (hasFailed ? numResident != 0 : numDone != count) {
    changed.wait_for(lock, StopCheck::kInterval);
    lock.unlock();
    if (!hasFailed && stop.isStopRequested())
      fail(Error{"launch-interrupted", "it was interrupted; some of its programs have not run"});
    takePart(&stop); // others may have left what waits
    lock.lock();
  }
  if (error)
    return *error;
  return threadInstructions;
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
  if (launch.isCooperative && ceilDiv(grid, cluster).count() > residentClusters(launch))
    return "a cooperative launch needs all of its " + std::to_string(grid.count()) +
           " programs on the GPU at once, which runs " + std::to_string(residentClusters(launch) * cluster.count()) +
           " of them; make the grid smaller";
  if (launch.params.size() < code.paramBytes)
    return "the parameters have " + std::to_string(code.paramBytes) + " bytes, given are " +
           std::to_string(launch.params.size());
  return std::nullopt;
}

Expected<uint64_t> nereid::sim::runGrid(const Code &code, const Launch &launch) {
  if (std::optional<std::string> problem = problemOf(code, launch))
    return Error{"sim-launch", std::move(*problem)};
  if (launch.grid.count() == 0)
    return uint64_t{0};
  auto work = std::make_shared<GridWork>(code, launch);
  const uint32_t threads = launch.threads ? launch.threads : nereid::runtime::poolThreads();
  if (threads > 1)
    nereid::runtime::requestHelp(work, threads - 1);
  StopCheck stop;
  work->takePart(&stop);
  return work->wait(stop);
}
