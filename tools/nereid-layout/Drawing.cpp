// Draws grids of a tile's elements.
// SPDX-License-Identifier: MIT
#include "tools/nereid-layout/Drawing.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace nereid;
using namespace nereid::tools;
using layout::LinearLayout;

/// A tile as slabs of rows and columns: the last dim runs along columns, the one before along rows.
namespace {
struct Grid {
  size_t slabs = 1, rows = 1, columns = 1;
  explicit Grid(const LinearLayout &layout) {
    const auto outputs = layout.outputs();
    const size_t rank = outputs.size();
    for (size_t dim = 0; dim < rank; ++dim)
      (dim + 1 == rank ? columns : dim + 2 == rank ? rows : slabs) *= outputs[dim].size;
  }
  size_t element(size_t slab, size_t row, size_t column) const { return (slab * rows + row) * columns + column; }
};
} // namespace

std::vector<std::vector<Holder>> tools::holdersOf(const LinearLayout &layout) {
  std::vector<std::vector<Holder>> holders(size_t(1) << layout.totalOutBits());
  const unsigned numWarps = layout.inSize("warp"), numLanes = layout.inSize("lane"),
                 numRegisters = layout.inSize("register");
  for (unsigned warp = 0; warp < numWarps; ++warp)
    for (unsigned lane = 0; lane < numLanes; ++lane)
      for (unsigned reg = 0; reg < numRegisters; ++reg)
        holders[layout.applyFlat({{"register", int(reg)}, {"lane", int(lane)}, {"warp", int(warp)}})].push_back(
            {warp, lane, reg});
  return holders;
}

static std::string nameOf(const Holder &holder) {
  return llvm::formatv("w{0}.{1}:{2}", holder.warp, holder.lane, holder.reg).str();
}

static std::string cellText(const std::vector<Holder> &holders) {
  std::string text = nameOf(holders.front());
  if (holders.size() > 1)
    text += "+" + std::to_string(holders.size() - 1);
  return text;
}

/// `[3, :, :]` of a slab; empty where there is one slab.
static std::string slabTitle(const LinearLayout &layout, size_t slab) {
  const auto outputs = layout.outputs();
  if (outputs.size() < 3)
    return "";
  std::string title;
  for (size_t dim = outputs.size() - 2; dim-- > 0; slab /= outputs[dim].size)
    title = std::to_string(slab % outputs[dim].size) + ", " + title;
  return "[" + title + ":, :]";
}

void tools::printElements(const LinearLayout &layout, llvm::raw_ostream &os) {
  const Grid grid(layout);
  const auto holders = holdersOf(layout);
  size_t width = 0;
  for (const std::vector<Holder> &cell : holders)
    width = std::max(width, cellText(cell).size());
  for (size_t slab = 0; slab < grid.slabs; ++slab) {
    if (const std::string title = slabTitle(layout, slab); !title.empty())
      os << title << "\n";
    for (size_t row = 0; row < grid.rows; ++row)
      for (size_t column = 0; column < grid.columns; ++column) {
        const std::string text = cellText(holders[grid.element(slab, row, column)]);
        if (column + 1 == grid.columns)
          os << text << "\n";
        else
          os << llvm::left_justify(text, width + 1);
      }
  }
}

void tools::printThreads(const LinearLayout &layout, llvm::raw_ostream &os) {
  for (int warp = 0; warp < layout.inSize("warp"); ++warp)
    for (int lane = 0; lane < layout.inSize("lane"); ++lane) {
      os << llvm::formatv("w{0}.{1}:", warp, lane);
      for (int reg = 0; reg < layout.inSize("register"); ++reg) {
        os << " (";
        llvm::interleaveComma(layout.apply({{"register", reg}, {"lane", lane}, {"warp", warp}}), os);
        os << ")";
      }
      os << "\n";
    }
}

static constexpr unsigned kCellWidth = 64, kCellHeight = 20, kTitleHeight = 24;

/// A hue per warp, light to dark by lane.
static std::string colourOf(const Holder &holder, unsigned numWarps, unsigned numLanes) {
  const unsigned hue = 360 * holder.warp / numWarps + 200;
  const unsigned light = 92 - 40 * holder.lane / numLanes;
  return llvm::formatv("hsl({0}, 60%, {1}%)", hue % 360, light).str();
}

static void drawCell(const std::vector<Holder> &cell, size_t x, size_t y, const LinearLayout &layout,
                     llvm::raw_ostream &os) {
  std::string all;
  for (const Holder &holder : cell)
    all += (all.empty() ? "" : " ") + nameOf(holder);
  os << llvm::formatv("<g><title>{0}</title><rect x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\" fill=\"{5}\"/>"
                      "<text x=\"{6}\" y=\"{7}\">{8}</text></g>\n",
                      all, x, y, kCellWidth, kCellHeight,
                      colourOf(cell.front(), layout.inSize("warp"), layout.inSize("lane")), x + kCellWidth / 2,
                      y + kCellHeight - 6, cellText(cell));
}

void tools::drawSvg(const LinearLayout &layout, llvm::raw_ostream &os) {
  const Grid grid(layout);
  const auto holders = holdersOf(layout);
  const size_t slabHeight = grid.rows * kCellHeight + kTitleHeight;
  // The URI of SVG's namespace, split in two: it is not a link.
  os << llvm::formatv("<svg xmlns=\"http:"
                      "//www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                      "font-family=\"monospace\" font-size=\"10\" text-anchor=\"middle\" stroke-width=\"0.3\">\n"
                      "<style>rect {{ stroke: #555 }</style>\n",
                      grid.columns * kCellWidth + 2, grid.slabs * slabHeight + 2);
  for (size_t slab = 0; slab < grid.slabs; ++slab) {
    const size_t top = slab * slabHeight;
    os << llvm::formatv("<text x=\"4\" y=\"{0}\" text-anchor=\"start\">{1}</text>\n", top + kTitleHeight - 8,
                        slabTitle(layout, slab));
    for (size_t row = 0; row < grid.rows; ++row)
      for (size_t column = 0; column < grid.columns; ++column)
        drawCell(holders[grid.element(slab, row, column)], 1 + column * kCellWidth,
                 top + kTitleHeight + row * kCellHeight, layout, os);
  }
  os << "</svg>\n";
}

static std::string escaped(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

void tools::drawHtml(const LinearLayout &layout, llvm::StringRef title, llvm::raw_ostream &os) {
  os << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" << escaped(title)
     << "</title></head>\n<body style=\"font-family: sans-serif\">\n<h1 style=\"font-size: 16px\">" << escaped(title)
     << "</h1>\n<p>warp.lane:register, +copies. Point at a cell for all of its holders.</p>\n";
  drawSvg(layout, os);
  os << "</body></html>\n";
}
