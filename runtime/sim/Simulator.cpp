// Puts a simulation together: the opcodes of all units, the counters and checks of a launch.
// SPDX-License-Identifier: MIT
#include "runtime/sim/Simulator.h"

#include "runtime/sim/amd/Instructions.h"
#include "runtime/sim/checks/Checks.h"
#include "runtime/sim/counters/Counting.h"
#include "runtime/sim/machine/Module.h"
#include "runtime/sim/units/Opcodes.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::sim;

//--- modules -------------------------------------------------------------------------------

static const OpcodeTable &allOpcodes() {
  static const OpcodeTable table = [] {
    OpcodeTable all;
    addUnitOpcodes(all);
    addAmdOpcodes(all);
    return all;
  }();
  return table;
}

Expected<std::shared_ptr<const Module>> nereid::sim::parse(std::string_view ptx) {
  return parseModule(ptx, allOpcodes());
}

static std::optional<Dim> dimOf(const uint32_t (&extents)[3]) {
  return extents[0] ? std::optional<Dim>({extents[0], extents[1], extents[2]}) : std::nullopt;
}

std::vector<Entry> nereid::sim::entriesOf(const Module &module) {
  std::vector<Entry> result;
  for (const Function &function : module.state.text.functions) {
    if (!function.isEntry || !function.hasBody)
      continue;
    Entry &entry = result.emplace_back(Entry{function.name, {}, dimOf(function.block), dimOf(function.cluster)});
    for (const Variable &param : function.params)
      entry.params.push_back({param.name, param.type, uint32_t(param.bytes), param.align});
  }
  return result;
}

bool nereid::sim::hasVariables(const Module &module) { return !module.state.variables.empty(); }

//--- launches ------------------------------------------------------------------------------

std::optional<uint32_t> nereid::sim::checksOf(std::string_view words) {
  std::string reason;
  const auto set = artifact::parseSanitizers(words, reason);
  return set && !(*set & ~artifact::kSimulatorSanitizers) ? set : std::nullopt;
}

namespace {
/// Launches that run together, with what observes them.
class LaunchSet {
public:
  explicit LaunchSet(std::span<const Request> requests);
  Outcome run();

private:
  struct Part {
    const Code *code = nullptr; ///< null: there is no such entry
    Launch launch;
    std::unique_ptr<LaunchCounts> counts;
  };
  void observe(Part &part);

  std::vector<Part> parts;
  std::shared_ptr<GridAccesses> accesses = makeGridAccesses();
};
} // namespace

LaunchSet::LaunchSet(std::span<const Request> requests) : parts(requests.size()) {
  uint32_t firstCluster = 0;
  for (size_t index = 0; index < parts.size(); ++index) {
    Part &part = parts[index];
    const auto &entries = requests[index].module.state.entries;
    auto found = entries.find(requests[index].launch.entry);
    part.code = found == entries.end() ? nullptr : &found->second;
    part.launch = requests[index].launch;
    part.launch.firstCluster = firstCluster;
    part.launch.hasPeers = parts.size() > 1;
    firstCluster += uint32_t(part.launch.grid.count());
    if (part.code)
      observe(part);
  }
}

void LaunchSet::observe(Part &part) {
  Launch &launch = part.launch;
  part.counts = std::make_unique<LaunchCounts>(*part.code);
  if (launch.wantsCounters)
    launch.observers.insert(launch.observers.begin(),
                            [counts = part.counts.get()](Cluster &) { return makeCounter(*counts); });
  for (MakeObserver &make : makersOf(launch.checks, accesses))
    launch.observers.push_back(std::move(make));
  if (launch.checks & (artifact::Race | artifact::Sync))
    launch.threads = 1;
}

Outcome LaunchSet::run() {
  std::vector<GridLaunch> grids;
  for (const Part &part : parts) {
    if (!part.code)
      return {{}, Error{"sim-launch", "the PTX has no entry `" + part.launch.entry + "`"}, grids.size()};
    grids.push_back({*part.code, part.launch});
  }
  GridResults done = runGrids(grids);
  if (done.error)
    return {{}, std::move(done.error), done.failed};
  Outcome outcome;
  for (size_t index = 0; index < parts.size(); ++index) {
    Counters &counters = outcome.counters.emplace_back();
    counters.threadInstructions = done.threadInstructions[index];
    if (parts[index].launch.wantsCounters && parts[index].launch.grid.count())
      parts[index].counts->finish(counters);
  }
  return outcome;
}

Outcome nereid::sim::runTogether(std::span<const Request> requests) { return LaunchSet(requests).run(); }

Expected<Counters> nereid::sim::run(const Module &module, const Launch &launch) {
  const Request request{module, launch};
  Outcome outcome = runTogether({&request, 1});
  if (outcome.error)
    return std::move(*outcome.error);
  return std::move(outcome.counters.front());
}
