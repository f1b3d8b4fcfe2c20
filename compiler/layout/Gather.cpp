// Plans gathers from a tile.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Gather.h"

#include "compiler/layout/SharedAccessPlan.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace nereid;
using namespace nereid::layout;

/// The sum of the bases in `selection`.
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
  const uint32_t other =
      sumOf(plan.shared.load.laneBases, plan.laneXor) ^ sumOf(plan.shared.load.warpBases, plan.warpXor);
  for (SharedAccess &access : plan.shared.load.accesses)
    access.offset ^= other;
  return plan;
}

SharedAccessPattern layout::rowMajorStores(const LinearLayout &layout, unsigned elemBits, const BankModel &banks) {
  llvm::SmallVector<LinearLayout::Named, 4> shape;
  for (llvm::StringRef out : layout.outputNames())
    shape.push_back({out, layout.outSize(out)});
  const LinearLayout buffer =
      LinearLayout::identity1D(int32_t(1) << layout.totalOutBits(), kOffset, "index").reshapeOuts(shape);
  const unsigned bytes = elementBytes(elemBits);
  return planSharedAccesses(layout, buffer, bytes, banks.maxAccessBytes / bytes);
}
