// Shows which thread holds which element of a tile: as text, SVG or HTML.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Layout.h"

#include "llvm/Support/raw_ostream.h"

namespace nereid::tools {

struct Holder {
  unsigned warp = 0, lane = 0, reg = 0;
};

/// All holders of each element, in row-major order of elements, by warp, lane, register.
std::vector<std::vector<Holder>> holdersOf(const layout::LinearLayout &layout);

/// A grid of warp.lane:register for each slab of the last two dims; `+n` counts further copies.
void printElements(const layout::LinearLayout &layout, llvm::raw_ostream &os);
/// The coordinates in each thread's registers.
void printThreads(const layout::LinearLayout &layout, llvm::raw_ostream &os);
/// Grids of coloured cells, a colour for each warp and a shade for each lane.
void drawSvg(const layout::LinearLayout &layout, llvm::raw_ostream &os);
/// The SVG in a page; a cell lists all its holders on hover.
void drawHtml(const layout::LinearLayout &layout, llvm::StringRef title, llvm::raw_ostream &os);

} // namespace nereid::tools
