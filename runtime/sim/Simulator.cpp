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

//--- launches ------------------------------------------------------------------------------

std::optional<uint32_t> nereid::sim::checksOf(std::string_view words) {
  std::string reason;
  const auto set = artifact::parseSanitizers(words, reason);
  return set && !(*set & ~artifact::kSimulatorSanitizers) ? set : std::nullopt;
}

Expected<Counters> nereid::sim::run(const Module &module, const Launch &request) {
  auto found = module.state.entries.find(request.entry);
  if (found == module.state.entries.end())
    return Error{"sim-launch", "the PTX has no entry `" + request.entry + "`"};
  const Code &code = found->second;
  LaunchCounts counts(code);
  Launch launch = request;
  if (launch.wantsCounters)
    launch.observers.insert(launch.observers.begin(), [&counts](Cluster &) { return makeCounter(counts); });
  for (MakeObserver &make : makersOf(launch.checks))
    launch.observers.push_back(std::move(make));
  if (launch.checks & (artifact::Race | artifact::Sync))
    launch.threads = 1;
  auto done = runGrid(code, launch);
  if (!done)
    return done.error();
  Counters counters;
  counters.threadInstructions = *done;
  if (launch.wantsCounters && launch.grid.count())
    counts.finish(counters);
  return counters;
}
