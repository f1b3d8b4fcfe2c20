// Chooses layouts greedily: the class with most bytes first, each by its own cost and the cost for its neighbours.
// SPDX-License-Identifier: MIT
//
// Candidates of a class are the preferred layouts of its accesses and its neighbours' accesses, and those that decided
// neighbours imply. An undecided neighbour is assumed to follow or to convert, whichever costs less. In the end
// conversions are moved along chains of classes.
#include "compiler/passes/ttg/ChooseLayouts.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// Layouts that a class without accesses takes from its neighbours.
static constexpr unsigned kMostPassed = 4;
/// Classes that change together when a conversion is moved.
static constexpr unsigned kMostMoved = 16;

namespace {
using Candidates = llvm::SmallSetVector<LayoutEncoding, 8>;

class Chooser {
public:
  Chooser(const LayoutClasses &classes, const index::AxisInfoAnalysis &axisInfo, ThreadCounts threads,
          MatrixAccesses matrixAccesses, MLIRContext *context)
      : classes(classes), axisInfo(axisInfo), threads(threads), matrixAccesses(matrixAccesses), context(context),
        chosen(classes.classes().size()), wanted(classes.classes().size()) {}

  SmallVector<LayoutEncoding> run();

private:
  LayoutEncoding defaultFor(const LayoutClass &of) const;
  void collectWanted(unsigned index);
  bool passWanted(unsigned index);
  void spreadWanted();
  void addInWarpsOfResults(unsigned index, Candidates &candidates);
  SmallVector<LayoutEncoding> operandsAfter(unsigned index) const;
  void wantBlocksOfOperands(unsigned index);
  Candidates candidatesOf(unsigned index);
  uint64_t ownCost(const LayoutClass &of, LayoutEncoding layout);
  uint64_t edgeCost(unsigned index, const Edge &edge, LayoutEncoding layout);
  uint64_t costOf(unsigned index, LayoutEncoding layout);
  uint64_t weightOf(unsigned index) const;
  void decide(unsigned index);
  using Moves = llvm::SmallMapVector<unsigned, LayoutEncoding, 8>;
  int64_t gainOf(const Moves &moves);
  std::pair<int64_t, Moves> bestMoves(const Edge &edge, bool isFromStart);
  void moveConversion(const Edge &edge);

  /// The layout implied for the class at the other end if class `index` had `layout`; null where none follows.
  LayoutEncoding across(unsigned index, const Edge &edge, LayoutEncoding layout) const {
    return edge.start == index ? edge.transfer.forward(layout) : edge.transfer.backward(layout);
  }
  uint64_t conversion(const Edge &edge, LayoutEncoding start, LayoutEncoding end) const;

  const LayoutClasses &classes;
  const index::AxisInfoAnalysis &axisInfo;
  ThreadCounts threads;
  MatrixAccesses matrixAccesses;
  MLIRContext *context;
  SmallVector<LayoutEncoding> chosen;
  SmallVector<Candidates> wanted; ///< preferred by each class's accesses, or by those nearest to it
};
} // namespace

LayoutEncoding Chooser::defaultFor(const LayoutClass &of) const {
  const unsigned rank = of.shape.size();
  return defaultBlocked(context, of.shape, SmallVector<unsigned>(rank, 1),
                        llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(0, rank))), threads.numWarps,
                        threads.threadsPerWarp);
}

/// Adds the axes of reductions of a class and of its neighbours.
static void addAxes(const LayoutClasses &classes, const LayoutClass &of, llvm::SmallSetVector<unsigned, 2> &axes) {
  for (Reduction reduction : of.reductions)
    axes.insert(reduction.axis);
  for (unsigned index : of.edges) {
    const Edge &edge = classes.edges()[index];
    if (edge.transfer.kind == LayoutTransfer::Kind::Same)
      for (unsigned end : {edge.start, edge.end})
        for (Reduction reduction : classes.classes()[end].reductions)
          axes.insert(reduction.axis);
  }
}

void Chooser::collectWanted(unsigned index) {
  const LayoutClass &of = classes.classes()[index];
  if (of.accesses.empty())
    return;
  llvm::SmallSetVector<unsigned, 2> axes;
  addAxes(classes, of, axes);
  for (const Access &access : of.accesses) {
    wanted[index].insert(preferredLayout(access.access, axisInfo, threads));
    if (access.access.tile().getRank() > 1)
      for (unsigned axis : axes)
        wanted[index].insert(preferredLayout(access.access, axisInfo, threads, axis));
  }
}

/// A class without accesses wants what its neighbours want; whether that is new.
bool Chooser::passWanted(unsigned index) {
  const LayoutClass &of = classes.classes()[index];
  const size_t before = wanted[index].size();
  for (unsigned edgeIndex : of.edges) {
    const Edge &edge = classes.edges()[edgeIndex];
    const unsigned other = edge.start == index ? edge.end : edge.start;
    for (LayoutEncoding layout : wanted[other].getArrayRef().take_front(kMostPassed))
      if (LayoutEncoding here = other == index ? LayoutEncoding() : across(other, edge, layout))
        if (wanted[index].size() < kMostPassed)
          wanted[index].insert(here);
  }
  return wanted[index].size() > before;
}

/// Passes what accesses prefer through chains of joins, splits and reshapes, whose classes have no accesses of their
/// own: else a class in the middle is decided without a candidate from either end.
void Chooser::spreadWanted() {
  SmallVector<unsigned> inner;
  for (auto [index, of] : llvm::enumerate(classes.classes()))
    if (of.accesses.empty() && !of.fixed)
      inner.push_back(index);
  for (bool isNew = true; isNew;) {
    isNew = false;
    for (unsigned index : inner)
      isNew |= passWanted(index);
  }
}

/// Adds layouts for stores of dots' results whose conversion makes no warp wait for another.
void Chooser::addInWarpsOfResults(unsigned index, Candidates &candidates) {
  const LayoutClass &of = classes.classes()[index];
  for (const Access &access : of.accesses)
    for (unsigned edgeIndex : of.edges) {
      const Edge &edge = classes.edges()[edgeIndex];
      const LayoutEncoding result = chosen[edge.start];
      if (isa<tt::StoreOp, tt::AtomicRMWOp>(access.access.op) && edge.end == index && edge.start != index && result &&
          edge.transfer.kind == LayoutTransfer::Kind::Same && isMatrixInstruction(result))
        if (LayoutEncoding layout = layoutInWarpsOf(result, access.access, axisInfo))
          candidates.insert(layout);
    }
}

/// The fixed layouts that tiles of a class are converted to, directly or after one more class of the same shape.
SmallVector<LayoutEncoding> Chooser::operandsAfter(unsigned index) const {
  SmallVector<LayoutEncoding> layouts;
  auto visit = [&](auto &self, unsigned from, bool isLast) -> void {
    for (unsigned edgeIndex : classes.classes()[from].edges) {
      const Edge &edge = classes.edges()[edgeIndex];
      if (edge.start != from || edge.transfer.kind != LayoutTransfer::Kind::Same)
        continue;
      if (LayoutEncoding fixed = classes.classes()[edge.end].fixed)
        layouts.push_back(fixed);
      else if (!isLast)
        self(self, edge.end, true);
    }
  };
  visit(visit, index, false);
  return layouts;
}

/// Adds layouts in which a thread of a loaded operand holds blocks of elements, several along K: it can then write to
/// shared memory what a lane of the matrix instruction reads as one vector. Instructions that transpose need no such.
void Chooser::wantBlocksOfOperands(unsigned index) {
  if (matrixAccesses.hasLdmatrix || classes.classes()[index].accesses.empty())
    return;
  for (LayoutEncoding operand : operandsAfter(index))
    for (LayoutEncoding layout : llvm::to_vector(wanted[index]))
      if (LayoutEncoding block = blockAlongK(layout, operand, classes.classes()[index].shape, threads))
        wanted[index].insert(block);
}

Candidates Chooser::candidatesOf(unsigned index) {
  const LayoutClass &of = classes.classes()[index];
  Candidates candidates;
  if (of.fixed) {
    candidates.insert(of.fixed);
    return candidates;
  }
  candidates.insert_range(wanted[index]);
  addInWarpsOfResults(index, candidates);
  for (unsigned edgeIndex : of.edges) {
    const Edge &edge = classes.edges()[edgeIndex];
    const unsigned other = edge.start == index ? edge.end : edge.start;
    Candidates offered = wanted[other];
    if (chosen[other])
      offered.insert(chosen[other]);
    for (LayoutEncoding layout : offered)
      if (LayoutEncoding here = across(other, edge, layout))
        candidates.insert(here);
  }
  if (candidates.empty())
    candidates.insert(defaultFor(of));
  return candidates;
}

uint64_t Chooser::ownCost(const LayoutClass &of, LayoutEncoding layout) {
  uint64_t cost = 0;
  for (const Access &access : of.accesses)
    cost += uint64_t(loopWeight(access.loopDepth)) * accessCost(access.access, axisInfo, layout);
  for (Reduction reduction : of.reductions)
    cost += uint64_t(loopWeight(reduction.loopDepth)) * reductionCost(reduction.op, reduction.axis, layout);
  return cost;
}

/// The cost of a conversion on an edge: zero where the end's layout follows from the start's.
uint64_t Chooser::conversion(const Edge &edge, LayoutEncoding start, LayoutEncoding end) const {
  const LayoutEncoding from = edge.transfer.forward(start);
  uint64_t cost = conversionCost(from, end, edge.transfer.to, edge.elementBits, threads);
  if (cost > 0 && !matrixAccesses.hasLdmatrix)
    cost += operandReadCost(from, end, edge.transfer.to);
  return uint64_t(loopWeight(edge.loopDepth)) * cost;
}

uint64_t Chooser::edgeCost(unsigned index, const Edge &edge, LayoutEncoding layout) {
  const bool isStart = edge.start == index;
  const unsigned other = isStart ? edge.end : edge.start;
  auto converted = [&](LayoutEncoding there) {
    return isStart ? conversion(edge, layout, there) : conversion(edge, there, layout);
  };
  if (other == index)
    return converted(layout);
  if (chosen[other])
    return converted(chosen[other]);
  const LayoutClass &neighbour = classes.classes()[other];
  std::optional<uint64_t> best;
  auto consider = [&](LayoutEncoding there) {
    const uint64_t cost = ownCost(neighbour, there) + converted(there);
    best = std::min(best.value_or(cost), cost);
  };
  for (LayoutEncoding there : wanted[other])
    consider(there);
  if (neighbour.fixed)
    consider(neighbour.fixed);
  else if (LayoutEncoding there = across(index, edge, layout))
    consider(there);
  return best.value_or(0);
}

uint64_t Chooser::costOf(unsigned index, LayoutEncoding layout) {
  const LayoutClass &of = classes.classes()[index];
  uint64_t cost = ownCost(of, layout);
  for (unsigned edge : of.edges)
    cost += edgeCost(index, classes.edges()[edge], layout);
  return cost;
}

/// The bytes that cross the class's edges.
uint64_t Chooser::weightOf(unsigned index) const {
  const LayoutClass &of = classes.classes()[index];
  uint64_t weight = 0;
  for (unsigned edgeIndex : of.edges) {
    const Edge &edge = classes.edges()[edgeIndex];
    weight += uint64_t(loopWeight(edge.loopDepth)) * edge.elementBits;
  }
  return weight * llvm::product_of(of.shape);
}

void Chooser::decide(unsigned index) {
  const Candidates candidates = candidatesOf(index);
  LayoutEncoding best = candidates.front();
  if (candidates.size() > 1) {
    uint64_t bestCost = costOf(index, best);
    for (LayoutEncoding candidate : ArrayRef(candidates.getArrayRef()).drop_front())
      if (const uint64_t cost = costOf(index, candidate); cost < bestCost) {
        best = candidate;
        bestCost = cost;
      }
  }
  chosen[index] = best;
}

/// The cost that changing the layouts of these classes saves.
int64_t Chooser::gainOf(const Moves &moves) {
  auto layoutOf = [&](unsigned index) {
    const auto *found = moves.find(index);
    return found == moves.end() ? chosen[index] : found->second;
  };
  int64_t gain = 0;
  llvm::SmallDenseSet<unsigned> counted;
  for (const auto &[index, layout] : moves) {
    const LayoutClass &of = classes.classes()[index];
    gain += int64_t(ownCost(of, chosen[index])) - int64_t(ownCost(of, layout));
    for (unsigned edgeIndex : of.edges) {
      const Edge &edge = classes.edges()[edgeIndex];
      if (counted.insert(edgeIndex).second)
        gain += int64_t(conversion(edge, chosen[edge.start], chosen[edge.end])) -
                int64_t(conversion(edge, layoutOf(edge.start), layoutOf(edge.end)));
    }
  }
  return gain;
}

/// Extends the layout of one end of the edge over the classes after the other end, the nearest first, and returns the
/// extent that gains most.
std::pair<int64_t, Chooser::Moves> Chooser::bestMoves(const Edge &edge, bool isFromStart) {
  const unsigned from = isFromStart ? edge.start : edge.end, to = isFromStart ? edge.end : edge.start;
  std::pair<int64_t, Moves> best;
  Moves moves;
  SmallVector<std::pair<unsigned, LayoutEncoding>> next = {{to, across(from, edge, chosen[from])}};
  for (unsigned position = 0; position < next.size() && moves.size() < kMostMoved; ++position) {
    const auto [index, layout] = next[position];
    const LayoutClass &of = classes.classes()[index];
    if (!layout || layout == chosen[index] || of.fixed || index == from || !moves.insert({index, layout}).second)
      continue;
    if (const int64_t gain = gainOf(moves); gain > best.first)
      best = {gain, moves};
    for (unsigned edgeIndex : of.edges) {
      const Edge &beyond = classes.edges()[edgeIndex];
      if (&beyond != &edge && beyond.start != beyond.end)
        next.emplace_back(beyond.start == index ? beyond.end : beyond.start, across(index, beyond, layout));
    }
  }
  return best;
}

/// Moves a conversion along a chain of classes to where it costs less or is not needed. Deciding classes one by one
/// does not find this: each step of the way only moves the conversion to the next edge.
void Chooser::moveConversion(const Edge &edge) {
  if (conversion(edge, chosen[edge.start], chosen[edge.end]) == 0)
    return;
  auto forward = bestMoves(edge, /*isFromStart=*/true), backward = bestMoves(edge, /*isFromStart=*/false);
  for (const auto &[index, layout] : (forward.first >= backward.first ? forward : backward).second)
    chosen[index] = layout;
}

SmallVector<LayoutEncoding> Chooser::run() {
  SmallVector<std::pair<uint64_t, unsigned>> order;
  for (unsigned index = 0; index < chosen.size(); ++index) {
    collectWanted(index);
    wantBlocksOfOperands(index);
    order.emplace_back(weightOf(index), index);
  }
  spreadWanted();
  llvm::sort(order, [](auto &a, auto &b) { return std::pair(b.first, a.second) < std::pair(a.first, b.second); });
  // In the second round all neighbours are decided.
  for (unsigned round = 0; round < 2; ++round)
    for (auto [weight, index] : order)
      decide(index);
  for (const Edge &edge : classes.edges())
    moveConversion(edge);
  return chosen;
}

SmallVector<LayoutEncoding> ttg::chooseLayouts(const LayoutClasses &classes, const index::AxisInfoAnalysis &axisInfo,
                                               ThreadCounts threads, MatrixAccesses matrixAccesses,
                                               MLIRContext *context) {
  return Chooser(classes, axisInfo, threads, matrixAccesses, context).run();
}
