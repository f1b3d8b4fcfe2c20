// Finds a layout half-way between two others.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Conversion.h"
#include "compiler/layout/SwizzleOrder.h"

#include "llvm/ADT/STLExtras.h"

using namespace nereid;
using namespace nereid::layout;

/// Directions for threads: first those along which both layouts' threads move, then alternately one of each layout.
static BitColumns chooseDirections(BitColumnsRef src, BitColumnsRef dst, unsigned count) {
  BitColumns chosen = intersect(src, dst);
  const BitColumns srcOnly = extend(chosen, src), dstOnly = extend(chosen, dst);
  for (unsigned index = 0; index < std::max(srcOnly.size(), dstOnly.size()); ++index)
    for (BitColumnsRef side : {BitColumnsRef(srcOnly), BitColumnsRef(dstOnly)})
      if (index < side.size())
        chosen.push_back(side[index]);
  chosen.truncate(std::min<size_t>(chosen.size(), count));
  return chosen;
}

LinearLayout layout::intermediateLayout(const LinearLayout &src, const LinearLayout &dst) {
  const unsigned laneBits = src.inBits(kLane), warpBits = src.inBits(kWarp), tileBits = src.totalOutBits();
  BitColumns threads = chooseDirections(threadsOf(src).spanned, threadsOf(dst.transposeOuts(src.outputNames())).spanned,
                                        laneBits + warpBits);
  const BitColumns registers = extend(threads, unitVectors(tileBits));
  threads.resize(laneBits + warpBits, 0); // copies
  LinearLayout::Input inputs[] = {{kRegister.str(), {}}, {kLane.str(), {}}, {kWarp.str(), {}}, {kBlock.str(), {}}};
  for (BitVector basis : registers)
    inputs[0].bases.push_back({int32_t(basis)});
  for (auto [index, basis] : llvm::enumerate(threads))
    inputs[index < laneBits ? 1 : 2].bases.push_back({int32_t(basis)});
  const LinearLayout flat = LinearLayout::fromBases(inputs, {{"x", int32_t(1) << tileBits}});
  llvm::SmallVector<LinearLayout::Named, 4> shape;
  for (llvm::StringRef out : src.outputNames())
    shape.push_back({out, src.outSize(out)});
  return flat.reshapeOuts(shape);
}
