// Writes the reports of faults.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Report.h"

#include "runtime/sim/machine/Async.h"
#include "runtime/sim/ptx/Ptx.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace nereid::sim;

static std::string trimmed(const std::string &line) {
  const size_t begin = line.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : line.substr(begin);
}

static std::string ptxLine(const Code &code, const Instruction &instruction) {
  const std::vector<std::string> &lines = code.text->lines;
  const bool isKnown = instruction.line && instruction.line <= lines.size();
  return isKnown ? trimmed(lines[instruction.line - 1]) : "";
}

/// " of device 1" where launches run on several.
static std::string deviceText(const Cluster &cluster) {
  return cluster.launch->hasPeers ? " of device " + std::to_string(cluster.launch->device) : "";
}

static std::string ctaText(const Cta &cta) {
  return "program " + std::to_string(cta.id.x) + ", " + std::to_string(cta.id.y) + ", " + std::to_string(cta.id.z) +
         deviceText(*cta.cluster);
}
std::string nereid::sim::programText(const Cluster &cluster) { return ctaText(cluster.ctas[0]); }

std::string nereid::sim::threadText(const Warp &warp, int lane) {
  return ctaText(*warp.cta) + ", warp " + std::to_string(warp.index) +
         (lane < 0 ? "" : ", lane " + std::to_string(lane));
}

std::string nereid::sim::placeText(const Cluster &cluster, const Instruction &instruction) {
  const SourcePosition position = cluster.code->text->table.positionOf(instruction.line);
  return "at " + (position ? position.text() + ", " : "") + "line " + std::to_string(instruction.line) +
         " of the PTX: " + ptxLine(*cluster.code, instruction);
}

namespace {
/// Neighbouring warps of a CTA that stand at one instruction, for the same reason.
struct WarpRange {
  const Cta *cta;
  const Instruction *instruction;
  std::string missing;
  uint32_t first, last;

  bool takes(const WarpRange &next) const {
    return cta == next.cta && instruction == next.instruction && missing == next.missing && next.first <= last + 1;
  }
  std::string text() const {
    const std::string warps = first == last ? "warp " : "warps " + std::to_string(first) + " to ";
    return "CTA " + std::to_string(cta->rank) + " " + warps + std::to_string(last) + " ";
  }
};
} // namespace

static std::vector<WarpRange> warpRanges(const Cluster &cluster) {
  std::vector<WarpRange> ranges;
  for (const Cta &cta : cluster.ctas)
    for (const Warp &warp : cta.warps)
      for (const Split &split : warp.splits) {
        const Instruction &instruction = cluster.code->instructions[split.pc];
        const std::string missing =
            missingAtMbarrier(warp, split.mask, instruction) + missingAtBarrier(warp, split.mask, instruction);
        const WarpRange next{&cta, &instruction, missing, warp.index, warp.index};
        const auto same = std::ranges::find_if(ranges, [&](const WarpRange &each) { return each.takes(next); });
        if (same == ranges.end())
          ranges.push_back(next);
        else
          same->last = warp.index;
      }
  return ranges;
}

std::string nereid::sim::warpsText(const Cluster &cluster) {
  constexpr size_t kShown = 16;
  const std::vector<WarpRange> ranges = warpRanges(cluster);
  std::string text;
  for (size_t index = 0; index < std::min(ranges.size(), kShown); ++index)
    text += "; " + ranges[index].text() + placeText(cluster, *ranges[index].instruction) +
            (ranges[index].missing.empty() ? "" : " " + ranges[index].missing);
  return ranges.size() > kShown ? text + "; and " + std::to_string(ranges.size() - kShown) + " more" : text;
}

std::string nereid::sim::globalPlaceText(const Launch &launch, uint64_t address) {
  for (const Buffer &buffer : launch.buffers)
    if (buffer.isKnown && address >= buffer.begin && address < buffer.end) {
      const auto offset = int64_t(address - buffer.base), bytes = int64_t{buffer.elementBytes};
      const int64_t element = offset >= 0 ? offset / bytes : -((bytes - 1 - offset) / bytes);
      return "element " + std::to_string(element) + " of `" + buffer.name + "`";
    }
  char text[48];
  std::snprintf(text, sizeof(text), "global memory at 0x%llx", static_cast<unsigned long long>(address));
  return text;
}

//--- reports of sanitizers -----------------------------------------------------------------

/// The source line of a position with a caret below, each with an end of line before it.
static std::string excerpt(const SourcePosition &position) {
  const std::string line = sourceLine(position.file, position.line);
  if (line.empty())
    return "";
  const size_t column = std::min<size_t>(position.column ? position.column - 1 : 0, line.size());
  std::string indent = line.substr(0, column);
  std::replace_if(indent.begin(), indent.end(), [](char c) { return c != '\t'; }, ' ');
  return "\n" + line + (position.column ? "\n" + indent + "^" : "");
}

/// "add.py:9:5: error: text", with its source; "line 53 of the PTX: error: text" where the source is unknown.
static std::string located(const Code &code, const Instruction &instruction, const std::string &kind,
                           const std::string &text) {
  const SourcePosition position = code.text->table.positionOf(instruction.line);
  if (position)
    return position.text() + ": " + kind + ": " + text + excerpt(position);
  return "line " + std::to_string(instruction.line) + " of the PTX: " + kind + ": " + text + "\n    " +
         ptxLine(code, instruction);
}

static std::string sanitizerReport(Warp &warp, const Instruction &instruction, const std::string &code,
                                   const std::string &message, int lane, const std::vector<Note> &notes) {
  const Cluster &cluster = *warp.cta->cluster;
  const Dim &id = warp.cta->id;
  std::string text = located(*cluster.code, instruction, "error", message + " [" + code + "]");
  text += "\nnote: in program (" + std::to_string(id.x) + ", " + std::to_string(id.y) + ", " + std::to_string(id.z) +
          ") of `" + cluster.code->name + "`" + deviceText(cluster) + ", warp " + std::to_string(warp.index) +
          (lane < 0 ? "" : ", lane " + std::to_string(lane));
  text += "\nnote: line " + std::to_string(instruction.line) + " of the PTX: " + ptxLine(*cluster.code, instruction);
  const std::vector<SourcePosition> positions = cluster.code->text->table.positionsOf(instruction.line);
  for (size_t index = 1; index < positions.size(); ++index)
    text += "\n" + positions[index].text() + ": note: called from here" + excerpt(positions[index]);
  for (const Note &note : notes)
    text +=
        "\n" + (note.instruction ? located(note.code ? *note.code : *cluster.code, *note.instruction, "note", note.text)
                                 : "note: " + note.text);
  return text;
}

Step nereid::sim::fail(Warp &warp, const Instruction &instruction, const char *code, std::string text, int lane,
                       const std::vector<Note> &notes) {
  Cluster &cluster = *warp.cta->cluster;
  if (cluster.error)
    return Step::Fail;
  if (std::strncmp(code, "sanitize-", 9) == 0)
    text = sanitizerReport(warp, instruction, code, text, lane, notes);
  else
    text += " (" + threadText(warp, lane) + ") " + placeText(cluster, instruction);
  cluster.error = Error{code, std::move(text)};
  return Step::Fail;
}
