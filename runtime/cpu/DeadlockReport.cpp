// Words the report of a deadlock: the lowest program at each place that waits.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/DeadlockReport.h"

#include "runtime/cpu/HostCalls.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace nereid::runtime {

static std::array<uint32_t, 3> idsOf(const Programs &programs, uint64_t id) {
  const uint64_t x = programs.grid[0], y = programs.grid[1];
  return {uint32_t(id % x), uint32_t(id / x % y), uint32_t(id / x / y)};
}

static std::string programText(const Programs &programs, uint64_t id) {
  const auto [x, y, z] = idsOf(programs, id);
  return "program (" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

static std::string siteText(const WaitSite *site) { return *site->text ? std::string(site->text) + ": " : ""; }

/// The lowest program at each site, lowest first.
static std::vector<WaitingProgram> lowestAtSites(std::span<const WaitingProgram> waiting) {
  std::vector<WaitingProgram> lowest;
  for (const WaitingProgram &program : waiting) {
    auto found = std::ranges::find(lowest, program.site, &WaitingProgram::site);
    if (found == lowest.end())
      lowest.push_back(program);
    else
      found->id = std::min(found->id, program.id);
  }
  std::ranges::sort(lowest, {}, &WaitingProgram::id);
  return lowest;
}

void reportDeadlock(const Programs &programs, std::span<const WaitingProgram> waiting, uint64_t notStarted,
                    size_t residents) {
  constexpr size_t kMostSites = 4;
  const std::vector<WaitingProgram> lowest = lowestAtSites(waiting);
  std::string text = siteText(lowest[0].site) + "error: kernel `" + programs.failure->memory.artifact->name +
                     "` cannot go on: " + programText(programs, lowest[0].id) + " waits here" +
                     (waiting.size() > 1 ? ", " + std::to_string(waiting.size() - 1) + " more wait" : "") + "; ";
  text += !notStarted ? "all programs have started"
                      : std::to_string(notStarted) + " of " + std::to_string(programs.total) +
                            " programs have not started, as at most " + std::to_string(residents) + " run at a time";
  text += "; TRITON_CPU_WAIT_LIMIT is how many seconds they may wait";
  for (size_t index = 1; index < std::min(lowest.size(), kMostSites); ++index)
    text += "\n" + siteText(lowest[index].site) + "note: " + programText(programs, lowest[index].id) + " waits here";
  programs.failure->report(idsOf(programs, lowest[0].id).data(), text, "launch-deadlock");
}

} // namespace nereid::runtime
