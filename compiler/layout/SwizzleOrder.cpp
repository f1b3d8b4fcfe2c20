// Chooses the order of elements in a shared-memory buffer.
// SPDX-License-Identifier: MIT
//
// The buffer's offset bits, from the least significant: a vector that both sides have in registers (V), one side's
// further vector bits (X), the remaining bits of a bank's word (N), banks, segments (S: lines of all banks),
// repetitions. Every bit is a direction in the tile. Two lanes of one phase conflict where they differ in S and in
// nothing else but V, X, N; so S and N avoid the span of either side's lanes. A phase's span has at most as many
// dimensions as there are banks, therefore such S and N exist: directions that neither side's lanes span, and sums of a
// direction of one side and one of the other. The sums are the XOR of a swizzle.
#include "compiler/layout/SwizzleOrder.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::layout;

static BitColumns join(std::initializer_list<BitColumnsRef> parts) {
  BitColumns all;
  for (BitColumnsRef part : parts)
    all.append(part.begin(), part.end());
  return all;
}

static BitColumns first(BitColumns columns, unsigned count) {
  columns.truncate(std::min<size_t>(columns.size(), count));
  return columns;
}

TileThreads layout::threadsOf(const LinearLayout &layout) {
  TileThreads threads;
  threads.registers = BitColumns(layout.columns(kRegister));
  threads.lanes = BitColumns(layout.columns(kLane));
  threads.warps = BitColumns(layout.columns(kWarp));
  threads.spanned = extend({}, join({threads.lanes, threads.warps}));
  return threads;
}

BitColumns SwizzleOrder::all() const { return join({common, widened, inWord, banks, segments, repetitions}); }

/// The span of the lanes of a phase; more lanes join while there are banks for them.
static BitColumns phaseOf(const TileThreads &threads, const SwizzleRequest &request, unsigned vectorBits) {
  return first(extend({}, threads.lanes), request.lineBits - std::max(vectorBits, request.wordBits));
}

/// N and S without widening: they avoid both phases inside `space`, which contains the span of all threads.
static BitColumns segmentsOfEqualWidths(BitColumnsRef space, BitColumnsRef storePhase, BitColumnsRef loadPhase,
                                        unsigned count) {
  const BitColumns both = intersect(storePhase, loadPhase);
  const BitColumns storeOnly = extend(both, storePhase), loadOnly = extend(both, loadPhase);
  BitColumns segments = extend(join({storePhase, loadPhase}), space);
  for (auto [a, b] : llvm::zip(storeOnly, loadOnly))
    segments.push_back(a ^ b);
  return first(segments, count);
}

namespace {
/// Chooses directions for N and S that keep the wide side's threads independent of X.
class SegmentSearch {
public:
  SegmentSearch(BitColumnsRef wide, const TileThreads &wideThreads, BitColumnsRef wideSpan, BitColumnsRef narrowSpan,
                unsigned count)
      : wideThreads(wideThreads.spanned), withWide(extend({}, join({wide, wideThreads.spanned}))),
        wideTaken(extend({}, wideSpan)), narrowTaken(extend({}, narrowSpan)), count(count) {}

  void take(BitColumnsRef candidates, bool mayConflict) {
    for (BitVector vector : candidates) {
      if (segments.size() == count)
        return;
      const bool isAligned = wideThreads.contains(vector) || !withWide.contains(vector);
      const bool isFree = !wideTaken.contains(vector) && !narrowTaken.contains(vector);
      if (taken.contains(vector) || !isAligned || !(isFree || mayConflict))
        continue;
      for (BitSpan *span : {&taken, &wideThreads, &withWide, &wideTaken, &narrowTaken})
        if (!span->contains(vector))
          span->insert(vector);
      segments.push_back(vector);
    }
  }
  BitColumns segments;

private:
  /// The span of the chosen directions, together with: the wide side's threads, the same and X, either side's phase.
  BitSpan taken, wideThreads, withWide, wideTaken, narrowTaken;
  unsigned count;
};
} // namespace

/// N and S with widening by `wide`, by trial. Directions that cause conflicts come last. `narrowSpan` contains the
/// narrow side's phase and the part of X inside a word.
static BitColumns segmentsOfWidening(BitColumnsRef space, BitColumnsRef wide, const TileThreads &wideThreads,
                                     BitColumnsRef widePhase, BitColumnsRef narrowSpan, unsigned count) {
  const BitColumns wideSpan = join({wide, widePhase});
  SegmentSearch search(wide, wideThreads, wideSpan, narrowSpan, count);
  search.take(extend(join({wideSpan, narrowSpan}), space), false);
  for (BitVector a : wideSpan)
    for (BitVector b : narrowSpan)
      search.take(a ^ b, false);
  search.take(space, true);
  return search.segments;
}

/// The registers' directions with no part in `common`, given a complement of it that contains the span of all threads.
static BitColumns besideCommon(BitColumnsRef registers, BitColumnsRef common, BitColumnsRef spanned,
                               unsigned tileBits) {
  const BitSpan span(join({common, extend(common, join({spanned, unitVectors(tileBits)}))}));
  BitColumns result;
  for (BitVector reg : registers)
    result.push_back(reg ^ multiply(common, span.express(reg).value_or(0) & ((uint64_t(1) << common.size()) - 1)));
  return result;
}

/// V: registers on both sides along which no thread bit moves; single registers come first.
static BitColumns chooseCommon(const SwizzleRequest &request, BitColumnsRef spanned) {
  BitColumns candidates = request.vectorStart;
  const BitSpan loadRegisters(extend({}, request.load.registers));
  for (BitVector vector : request.store.registers)
    if (loadRegisters.contains(vector))
      candidates.push_back(vector);
  candidates.append(intersect(request.store.registers, request.load.registers));
  return first(extend(spanned, candidates), request.maxVectorBits);
}

/// Chooses N, S and banks in `space`, which is a complement of V and the repetitions. False where X does not fit.
static bool chooseBanks(const SwizzleRequest &request, Widening widening, BitColumnsRef space, SwizzleOrder &order) {
  const TileThreads &wide = widening.isStore ? request.store : request.load;
  const TileThreads &narrow = widening.isStore ? request.load : request.store;
  const unsigned commonBits = order.common.size(), vectorBits = commonBits + widening.bits;
  const unsigned bankBits = request.lineBits - std::max(vectorBits, request.wordBits);
  const unsigned besideVector = space.size() - widening.bits,
                 besideBanks = besideVector - std::min(besideVector, bankBits);
  const BitColumns widePhase = phaseOf(wide, request, vectorBits), narrowPhase = phaseOf(narrow, request, commonBits);
  const BitColumns widenedInWord = first(order.widened, request.wordBits - std::min(request.wordBits, commonBits));
  const BitColumns segments = widening.bits ? segmentsOfWidening(space, order.widened, wide, widePhase,
                                                                 join({widenedInWord, narrowPhase}), besideBanks)
                                            : segmentsOfEqualWidths(space, widePhase, narrowPhase, besideBanks);
  if (segments.size() < besideBanks)
    return false;
  order.inWord = first(segments, request.wordBits - std::min(request.wordBits, vectorBits));
  order.segments.assign(segments.begin() + order.inWord.size(), segments.end());
  // The remaining directions, such that the wide side's threads have no part in X.
  const BitColumns besides = extend(join({order.widened, segments, wide.spanned}), join({narrowPhase, space}));
  order.banks = extend(segments, join({wide.spanned, besides}));
  return true;
}

std::optional<SwizzleOrder> layout::chooseOrder(const SwizzleRequest &request, Widening widening) {
  const TileThreads &wide = widening.isStore ? request.store : request.load;
  const BitColumns spanned = join({request.store.spanned, request.load.spanned});
  SwizzleOrder order;
  order.common = chooseCommon(request, spanned);
  if (order.common.size() + widening.bits > request.maxVectorBits)
    return std::nullopt;
  const BitColumns registers = besideCommon(wide.registers, order.common, spanned, request.tileBits);
  order.widened = first(extend(join({wide.spanned, order.common}), registers), widening.bits);
  if (order.widened.size() < widening.bits)
    return std::nullopt;
  // Directions along which no thread bit moves may become repetitions.
  BitColumns free = extend(join({order.common, order.widened, spanned}), unitVectors(request.tileBits));
  order.repetitions.assign(free.end() - std::min<size_t>(request.repetitionBits, free.size()), free.end());
  free.truncate(free.size() - order.repetitions.size());
  const BitColumns space = extend({}, join({order.widened, spanned, free}));
  return chooseBanks(request, widening, space, order) ? std::optional(std::move(order)) : std::nullopt;
}
