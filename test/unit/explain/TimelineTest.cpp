// Timelines of small loops, whose times are known.
// SPDX-License-Identifier: MIT
#include "compiler/explain/Timeline.h"

#include "gtest/gtest.h"

#include "llvm/ADT/STLExtras.h"

using namespace nereid::explain;

static LoopOp work(Unit unit, uint64_t cycles, Action action = Action::None) {
  return {1, "work", unit, cycles, action};
}

static LoopOp act(Action action, unsigned number = 0, unsigned barrier = 0) {
  return {0, "", Unit::None, 0, action, number, barrier};
}

static uint64_t iterationOf(std::vector<LoopOp> ops, unsigned groupsAhead = 0) {
  Loop loop;
  loop.groupsAhead = groupsAhead;
  loop.parts = {{0, std::move(ops)}};
  return timelineOf(loop).cyclesPerIteration;
}

TEST(Timeline, SynchronousWorkAddsUp) {
  EXPECT_EQ(iterationOf({work(Unit::Alu, 30), work(Unit::SpecialFunctions, 12)}), 42u);
}

TEST(Timeline, AsynchronousDotsRunBesideOtherWork) {
  EXPECT_EQ(iterationOf({work(Unit::TensorCores, 100, Action::Start), work(Unit::Alu, 30), act(Action::WaitDots)}),
            100u);
  EXPECT_EQ(iterationOf({work(Unit::TensorCores, 100), work(Unit::Alu, 30)}), 130u);
}

TEST(Timeline, LoadsWithoutPipelineShowTheirLatency) {
  EXPECT_EQ(iterationOf({work(Unit::MemoryCopies, 20, Action::Load), work(Unit::Alu, 30)}), 50 + kCopyLatency);
}

TEST(Timeline, PrefetchedLoadsRunBesideAnIteration) {
  // Two loads are in flight.
  EXPECT_EQ(iterationOf({work(Unit::MemoryCopies, 20, Action::Prefetch), work(Unit::Alu, 30)}),
            (20 + kCopyLatency + 30) / 2);
  EXPECT_EQ(iterationOf({work(Unit::MemoryCopies, 20, Action::Prefetch), work(Unit::Alu, 900)}), 900u);
}

TEST(Timeline, CopiesAheadHideTheirLatency) {
  const std::vector<LoopOp> ops = {act(Action::WaitGroups, 2), work(Unit::Alu, 400),
                                   work(Unit::MemoryCopies, 20, Action::Start), act(Action::Commit)};
  EXPECT_EQ(iterationOf(ops, /*groupsAhead=*/3), 400u);
}

TEST(Timeline, TheBusiestUnitLimitsALoop) {
  const std::vector<LoopOp> ops = {act(Action::WaitGroups, 2), work(Unit::Alu, 100),
                                   work(Unit::MemoryCopies, 700, Action::Start), act(Action::Commit)};
  EXPECT_EQ(iterationOf(ops, /*groupsAhead=*/3), 700u);
}

/// A part that fills two buffers, and one that empties them.
static Loop producerAndConsumer(uint64_t copy, uint64_t compute) {
  Loop loop;
  loop.barriers = {{0}, {2}}; // full, empty
  loop.parts = {
      {0, {act(Action::Wait, 0, 0), work(Unit::Alu, compute), act(Action::Signal, 0, 1)}},
      {1, {act(Action::Wait, 0, 1), work(Unit::MemoryCopies, copy, Action::Start), act(Action::SignalCopy, 0, 0)}}};
  return loop;
}

TEST(Timeline, ARoleWaitsForAnother) {
  EXPECT_EQ(timelineOf(producerAndConsumer(20, 900)).cyclesPerIteration, 900u);
  // Two buffers hide one latency in two iterations.
  EXPECT_EQ(timelineOf(producerAndConsumer(20, 100)).cycles, 100 + 20 + kCopyLatency);
}

TEST(Timeline, BarsLieInTheTimeShown) {
  const Timeline timeline = timelineOf(producerAndConsumer(20, 900));
  ASSERT_FALSE(timeline.bars.empty());
  for (const Bar &bar : timeline.bars) {
    EXPECT_LT(bar.begin, bar.end);
    EXPECT_LE(bar.end, timeline.cycles);
  }
  EXPECT_TRUE(llvm::any_of(timeline.bars, [](const Bar &bar) { return bar.part == 1; }));
}

TEST(Timeline, ALoopThatWaitsForeverHasNoTime) {
  Loop loop;
  loop.barriers = {{0}};
  loop.parts = {{0, {act(Action::Wait), work(Unit::Alu, 10)}}};
  EXPECT_EQ(timelineOf(loop).cycles, 0u);
}
