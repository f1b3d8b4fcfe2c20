// Fibers of one CTA and their synchronisation.
// SPDX-License-Identifier: MIT
#pragma once

#include "test/unit/lowering/SimtHost.h"

#include <deque>
#include <functional>
#include <ucontext.h>

namespace nereid::simt {

/// A barrier of threads: all of a CTA, those of a warp, or those that a numbered barrier counts.
struct ThreadBarrier {
  unsigned size = 0;
  unsigned arrived = 0;
  uint64_t phase = 0;                         ///< completed phases
  std::array<std::vector<uint32_t>, 2> words; ///< each member's word, of this phase and of the previous one
};

/// A copy that a thread has started.
struct StartedCopy {
  char *target;
  const char *source;
  uint32_t bytes, sourceBytes; ///< bytes beyond the source are zero
  bool isDone = false;
};
using StartedCopies = std::vector<std::shared_ptr<StartedCopy>>;
void perform(StartedCopy &copy);

class Cluster;

class Block {
public:
  Block(unsigned numThreads, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> program, Cluster &cluster,
        unsigned rank);
  /// Prepares a fiber for each thread, which runs `body`.
  void begin(const std::function<void()> &body, Order order);
  /// Runs the fibers until all of them wait or are done; whether any ran.
  bool advance();
  bool isDone() const;

  /// The CTA whose fiber runs.
  static Block &current();
  unsigned thread() const { return running; }
  uint32_t programId(unsigned axis) const { return program[axis]; }
  uint32_t numPrograms(unsigned axis) const { return grid[axis]; }
  void barrier();
  /// Barriers by number; all calls for a phase name the same number of threads.
  void syncBarrier(unsigned id, unsigned numThreads);
  unsigned rankInCluster() const { return rank; }
  void arriveAtCluster();
  void waitForCluster();
  /// What `pointer`, to shared memory, is in the CTA of that rank.
  char *sharedOfCta(char *pointer, unsigned rank) const;
  /// State of a simulated unit for the thread.
  std::shared_ptr<void> &threadState() { return fibers[running].state; }
  /// State of a simulated unit for the CTA.
  std::shared_ptr<void> &blockState() { return state; }
  /// Lets the other fibers run; after too many calls without progress it waits forever, which run reports.
  void yield();
  void noteProgress() { numYields = 0; }
  Order threadOrder() const { return order; }
  /// The words of all lanes of this fiber's warp.
  const std::vector<uint32_t> &exchange(uint32_t word);
  /// A copy runs when it is started or when it is waited for, depending on the order of threads: the latter exposes a
  /// missing wait, the former an overwritten reader.
  void startCopy(const StartedCopy &copy);
  /// Whether copies of this thread run when they are started.
  bool copiesEarly() const;
  /// The copies of this thread that have not run.
  StartedCopies pendingCopies() const;
  void commitCopies();
  void waitForCopies(size_t numPending);

private:
  struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    const ThreadBarrier *waitsFor = nullptr;
    uint64_t phase = 0; ///< phase of that barrier
    bool isDone = false;
    uint64_t clusterPhase = 0; ///< in which it has arrived at the cluster's barrier
    std::deque<StartedCopies> groups; ///< run at their wait; the last one is open
    std::shared_ptr<void> state;
  };
  static void enter();
  void wait(const ThreadBarrier &barrier, uint64_t phase);
  const std::vector<uint32_t> &arriveAndWait(ThreadBarrier &barrier, unsigned member, uint32_t word);
  bool canRun(const Fiber &fiber) const;
  bool isLate(unsigned thread) const;
  std::vector<unsigned> orderOf(Order order) const;

  std::array<uint32_t, 3> grid, program;
  Cluster &cluster;
  unsigned rank;
  std::vector<Fiber> fibers;
  ThreadBarrier everyone;
  std::array<ThreadBarrier, 16> numbered;
  std::vector<ThreadBarrier> warps;
  ucontext_t scheduler;
  std::shared_ptr<void> state;
  ThreadBarrier never; ///< has no members
  unsigned numYields = 0;
  const std::function<void()> *body = nullptr;
  unsigned running = 0;
  Order order = Order::Ascending;
};

/// The CTAs of a program. Each has shared memory of its own, which is at the address that the code names while the CTA
/// runs.
class Cluster {
public:
  Cluster(unsigned numCtas, unsigned numThreads, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> program,
          std::vector<char> &shared);
  /// Runs `body` in every fiber of every CTA; false where all of them wait.
  bool run(const std::function<void()> &body, Order order);
  /// Of all threads.
  ThreadBarrier &barrier() { return everyone; }
  char *sharedOf(unsigned rank, char *pointer) { return contents[rank].data() + (pointer - shared.data()); }

private:
  std::vector<std::unique_ptr<Block>> ctas;
  std::vector<std::vector<char>> contents; ///< of the shared memory of CTAs that do not run
  std::vector<char> &shared;
  ThreadBarrier everyone;
};

} // namespace nereid::simt
