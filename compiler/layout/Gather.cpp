// Plans the reading of a tile's elements at other places.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Gather.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace nereid;
using namespace nereid::layout;

/// The sum of the bases that `selection` names.
static uint32_t sumOf(llvm::ArrayRef<uint32_t> bases, uint32_t selection) {
  uint32_t sum = 0;
  for (auto [bit, basis] : llvm::enumerate(bases))
    sum ^= selection >> bit & 1 ? basis : 0;
  return sum;
}

ExchangePlan layout::planExchange(const LinearLayout &layout, unsigned axis, uint32_t distance, unsigned elemBits) {
  BitColumns columns;
  for (llvm::StringRef input : {llvm::StringRef(kRegister), llvm::StringRef(kLane), llvm::StringRef(kWarp)})
    columns.append(layout.columns(input).begin(), layout.columns(input).end());
  unsigned below = 0;
  for (llvm::StringRef out : llvm::ArrayRef<llvm::StringRef>(layout.outputNames()).drop_front(axis + 1))
    below += layout.outBits(out);
  const std::optional<uint64_t> selection = solve(columns, BitVector(distance) << below);
  assert(selection && "every element is held");
  const unsigned registers = layout.inBits(kRegister), lanes = layout.inBits(kLane);
  ExchangePlan plan;
  plan.registerXor = *selection & ((uint64_t(1) << registers) - 1);
  plan.laneXor = *selection >> registers & ((uint64_t(1) << lanes) - 1);
  plan.warpXor = *selection >> (registers + lanes);
  if (!plan.crossesWarps())
    return plan;
  plan.shared = swizzle(layout, layout, elemBits);
  const uint32_t other = sumOf(plan.shared.load.laneBases, plan.laneXor) ^ sumOf(plan.shared.load.warpBases, plan.warpXor);
  for (SharedAccess &access : plan.shared.load.accesses)
    access.offset ^= other;
  return plan;
}

/// How many of the first registers lie side by side in the buffer, aligned for every thread, as a binary logarithm.
static unsigned vectorBits(const SharedSide &side, unsigned mostBits) {
  const llvm::ArrayRef<BitVector> registers = side.offsets.columns(kRegister);
  unsigned bits = 0;
  while (bits < registers.size() && bits < mostBits && registers[bits] == uint64_t(1) << bits)
    ++bits;
  for (; bits > 0; --bits) {
    auto fits = [&](uint64_t basis) { return basis % (uint64_t(1) << bits) == 0; };
    if (llvm::all_of(side.laneBases, fits) && llvm::all_of(side.warpBases, fits) &&
        llvm::all_of(registers.drop_front(bits), fits))
      break;
  }
  return bits;
}

SharedSide layout::rowMajorStores(const LinearLayout &layout, unsigned elemBits, const BankModel &banks) {
  SharedSide side;
  side.offsets = layout.flattenOuts(kOffset);
  for (BitVector basis : side.offsets.columns(kLane))
    side.laneBases.push_back(basis);
  for (BitVector basis : side.offsets.columns(kWarp))
    side.warpBases.push_back(basis);
  side.idleLanes = layout.freeVariableMask(kLane);
  side.idleWarps = layout.freeVariableMask(kWarp);
  const uint32_t copies = layout.freeVariableMask(kRegister);
  side.vectorElems = 1u << vectorBits(side, llvm::Log2_32(banks.maxAccessBytes * 8 / std::max(8u, elemBits)));
  for (uint32_t first = 0; first < uint32_t(layout.inSize(kRegister)); first += side.vectorElems) {
    if (first & copies)
      continue;
    SharedAccess access;
    access.offset = side.offsets.applyFlat({{kRegister, int32_t(first)}});
    for (unsigned next = 0; next < side.vectorElems; ++next)
      access.registers.push_back(first + next);
    side.accesses.push_back(std::move(access));
  }
  return side;
}
