// Runs the clusters of grids on the threads of the host.
// SPDX-License-Identifier: MIT
//
// Grids of one GPU run one after another, as launches on a stream do, those of several GPUs together.
#include "runtime/process/StopCheck.h"
#include "runtime/process/WorkerPool.h"
#include "runtime/sim/machine/Module.h"
#include "runtime/sim/machine/Observer.h"
#include "runtime/sim/machine/Prepare.h"
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

// Instructions between two questions whether to stop, and slices of that many after which a cluster gives way.
constexpr uint64_t kSliceInstructions = uint64_t{1} << 18, kSlicesOfTurn = 16;
// A cluster that has been resumed so often, while no other has changed memory, waits for what does not come.
constexpr uint32_t kFruitless = 64;
constexpr auto kBeforeStuck = std::chrono::seconds(1);
// How long a cluster that awaits its first atomic operation lets those that other threads have begun reach theirs.
constexpr auto kBeforeFirst = std::chrono::milliseconds(50);
constexpr uint64_t kMostArrived = 128;

/// One of the launches that run together.
struct Grid {
  Grid(const GridLaunch &request, size_t number, const Grid *before)
      : code(request.code), launch(request.launch), number(number), before(before), count(clustersOf(launch).count()),
        capacity(residentClusters(launch)) {}

  bool isDone() const { return numDone == count; }
  /// Whether another of its clusters can start.
  bool canStart() const { return next < count && numResident < capacity && (!before || before->isDone()); }

  const Code code;
  const Launch launch;
  const size_t number;
  const Grid *const before; ///< that has to end first; null where there is none
  const uint64_t count, capacity;
  uint64_t next = 0, numResident = 0, numDone = 0, threadInstructions = 0;
};

/// The clusters of launches. Threads take them one by one; a cluster that waits for others, or has run for long, gives
/// way to the next, up to the number that is resident on each GPU.
class GridWork : public nereid::runtime::SharedWork {
public:
  explicit GridWork(std::span<const GridLaunch> requests);

  void join() override { takePart(nullptr); }
  bool isUsedUp() const override { return numUnstarted.load() == 0; }
  void takePart(StopCheck *stop);
  GridResults wait(StopCheck &stop);

private:
  /// A cluster that has started.
  struct Resident {
    explicit Resident(Grid &grid) : grid(grid) {}

    Grid &grid;
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
  void fail(const Grid &grid, Error reason);
  Grid *startable() const;

  std::deque<Grid> grids;
  std::atomic<uint64_t> numUnstarted{0};
  std::atomic<bool> hasFailed{false};
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::unique_ptr<Resident>> waiting;
  uint64_t numResident = 0, numFresh = 0, numLeft = 0; ///< left: that have not ended
  bool takesNew = true; ///< new clusters and those that wait take turns, once many have started
  uint64_t epoch = 1, numStuck = 0;
  std::chrono::steady_clock::time_point changedAt = std::chrono::steady_clock::now();
  std::optional<Error> error;
  size_t failed = 0; ///< the number of the grid with the error
};
} // namespace

GridWork::GridWork(std::span<const GridLaunch> requests) {
  for (const GridLaunch &request : requests) {
    const auto before = std::ranges::find_if(
        grids.rbegin(), grids.rend(), [&](const Grid &grid) { return grid.launch.device == request.launch.device; });
    grids.emplace_back(request, grids.size(), before == grids.rend() ? nullptr : &*before);
    numUnstarted += grids.back().count;
    numLeft += grids.back().count;
  }
}

//--- taking turns --------------------------------------------------------------------------

/// The grid whose next cluster starts: of those that can, the one with the fewest on its GPU. Null where none can.
Grid *GridWork::startable() const {
  const Grid *best = nullptr;
  for (const Grid &grid : grids)
    if (!error && grid.canStart() && (!best || grid.numResident < best->numResident))
      best = &grid;
  return const_cast<Grid *>(best);
}

/// The next cluster to run: a new one, or the one that has waited longest. Null where all that have started run on
/// other threads, which put them back or end them.
std::unique_ptr<GridWork::Resident> GridWork::take() {
  std::unique_lock lock(mutex);
  Grid *const grid = startable();
  if (!waiting.empty() && (!grid || (!takesNew && numResident >= kMostArrived))) {
    takesNew = true;
    std::unique_ptr<Resident> resident = std::move(waiting.front());
    waiting.pop_front();
    if (!grid)
      awaitFresh(lock, *resident);
    return resident;
  }
  if (!grid)
    return nullptr;
  takesNew = false;
  ++numResident;
  ++numFresh;
  ++grid->numResident;
  --numUnstarted;
  const uint64_t index = grid->next++;
  lock.unlock();
  auto resident = std::make_unique<Resident>(*grid);
  prepareCluster(resident->cluster, grid->code, grid->launch, index);
  return resident;
}

/// A program that awaits the result of an atomic operation gives way to few others, as each takes memory.
bool GridWork::mayLetOthersStart(Resident &resident) {
  std::lock_guard lock(mutex);
  noteNotFresh(resident);
  return !waiting.empty() || numFresh != 0 || (numResident < kMostArrived && startable());
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
      fail(resident.grid, Error{"launch-interrupted", "it was interrupted; some of its programs have not run"});
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

void GridWork::fail(const Grid &grid, Error reason) {
  std::lock_guard lock(mutex);
  if (!error) {
    error = std::move(reason);
    failed = grid.number;
  }
  hasFailed = true;
}

void GridWork::retire(Resident &resident) {
  if (resident.cluster.error)
    fail(resident.grid, std::move(*resident.cluster.error));
  std::lock_guard lock(mutex);
  noteNotFresh(resident);
  Grid &grid = resident.grid;
  grid.threadInstructions += resident.cluster.threadInstructions;
  --grid.numResident;
  ++grid.numDone;
  --numResident;
  --numLeft;
  ++epoch;
  numStuck = 0;
  changedAt = std::chrono::steady_clock::now();
  if (hasFailed ? numResident == 0 : grid.isDone())
    changed.notify_all();
}

void GridWork::putBack(std::unique_ptr<Resident> resident) {
  std::unique_lock lock(mutex);
  noteNotFresh(*resident);
  noteWait(*resident);
  if (isStuck() && !error) {
    error = stuckError(*resident);
    failed = resident->grid.number;
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
  return numStuck == numResident && !startable() && std::chrono::steady_clock::now() - changedAt > kBeforeStuck;
}

Error GridWork::stuckError(const Resident &last) const {
  const Resident *lowest = &last;
  for (const auto &other : waiting)
    if (std::tie(other->grid.number, other->cluster.ctas[0].id.z, other->cluster.ctas[0].id.y,
                 other->cluster.ctas[0].id.x) < std::tie(lowest->grid.number, lowest->cluster.ctas[0].id.z,
                                                         lowest->cluster.ctas[0].id.y, lowest->cluster.ctas[0].id.x))
      lowest = other.get();
  std::string text = "deadlock: every program waits for memory that none of them changes";
  uint64_t left = 0, resident = 0;
  for (const Grid &grid : grids) {
    left += (grid.count - grid.next) * grid.launch.cluster.count();
    resident += grid.numResident * grid.launch.cluster.count();
  }
  if (left)
    text += ", and " + std::to_string(left) + " programs cannot start, as " + std::to_string(resident) +
            " are resident on the GPU";
  return Error{"sim-deadlock", text + "; " + programText(lowest->cluster) + warpsText(lowest->cluster)};
}

GridResults GridWork::wait(StopCheck &stop) {
  std::unique_lock lock(mutex);
  while (hasFailed ? numResident != 0 : numLeft != 0) {
    changed.wait_for(lock, StopCheck::kInterval);
    lock.unlock();
    if (!hasFailed && stop.isStopRequested())
      fail(grids.front(), Error{"launch-interrupted", "it was interrupted; some of its programs have not run"});
    takePart(&stop); // others may have left what waits
    lock.lock();
  }
  GridResults results{{}, error, failed};
  for (const Grid &grid : grids)
    results.threadInstructions.push_back(grid.threadInstructions);
  return results;
}

GridResults nereid::sim::runGrids(std::span<const GridLaunch> requests) {
  uint32_t threads = nereid::runtime::poolThreads();
  for (size_t index = 0; index < requests.size(); ++index) {
    const auto &[code, launch] = requests[index];
    if (std::optional<std::string> problem = problemOf(code, launch))
      return {{}, Error{"sim-launch", std::move(*problem)}, index};
    if (launch.threads)
      threads = std::min(threads, launch.threads);
  }
  auto work = std::make_shared<GridWork>(requests);
  if (threads > 1)
    nereid::runtime::requestHelp(work, threads - 1);
  StopCheck stop;
  work->takePart(&stop);
  return work->wait(stop);
}
