// Writes an explanation for a terminal: findings below their source lines, loops as lanes over time.
// SPDX-License-Identifier: MIT
#include "compiler/explain/Lanes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::explain;

/// Characters of a lane.
static constexpr uint64_t kColumns = 72;
static constexpr llvm::StringLiteral kMarks = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

static char letterOf(size_t mark) { return mark < kMarks.size() ? kMarks[mark] : '*'; }

/// The text of a line, empty where no source has it.
static llvm::StringRef lineOf(const Sources &sources, const Position &at) {
  for (const auto &file : sources)
    if (file->name() == at.file)
      if (auto offset = file->offset({at.line, file->origin().removedColumns + 1}))
        return file->text(file->lineAround(*offset)).rtrim();
  return "";
}

static void writeFinding(llvm::raw_ostream &os, const Finding &finding) {
  os << "        - " << finding.text;
  if (!finding.code.empty())
    os << " [" << finding.code << "]";
  if (finding.count > 1)
    os << " (" << finding.count << " times in the code)";
  if (finding.cycles)
    os << "; ~" << finding.cycles << " cycles of " << nameOf(finding.unit);
  os << "\n";
  if (!finding.reason.empty())
    os << "          reason: " << finding.reason << "\n";
}

static void writeFindings(llvm::raw_ostream &os, const Explanation &explanation, const Sources &sources) {
  const Position *last = nullptr;
  for (const Finding &finding : explanation.findings) {
    if (!last || !(*last == finding.at)) {
      if (!last || last->file != finding.at.file)
        os << "\n" << (finding.at.file.empty() ? "without a source line" : finding.at.file) << "\n";
      if (finding.at.line)
        os << llvm::format("  %4u  ", finding.at.line) << lineOf(sources, finding.at) << "\n";
    }
    last = &finding.at;
    writeFinding(os, finding);
  }
}

static std::string rowOf(const Lane &lane, const Loop &loop, const Drawing &drawing) {
  std::string row(kColumns, ' ');
  const uint64_t cycles = drawing.timeline.cycles;
  for (const Bar &bar : lane.bars) {
    const char letter = letterOf(drawing.markOf(loop.parts[bar.part].ops[bar.op]));
    const uint64_t begin = bar.begin * kColumns / cycles;
    const uint64_t end = std::clamp<uint64_t>(bar.end * kColumns / cycles, begin + 1, kColumns);
    std::fill(row.begin() + std::min(begin, kColumns - 1), row.begin() + end, letter);
  }
  return row;
}

static void writeLoop(llvm::raw_ostream &os, const Loop &loop, const Explanation &explanation) {
  const Drawing drawing = drawingOf(loop, explanation.roles);
  const Timeline &timeline = drawing.timeline;
  if (drawing.lanes.empty())
    return;
  os << "\nloop at line " << loop.at.line << ": an iteration takes ~" << timeline.cyclesPerIteration << " cycles";
  if (loop.iterationsAhead)
    os << ", loads run up to " << loop.iterationsAhead << " iterations ahead";
  os << "; " << kShownIterations << " iterations, " << llvm::formatv("{0:F0}", double(timeline.cycles) / kColumns)
     << " cycles a column\n";
  for (const Lane &lane : drawing.lanes)
    os << llvm::formatv("  {0,-11} {1,-17} |{2}|\n", lane.role, nameOf(lane.unit), rowOf(lane, loop, drawing));
  for (auto [unit, cycles] : llvm::zip_equal(kUnits, timeline.busy))
    if (cycles)
      os << "  " << nameOf(unit) << ": ~" << cycles << " cycles of an iteration, "
         << 100 * cycles / std::max<uint64_t>(timeline.cyclesPerIteration, 1) << " %\n";
  for (auto [index, mark] : llvm::enumerate(drawing.marks))
    os << "  " << letterOf(index) << " = line " << mark.line << ", " << mark.label << "\n";
}

std::string explain::toText(const Explanation &explanation, const Sources &sources) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << explanation.kernel << " for " << explanation.target;
  if (explanation.warps)
    os << ", " << explanation.warps << " warps, " << explanation.sharedBytes << " bytes of shared memory";
  os << "\n";
  if (explanation.roles.size() > 1)
    for (const Role &role : explanation.roles) {
      os << "  " << role.name << ": warps " << role.firstWarp << " to " << role.firstWarp + role.warps - 1;
      if (role.registers)
        os << ", " << role.registers << " registers";
      os << "\n";
    }
  writeFindings(os, explanation, sources);
  for (const Loop &loop : explanation.loops)
    writeLoop(os, loop, explanation);
  return text;
}
