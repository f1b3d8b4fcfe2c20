// Plans reductions along one dimension.
// SPDX-License-Identifier: MIT
//
// The relevant combinations of a thread's bits (register, lane, warp) leave the coordinates of the result unchanged:
// the kernel K of the layout without the axis. Combinations that do not move along the axis either (Z) are copies and
// are not combined. K is split: combinations of register bits are reduced in threads, those with lane bits by
// butterflies, those with warp bits through shared memory.
#include "compiler/layout/Reduction.h"

#include "compiler/layout/Distributed.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace nereid;
using namespace nereid::layout;

namespace {

/// A layout's inputs as one list of bits: registers, lanes, warps.
struct Bits {
  BitColumns coordinates; ///< the tile coordinates of each bit
  BitColumns results;     ///< the coordinates without the axis
  unsigned registers = 0, lanes = 0, warps = 0;

  unsigned inWarp() const { return registers + lanes; }
};

/// Selections of bits that do not move the result, by the level that combines them; no entry holds only copies.
struct Kernel {
  BitColumns inThread, inWarp, acrossWarps;
  BitColumns registerKernel;     ///< register bits alone, with copies
  BitColumns combinedBeforehand; ///< the bits of copies, and those combined before warps are
};

} // namespace

static Bits bitsOf(const LinearLayout &src, unsigned axis) {
  Bits bits;
  llvm::SmallVector<llvm::StringRef, 4> outs = src.outputNames();
  outs.erase(outs.begin() + axis);
  const LinearLayout withoutAxis = src.sublayout(src.inputNames(), outs);
  for (llvm::StringRef in : {llvm::StringRef(kRegister), llvm::StringRef(kLane), llvm::StringRef(kWarp)}) {
    bits.coordinates.append(src.columns(in).begin(), src.columns(in).end());
    bits.results.append(withoutAxis.columns(in).begin(), withoutAxis.columns(in).end());
  }
  bits.registers = src.inBits(kRegister);
  bits.lanes = src.inBits(kLane);
  bits.warps = src.inBits(kWarp);
  return bits;
}

static Kernel kernelOf(const Bits &bits) {
  const BitColumnsRef coordinates(bits.coordinates), results(bits.results);
  Kernel kernel;
  kernel.registerKernel = nullSpace(results.take_front(bits.registers));
  kernel.inThread = extend(nullSpace(coordinates.take_front(bits.registers)), kernel.registerKernel);
  BitColumns done = nullSpace(coordinates.take_front(bits.inWarp()));
  done.append(kernel.registerKernel);
  const BitColumns warpKernel = nullSpace(results.take_front(bits.inWarp()));
  kernel.inWarp = extend(done, warpKernel);
  kernel.combinedBeforehand = nullSpace(coordinates);
  kernel.combinedBeforehand.append(warpKernel);
  kernel.acrossWarps = extend(kernel.combinedBeforehand, nullSpace(results));
  return kernel;
}

/// The registers that distinguish partials: bits whose results are independent of earlier bits.
struct Partials {
  llvm::SmallVector<unsigned, 10> registerBits;
  BitColumns results; ///< of each of those bits

  /// The partial of `result`; it exists.
  uint32_t find(BitVector result) const { return solve(results, result).value_or(0); }
};

static Partials partialsOf(const Bits &bits) {
  Partials partials;
  const uint64_t dependent = dependentColumns(BitColumnsRef(bits.results).take_front(bits.registers));
  for (unsigned bit = 0; bit < bits.registers; ++bit)
    if (!(dependent >> bit & 1)) {
      partials.registerBits.push_back(bit);
      partials.results.push_back(bits.results[bit]);
    }
  return partials;
}

static void groupRegisters(const LinearLayout &src, unsigned axis, const Partials &partials, const Kernel &kernel,
                           ReductionPlan &plan) {
  const LinearLayout alongAxis = src.sublayout(llvm::StringRef(kRegister), src.outputNames()[axis]);
  for (uint32_t partial = 0; partial < uint32_t(1) << partials.registerBits.size(); ++partial) {
    uint32_t base = 0;
    for (auto [index, bit] : llvm::enumerate(partials.registerBits))
      base |= (partial >> index & 1) << bit;
    llvm::SmallVector<uint32_t, 8> &group = plan.groups.emplace_back();
    for (uint64_t member = 0; member < uint64_t(1) << kernel.inThread.size(); ++member)
      group.push_back(base ^ uint32_t(multiply(kernel.inThread, member)));
    llvm::sort(group, [&](uint32_t a, uint32_t b) {
      return alongAxis.applyFlat({{kRegister, int32_t(a)}}) < alongAxis.applyFlat({{kRegister, int32_t(b)}});
    });
  }
}

static void planLanes(const Bits &bits, const Partials &partials, const Kernel &kernel, ReductionPlan &plan) {
  for (uint64_t selection : kernel.inWarp) {
    const uint64_t registers = selection & ((uint64_t(1) << bits.registers) - 1);
    plan.laneSteps.push_back({uint32_t(selection >> bits.registers), partials.find(multiply(bits.results, registers))});
  }
}

/// For each thread bit, the part of a result that it indexes: zero for combinations that are reduced already, a unit
/// vector for each combination that crosses warps, else zero for as many registers and lanes as possible.
static BitColumns partOfBits(const Bits &bits, const Kernel &kernel) {
  BitColumns basis = extend({}, kernel.combinedBeforehand);
  const unsigned before = basis.size();
  basis.append(kernel.acrossWarps);
  basis.append(extend(basis, unitVectors(bits.coordinates.size())));
  const BitSpan span(basis);
  BitColumns parts;
  for (BitVector unit : unitVectors(bits.coordinates.size()))
    parts.push_back(span.express(unit).value_or(0) >> before & ((uint64_t(1) << kernel.acrossWarps.size()) - 1));
  return parts;
}

static constexpr llvm::StringLiteral kResult = "result", kPart = "part";

/// The owner of each part of each result before the exchange: (register, lane, warp) -> (result, part).
static LinearLayout partialLayout(const Bits &bits, const Partials &partials, const Kernel &kernel,
                                  int32_t numResults) {
  const BitColumns parts = partOfBits(bits, kernel);
  auto basis = [&](unsigned bit) { return LinearLayout::Coordinates{int32_t(bits.results[bit]), int32_t(parts[bit])}; };
  LinearLayout::Input registers{kRegister.str(), {}}, lanes{kLane.str(), {}}, warps{kWarp.str(), {}};
  for (unsigned bit : partials.registerBits)
    registers.bases.push_back(basis(bit));
  for (unsigned bit = bits.registers; bit < bits.coordinates.size(); ++bit)
    (bit < bits.inWarp() ? lanes : warps).bases.push_back(basis(bit));
  return LinearLayout::fromBases({registers, lanes, warps},
                                 {{kResult.str(), numResults}, {kPart.str(), int32_t(1) << kernel.acrossWarps.size()}});
}

/// A thread reads at most eight parts of a result if lanes with copies can share the work: eight 32-bit parts are two
/// loads and seven dependent operations; more of them cost more issue slots than a butterfly per doubling.
static constexpr unsigned kMaxFanInBits = 3;

/// The reader of each part of each result: registers index parts before results, and spare lanes the remaining parts.
static LinearLayout gatheredLayout(const LinearLayout &result, unsigned partBits, ReductionExchange &exchange) {
  const LinearLayout flat = result.flattenOuts(kResult);
  llvm::SmallVector<unsigned, 6> spareLanes;
  for (auto [bit, column] : llvm::enumerate(flat.columns(kLane)))
    if (!column)
      spareLanes.push_back(bit);
  const unsigned fanInBits = std::max<int>(std::min(partBits, kMaxFanInBits), int(partBits) - int(spareLanes.size()));
  exchange.fanIn = 1u << fanInBits;
  LinearLayout::Input registers{kRegister.str(), {}}, lanes{kLane.str(), {}}, warps{kWarp.str(), {}};
  for (unsigned part = 0; part < fanInBits; ++part)
    registers.bases.push_back({0, int32_t(1) << part});
  for (BitVector column : flat.columns(kRegister))
    registers.bases.push_back({int32_t(column), 0});
  for (BitVector column : flat.columns(kLane))
    lanes.bases.push_back({int32_t(column), 0});
  for (BitVector column : flat.columns(kWarp))
    warps.bases.push_back({int32_t(column), 0});
  for (unsigned part = fanInBits; part < partBits; ++part) {
    const unsigned bit = spareLanes[part - fanInBits];
    lanes.bases[bit][1] = int32_t(1) << part;
    exchange.laneSteps.push_back({uint32_t(1) << bit, 0});
  }
  return LinearLayout::fromBases({registers, lanes, warps}, {{kResult.str(), int32_t(1) << flat.totalOutBits()},
                                                             {kPart.str(), int32_t(1) << partBits}});
}

static void planExchange(const LinearLayout &held, llvm::ArrayRef<unsigned> operandBits, unsigned partBits,
                         const BankModel &banks, ReductionPlan &plan) {
  const LinearLayout gathered = gatheredLayout(plan.result, partBits, plan.exchange);
  SwizzleOptions options;
  options.maxBytes = ~0u;
  options.banks = banks;
  for (unsigned elemBits : operandBits) {
    ExchangeBuffer &buffer = plan.exchange.operands.emplace_back();
    buffer.byteOffset = llvm::alignTo(plan.bytes, 16);
    buffer.plan = swizzle(held, gathered, elemBits, options);
    plan.bytes = buffer.byteOffset + buffer.plan.bytes;
  }
}

ReductionPlan layout::planReduction(const LinearLayout &src, unsigned axis, llvm::ArrayRef<unsigned> operandBits,
                                    const BankModel &banks) {
  assert(src.isSurjective() && "every element is held");
  ReductionPlan plan;
  plan.result = sliceLayout(src, axis);
  const Bits bits = bitsOf(src, axis);
  const Kernel kernel = kernelOf(bits);
  const Partials partials = partialsOf(bits);
  groupRegisters(src, axis, partials, kernel, plan);
  planLanes(bits, partials, kernel, plan);
  plan.crossesWarps = !kernel.acrossWarps.empty();
  if (plan.crossesWarps) {
    const LinearLayout held = partialLayout(bits, partials, kernel, int32_t(1) << plan.result.totalOutBits());
    planExchange(held, operandBits, kernel.acrossWarps.size(), banks, plan);
    return plan;
  }
  const LinearLayout flat = plan.result.flattenOuts(kResult);
  for (int32_t reg = 0; reg < flat.inSize(kRegister); ++reg)
    plan.resultPartial.push_back(partials.find(flat.applyFlat({{kRegister, reg}})));
  return plan;
}
