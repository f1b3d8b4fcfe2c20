// Implements fibers of one CTA and their synchronisation.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Fibers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <utility>

using namespace nereid;
using namespace nereid::simt;

static constexpr unsigned warpSize = 32;
static constexpr size_t stackBytes = 256 * 1024;

static Block *&currentBlock() {
  static Block *block = nullptr;
  return block;
}

Block &Block::current() { return *currentBlock(); }

Block::Block(unsigned numThreads, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> program, Cluster &cluster,
             unsigned rank)
    : grid(grid), program(program), cluster(cluster), rank(rank), fibers(numThreads), warps(numThreads / warpSize) {
  everyone.size = numThreads;
  for (std::vector<uint32_t> &words : everyone.words)
    words.resize(numThreads);
  for (ThreadBarrier &warp : warps) {
    warp.size = warpSize;
    for (std::vector<uint32_t> &words : warp.words)
      words.resize(warpSize);
  }
}

void Block::enter() {
  Block &block = current();
  (*block.body)();
  block.fibers[block.running].isDone = true;
  swapcontext(&block.fibers[block.running].context, &block.scheduler);
}

bool Block::canRun(const Fiber &fiber) const {
  return !fiber.isDone && (!fiber.waitsFor || fiber.waitsFor->phase > fiber.phase);
}

std::vector<unsigned> Block::orderOf(Order order) const {
  std::vector<unsigned> result(fibers.size());
  std::iota(result.begin(), result.end(), 0u);
  if (order == Order::Descending)
    std::reverse(result.begin(), result.end());
  if (order == Order::Mixed)
    std::shuffle(result.begin(), result.end(), std::mt19937(fibers.size()));
  return result;
}

void Block::begin(const std::function<void()> &work, Order runOrder) {
  body = &work;
  order = runOrder;
  for (Fiber &fiber : fibers) {
    fiber.stack.resize(stackBytes);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, &Block::enter, 0);
  }
}

bool Block::advance() {
  currentBlock() = this;
  bool everRan = false, isTurnOfLate = false;
  for (bool anyRan = true; anyRan || isTurnOfLate; everRan |= anyRan) {
    const bool runsLate = isTurnOfLate || numYields > 4 * fibers.size();
    bool isAnyHeld = false;
    anyRan = false;
    for (unsigned index : orderOf(order)) {
      if (!canRun(fibers[index]))
        continue;
      if (isLate(index) && !runsLate) {
        isAnyHeld = true;
        continue;
      }
      running = index;
      anyRan = true;
      swapcontext(&scheduler, &fibers[index].context);
    }
    isTurnOfLate = isAnyHeld && !anyRan;
  }
  return everRan;
}

bool Block::isLate(unsigned thread) const {
  constexpr unsigned warpGroup = 4 * warpSize;
  return order == Order::LateLanes && thread / warpGroup == (fibers.size() - 1) / warpGroup && thread % warpSize;
}

bool Block::isDone() const {
  return std::all_of(fibers.begin(), fibers.end(), [](const Fiber &fiber) { return fiber.isDone; });
}

/// Counts an arrival and returns its phase.
static uint64_t arrive(ThreadBarrier &barrier) {
  const uint64_t phase = barrier.phase;
  if (++barrier.arrived == barrier.size) {
    barrier.arrived = 0;
    ++barrier.phase;
  }
  return phase;
}

void Block::wait(const ThreadBarrier &barrier, uint64_t phase) {
  Fiber &self = fibers[running];
  self.waitsFor = &barrier;
  self.phase = phase;
  swapcontext(&self.context, &scheduler);
  self.waitsFor = nullptr;
}

const std::vector<uint32_t> &Block::arriveAndWait(ThreadBarrier &barrier, unsigned member, uint32_t word) {
  std::vector<uint32_t> &words = barrier.words[barrier.phase % 2];
  words[member] = word;
  wait(barrier, arrive(barrier));
  return words;
}

void Block::syncBarrier(unsigned id, unsigned numThreads) {
  ThreadBarrier *barrier = id > 0 && id < numbered.size() ? &numbered[id] : nullptr;
  if (!barrier || numThreads % warpSize || (barrier->arrived && barrier->size != numThreads)) {
    std::fprintf(stderr, "barrier %u does not count %u threads\n", id, numThreads);
    std::abort();
  }
  barrier->size = numThreads;
  wait(*barrier, arrive(*barrier));
}

void Block::yield() {
  Fiber &self = fibers[running];
  if (++numYields > 100'000)
    self.waitsFor = &never;
  swapcontext(&self.context, &scheduler);
}

void Block::barrier() { arriveAndWait(everyone, running, 0); }

void Block::arriveAtCluster() { fibers[running].clusterPhase = arrive(cluster.barrier()); }

void Block::waitForCluster() { wait(cluster.barrier(), fibers[running].clusterPhase); }

char *Block::sharedOfCta(char *pointer, unsigned other) const {
  return other == rank ? pointer : cluster.sharedOf(other, pointer);
}

const std::vector<uint32_t> &Block::exchange(uint32_t word) {
  return arriveAndWait(warps[running / warpSize], running % warpSize, word);
}

//--- clusters ------------------------------------------------------------------------------

Cluster::Cluster(unsigned numCtas, unsigned numThreads, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> program,
                 std::vector<char> &shared)
    : contents(numCtas, shared), shared(shared) {
  everyone.size = numCtas * numThreads;
  for (unsigned rank = 0; rank < numCtas; ++rank)
    ctas.push_back(std::make_unique<Block>(numThreads, grid, program, *this, rank));
}

bool Cluster::run(const std::function<void()> &body, Order order) {
  for (auto &cta : ctas)
    cta->begin(body, order);
  for (bool anyRan = true; anyRan;) {
    anyRan = false;
    for (unsigned index = 0; index < ctas.size(); ++index) {
      const unsigned rank = order == Order::Descending ? ctas.size() - 1 - index : index;
      std::copy(contents[rank].begin(), contents[rank].end(), shared.begin());
      anyRan |= ctas[rank]->advance();
      std::copy(shared.begin(), shared.end(), contents[rank].begin());
    }
  }
  return std::all_of(ctas.begin(), ctas.end(), [](const auto &cta) { return cta->isDone(); });
}

//--- copies --------------------------------------------------------------------------------

void simt::perform(StartedCopy &copy) {
  if (std::exchange(copy.isDone, true))
    return;
  std::memset(copy.target, 0, copy.bytes);
  std::memcpy(copy.target, copy.source, copy.sourceBytes);
}

bool Block::copiesEarly() const { return order == Order::Descending || (order == Order::Mixed && running % 3 == 0); }

void Block::startCopy(const StartedCopy &copy) {
  auto started = std::make_shared<StartedCopy>(copy);
  if (copiesEarly())
    return perform(*started);
  auto &groups = fibers[running].groups;
  if (groups.empty())
    groups.emplace_back();
  groups.back().push_back(std::move(started));
}

StartedCopies Block::pendingCopies() const {
  StartedCopies pending;
  for (const StartedCopies &group : fibers[running].groups)
    std::copy_if(group.begin(), group.end(), std::back_inserter(pending),
                 [](const std::shared_ptr<StartedCopy> &copy) { return !copy->isDone; });
  return pending;
}

void Block::commitCopies() {
  auto &groups = fibers[running].groups;
  if (groups.empty())
    groups.emplace_back();
  groups.emplace_back();
}

void Block::waitForCopies(size_t numPending) {
  auto &groups = fibers[running].groups;
  while (groups.size() > numPending + 1) {
    for (const std::shared_ptr<StartedCopy> &copy : groups.front())
      perform(*copy);
    groups.pop_front();
  }
}
