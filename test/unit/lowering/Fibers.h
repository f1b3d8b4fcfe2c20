// Fibers of one block and the places where they wait for each other.
// SPDX-License-Identifier: MIT
#pragma once

#include "test/unit/lowering/SimtHost.h"

#include <deque>
#include <functional>
#include <ucontext.h>

namespace nereid::simt {

/// Threads that meet: all of a block, or those of a warp.
struct Meeting {
  unsigned size = 0;
  unsigned arrived = 0;
  uint64_t turn = 0;                          ///< meetings that are over
  std::array<std::vector<uint32_t>, 2> words; ///< what each member brought, of this turn and of the one before
};

/// A copy that a thread has started.
struct StartedCopy {
  char *target;
  const char *source;
  uint32_t bytes, sourceBytes; ///< what the source lacks is zero
};

class Block {
public:
  Block(unsigned numThreads, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> program);
  /// Runs `body` in every fiber; false where all of them wait.
  bool run(const std::function<void()> &body, Order order);

  /// The block whose fiber runs.
  static Block &current();
  unsigned thread() const { return running; }
  uint32_t programId(unsigned axis) const { return program[axis]; }
  uint32_t numPrograms(unsigned axis) const { return grid[axis]; }
  void barrier();
  /// What a unit beside the thread keeps for it.
  std::shared_ptr<void> &threadState() { return fibers[running].state; }
  /// What a unit keeps for the block.
  std::shared_ptr<void> &blockState() { return state; }
  /// Lets the other fibers run; after very many turns it waits for ever.
  void giveWay();
  Order threadOrder() const { return order; }
  /// What each lane of this fiber's warp brought.
  const std::vector<uint32_t> &exchange(uint32_t word);
  /// A copy runs when it is started or when it is waited for, which the order of threads decides: a wait that is
  /// missing shows in the one, a reader that is overtaken in the other.
  void startCopy(const StartedCopy &copy);
  void commitCopies();
  void waitForCopies(size_t numPending);

private:
  struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    const Meeting *waitsFor = nullptr;
    uint64_t turn = 0; ///< of that meeting
    bool isDone = false;
    std::deque<std::vector<StartedCopy>> groups; ///< that run when they are waited for; the last one is open
    std::shared_ptr<void> state;
  };
  static void enter();
  const std::vector<uint32_t> &meet(Meeting &meeting, unsigned member, uint32_t word);
  bool canRun(const Fiber &fiber) const;
  std::vector<unsigned> orderOf(Order order) const;

  std::array<uint32_t, 3> grid, program;
  std::vector<Fiber> fibers;
  Meeting everyone;
  std::vector<Meeting> warps;
  ucontext_t scheduler;
  std::shared_ptr<void> state;
  Meeting never; ///< that nobody comes to
  unsigned turnsGiven = 0;
  const std::function<void()> *body = nullptr;
  unsigned running = 0;
  Order order = Order::Ascending;
};

} // namespace nereid::simt
