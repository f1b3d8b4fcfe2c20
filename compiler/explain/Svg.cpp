// Draws the loops of an explanation as lanes over time.
// SPDX-License-Identifier: MIT
#include "compiler/explain/Lanes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::explain;

static constexpr unsigned kNames = 230, kWidth = 760, kLane = 26, kTitle = 34, kGap = 18;
/// Fills of marks, in turn; distinguishable for the colour-blind (Okabe and Ito).
static constexpr llvm::StringLiteral kFills[] = {"#56b4e9", "#e69f00", "#009e73", "#f0e442",
                                                 "#cc79a7", "#d55e00", "#9bb7d4", "#b5b5b5"};

static std::string escaped(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::printHTMLEscaped(text, os);
  return result;
}

static void writeText(llvm::raw_ostream &os, unsigned x, unsigned y, llvm::StringRef text) {
  os << llvm::formatv("  <text x=\"{0}\" y=\"{1}\">{2}</text>\n", x, y, escaped(text));
}

static void writeBar(llvm::raw_ostream &os, const Bar &bar, const Loop &loop, const Drawing &drawing, unsigned top) {
  const LoopOp &op = loop.parts[bar.part].ops[bar.op];
  const double scale = double(kWidth) / drawing.timeline.cycles;
  const double width = std::max(1.0, (bar.end - bar.begin) * scale);
  const llvm::StringRef fill = kFills[drawing.markOf(op) % std::size(kFills)];
  os << llvm::formatv("  <rect x=\"{0:F1}\" y=\"{1}\" width=\"{2:F1}\" height=\"{3}\" fill=\"{4}\" stroke=\"#fff\">",
                      kNames + bar.begin * scale, top + 3, width, kLane - 6, fill)
     << "<title>"
     << escaped(llvm::formatv("line {0}: {1}, cycles {2} to {3}", op.line, op.label, bar.begin, bar.end).str())
     << "</title></rect>\n";
}

/// Draws one loop below `top`; returns where it ends.
static unsigned writeLoop(llvm::raw_ostream &os, const Loop &loop, const Explanation &explanation, unsigned top) {
  const Drawing drawing = drawingOf(loop, explanation.roles);
  if (drawing.lanes.empty())
    return top;
  writeText(os, 8, top + 22,
            llvm::formatv("{0}, loop at line {1}: {2} iterations of ~{3} cycles", explanation.kernel, loop.at.line,
                          kShownIterations, drawing.timeline.cyclesPerIteration)
                .str());
  top += kTitle;
  for (const Lane &lane : drawing.lanes) {
    writeText(os, 8, top + 18, lane.role + ": " + nameOf(lane.unit).str());
    os << llvm::formatv("  <rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" fill=\"none\" stroke=\"#ccc\"/>\n",
                        kNames, top, kWidth, kLane);
    for (const Bar &bar : lane.bars)
      writeBar(os, bar, loop, drawing, top);
    top += kLane;
  }
  for (size_t mark = 0; mark < drawing.marks.size(); ++mark) {
    os << llvm::formatv("  <rect x=\"{0}\" y=\"{1}\" width=\"12\" height=\"12\" fill=\"{2}\"/>\n", kNames, top + 8,
                        kFills[mark % std::size(kFills)]);
    writeText(os, kNames + 18, top + 18,
              llvm::formatv("line {0}: {1}", drawing.marks[mark].line, drawing.marks[mark].label).str());
    top += 18;
  }
  return top + kGap;
}

std::string explain::toSvg(const Explanation &explanation) {
  std::string body;
  llvm::raw_string_ostream os(body);
  unsigned height = 8;
  for (const Loop &loop : explanation.loops)
    height = writeLoop(os, loop, explanation, height);
  if (body.empty()) {
    writeText(os, 8, height + 22, explanation.kernel + ": no loop with a schedule");
    height += kTitle;
  }
  return llvm::formatv("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                       "font-family=\"sans-serif\" font-size=\"13\">\n"
                       "  <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{2}</svg>\n",
                       kNames + kWidth + 10, height + 8, body)
      .str();
}
