// Plans a conversion through shared memory: each side's accesses, and the cheapest order of the buffer.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Swizzle.h"

#include "compiler/layout/SwizzleOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace nereid;
using namespace nereid::layout;

namespace {
/// Registers whose coordinates are the offset bits of a vector, in order; then registers that span the rest.
struct RegisterBasis {
  llvm::SmallVector<uint32_t, 4> vector;
  llvm::SmallVector<uint32_t, 10> rest;
};

/// The properties that decide between orders; accesses and layout are built for the chosen order only.
struct SideDraft {
  BitColumns registers;
  RegisterBasis basis;
  SharedAccessPattern side;

  unsigned cost() const { return (2 * side.wavefronts + 1) << basis.rest.size(); }
};

/// An order and its cost.
struct Candidate {
  SwizzleOrder order;
  SideDraft store, load;

  unsigned cost() const { return store.cost() + load.cost(); }
};
} // namespace

/// `offsets` are the offsets of the register bits; those in `reached` belong to other threads.
static RegisterBasis chooseRegisters(BitColumnsRef offsets, unsigned vectorBits, BitColumnsRef reached) {
  RegisterBasis basis;
  BitSpan span;
  for (unsigned bit = 0; bit < vectorBits; ++bit) {
    const std::optional<uint64_t> selection = solve(offsets, uint64_t(1) << bit);
    assert(selection && "registers hold the vector");
    basis.vector.push_back(*selection);
    span.insert(uint64_t(1) << bit);
  }
  for (BitVector vector : extend({}, reached))
    span.insert(vector);
  for (auto [bit, offset] : llvm::enumerate(offsets)) {
    if (span.contains(offset))
      continue;
    span.insert(offset);
    const uint64_t inVector = offset & ((uint64_t(1) << vectorBits) - 1);
    uint32_t reg = uint32_t(1) << bit;
    for (unsigned low = 0; low < vectorBits; ++low)
      if (inVector >> low & 1)
        reg ^= basis.vector[low];
    basis.rest.push_back(reg);
  }
  return basis;
}

/// The XOR of the entries in `selection`.
static uint32_t sum(llvm::ArrayRef<uint32_t> entries, uint64_t selection) {
  uint32_t total = 0;
  for (auto [index, entry] : llvm::enumerate(entries))
    if (selection >> index & 1)
      total ^= entry;
  return total;
}

static void makeAccesses(SharedAccessPattern &side, const RegisterBasis &basis) {
  for (uint64_t rest = 0; rest < uint64_t(1) << basis.rest.size(); ++rest) {
    SharedAccess &access = side.accesses.emplace_back();
    const uint32_t base = sum(basis.rest, rest);
    const LinearLayout::Coordinates coordinates = side.offsets.apply({{kRegister, int32_t(base)}});
    access.repetition = coordinates[0];
    access.offset = coordinates[1];
    for (uint64_t element = 0; element < side.vectorElems; ++element)
      access.registers.push_back(base ^ sum(basis.vector, element));
  }
  llvm::sort(side.accesses, [](const SharedAccess &a, const SharedAccess &b) {
    return std::pair(a.repetition, a.registers.front()) < std::pair(b.repetition, b.registers.front());
  });
}

void layout::setWavefronts(SharedAccessPattern &side, unsigned elemBytes, const BankModel &banks) {
  const unsigned accessBytes = std::max(banks.bankBytes, side.vectorElems * elemBytes);
  const unsigned phaseBits = llvm::Log2_32(banks.lineBytes / accessBytes);
  const unsigned inBank = llvm::Log2_32(std::max(1u, accessBytes / elemBytes));
  const BitVector bankMask = (banks.lineBytes / elemBytes - 1) & ~((uint64_t(1) << inBank) - 1);
  BitColumns words, bankParts;
  unsigned phases = 1;
  for (auto [bit, offset] : llvm::enumerate(side.laneBases)) {
    if (side.idleLanes >> bit & 1)
      continue;
    if (bit >= phaseBits) {
      phases *= 2;
      continue;
    }
    words.push_back(offset >> inBank);
    bankParts.push_back(offset & bankMask);
  }
  side.wavefronts = phases << (rank(words) - rank(bankParts));
  side.conflicts = side.wavefronts - phases;
}

static SideDraft draftSide(const TileThreads &threads, const SwizzleRequest &request, const SwizzleOrder &order,
                           bool isStore, const BankModel &banks, unsigned vectorBits) {
  const BitSpan span(order.all());
  auto offsetOf = [&](BitVector column) { return span.express(column).value_or(0); };
  SideDraft draft;
  draft.side.vectorElems = 1u << vectorBits;
  BitColumns threadOffsets;
  for (BitVector column : threads.lanes)
    draft.side.laneBases.push_back(threadOffsets.emplace_back(offsetOf(column)));
  for (BitVector column : threads.warps)
    draft.side.warpBases.push_back(threadOffsets.emplace_back(offsetOf(column)));
  for (BitVector column : threads.registers)
    draft.registers.push_back(offsetOf(column));
  if (isStore) {
    const uint64_t copies = dependentColumns(threadOffsets);
    draft.side.idleLanes = copies & ((uint64_t(1) << threads.lanes.size()) - 1);
    draft.side.idleWarps = copies >> threads.lanes.size();
  }
  draft.basis = chooseRegisters(draft.registers, vectorBits, isStore ? BitColumnsRef(threadOffsets) : BitColumnsRef());
  setWavefronts(draft.side, request.elemBytes, banks);
  return draft;
}

static SharedAccessPattern finishSide(SideDraft draft, unsigned offsetBits, unsigned repetitionBits) {
  const uint64_t offsetMask = (uint64_t(1) << offsetBits) - 1;
  LinearLayout::Input registers{kRegister.str(), {}}, lanes{kLane.str(), {}}, warps{kWarp.str(), {}};
  for (BitVector offset : draft.registers)
    registers.bases.push_back({int32_t(offset >> offsetBits), int32_t(offset & offsetMask)});
  for (uint32_t offset : draft.side.laneBases)
    lanes.bases.push_back({0, int32_t(offset)});
  for (uint32_t offset : draft.side.warpBases)
    warps.bases.push_back({0, int32_t(offset)});
  draft.side.offsets = LinearLayout::fromBases(
      {registers, lanes, warps, {kBlock.str(), {}}},
      {{"repetition", int32_t(1) << repetitionBits}, {kOffset.str(), int32_t(1) << offsetBits}});
  makeAccesses(draft.side, draft.basis);
  return std::move(draft.side);
}

/// The registers that are loaded: the first of each set of copies.
static llvm::SmallVector<uint32_t, 16> findLoaded(BitColumnsRef registers) {
  const uint64_t copies = dependentColumns(registers);
  llvm::SmallVector<uint32_t, 10> ofBit;
  for (auto [bit, column] : llvm::enumerate(registers))
    ofBit.push_back(copies >> bit & 1 ? solve(registers.take_front(bit), column).value_or(0) : uint64_t(1) << bit);
  llvm::SmallVector<uint32_t, 16> loaded;
  for (uint64_t reg = 0; reg < uint64_t(1) << registers.size(); ++reg)
    loaded.push_back(sum(ofBit, reg));
  return loaded;
}

unsigned layout::elementBytes(unsigned elemBits) { return llvm::PowerOf2Ceil(llvm::divideCeil(elemBits, 8)); }

static SwizzleRequest makeRequest(const LinearLayout &src, const LinearLayout &dst, unsigned elemBits,
                                  const SwizzleOptions &options) {
  SwizzleRequest request{threadsOf(src), threadsOf(dst.transposeOuts(src.outputNames())), options.vectorStart,
                         src.totalOutBits()};
  request.elemBytes = elementBytes(elemBits);
  request.lineBits = llvm::Log2_32(options.banks.lineBytes / request.elemBytes);
  request.wordBits = llvm::Log2_32(std::max(1u, options.banks.bankBytes / request.elemBytes));
  request.maxVectorBits = llvm::Log2_32(std::max(1u, options.banks.maxAccessBytes / request.elemBytes));
  while ((uint64_t(request.elemBytes) << request.tileBits) >> request.repetitionBits > options.maxBytes)
    ++request.repetitionBits;
  return request;
}

static std::optional<Candidate> makeCandidate(const SwizzleRequest &request, Widening widening,
                                              const BankModel &banks) {
  std::optional<SwizzleOrder> order = chooseOrder(request, widening);
  if (!order)
    return std::nullopt;
  const unsigned narrow = order->common.size(), wide = narrow + widening.bits;
  SideDraft store = draftSide(request.store, request, *order, true, banks, widening.isStore ? wide : narrow);
  SideDraft load = draftSide(request.load, request, *order, false, banks, widening.isStore ? narrow : wide);
  return Candidate{std::move(*order), std::move(store), std::move(load)};
}

static uint32_t bytesOf(const SwizzleRequest &request, const Candidate &candidate) {
  return request.elemBytes << (request.tileBits - candidate.order.repetitions.size());
}

static Candidate chooseCandidate(const SwizzleRequest &request, const SwizzleOptions &options) {
  std::optional<Candidate> best = makeCandidate(request, {}, options.banks);
  assert(best && "without widening there always is an order");
  // Directions that could serve vectors can serve repetitions instead.
  for (SwizzleRequest narrower = request;
       bytesOf(request, *best) > options.widestBytes && narrower.maxVectorBits-- > 0;) {
    std::optional<Candidate> other = makeCandidate(narrower, {}, options.banks);
    if (other && bytesOf(request, *other) < bytesOf(request, *best))
      best = std::move(other);
  }
  const uint32_t leastBytes = bytesOf(request, *best);
  for (unsigned bits = 1; bits <= request.maxVectorBits; ++bits)
    for (bool isStore : {true, false}) {
      if (!(isStore ? options.mayWidenStores : options.mayWidenLoads))
        continue;
      std::optional<Candidate> other = makeCandidate(request, {isStore, bits}, options.banks);
      const bool isTooLarge = other && bytesOf(request, *other) > std::max(leastBytes, options.widestBytes);
      if (other && !isTooLarge && other->cost() < best->cost())
        best = std::move(other);
    }
  return std::move(*best);
}

SharedPlan layout::swizzle(const LinearLayout &src, const LinearLayout &dst, unsigned elemBits,
                           const SwizzleOptions &options) {
  const SwizzleRequest request = makeRequest(src, dst, elemBits, options);
  Candidate chosen = chooseCandidate(request, options);
  const unsigned repetitionBits = chosen.order.repetitions.size(), offsetBits = request.tileBits - repetitionBits;
  SharedPlan plan;
  plan.elemBytes = request.elemBytes;
  plan.bytes = request.elemBytes << offsetBits;
  plan.repetitions = 1u << repetitionBits;
  plan.store = finishSide(std::move(chosen.store), offsetBits, repetitionBits);
  plan.load = finishSide(std::move(chosen.load), offsetBits, repetitionBits);
  plan.loadedAs = findLoaded(request.load.registers);
  return plan;
}

SharedPlan layout::planCopies(const LinearLayout &layout, unsigned elemBits) {
  SwizzleOptions options;
  options.maxBytes = ~0u; // a single repetition
  return swizzle(layout, layout, elemBits, options);
}
