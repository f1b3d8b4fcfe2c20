// Writes an explanation as JSON, with the timelines of its loops.
// SPDX-License-Identifier: MIT
#include "compiler/explain/Timeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::explain;
namespace json = llvm::json;

/// Numbers that are zero and texts that are empty are left out.
static void put(json::Object &object, llvm::StringRef key, uint64_t number) {
  if (number)
    object[key] = static_cast<int64_t>(number);
}

static void put(json::Object &object, llvm::StringRef key, llvm::StringRef text) {
  if (!text.empty())
    object[key] = json::fixUTF8(text);
}

static json::Object write(const Finding &finding) {
  json::Object object;
  put(object, "file", finding.at.file);
  put(object, "line", finding.at.line);
  put(object, "kind", finding.kind);
  put(object, "text", finding.text);
  put(object, "reason", finding.reason);
  put(object, "code", finding.code);
  put(object, "unit", nameOf(finding.unit));
  put(object, "cycles", finding.cycles);
  put(object, "vector_bytes", finding.vectorBytes);
  put(object, "bytes", finding.bytes);
  put(object, "count", finding.count);
  return object;
}

static json::Object write(const Role &role) {
  json::Object object{{"name", role.name}, {"first_warp", role.firstWarp}, {"warps", role.warps}};
  put(object, "registers", role.registers);
  return object;
}

static json::Array writeBars(const Loop &loop, const Timeline &timeline, const Explanation &explanation) {
  json::Array bars;
  for (const Bar &bar : timeline.bars) {
    const LoopOp &op = loop.parts[bar.part].ops[bar.op];
    json::Object object{{"role", explanation.roles[loop.parts[bar.part].role].name},
                        {"unit", nameOf(op.unit)},
                        {"label", op.label},
                        {"iteration", bar.iteration},
                        {"begin", static_cast<int64_t>(bar.begin)},
                        {"end", static_cast<int64_t>(bar.end)}};
    put(object, "line", op.line);
    bars.push_back(std::move(object));
  }
  return bars;
}

static json::Object write(const Loop &loop, const Explanation &explanation) {
  const Timeline timeline = timelineOf(loop);
  json::Object object;
  put(object, "file", loop.at.file);
  put(object, "line", loop.at.line);
  put(object, "iterations_ahead", loop.iterationsAhead);
  put(object, "cycles_per_iteration", timeline.cyclesPerIteration);
  json::Object busy;
  for (auto [unit, cycles] : llvm::zip_equal(kUnits, timeline.busy))
    put(busy, nameOf(unit), cycles);
  object["busy_cycles"] = std::move(busy);
  object["bars"] = writeBars(loop, timeline, explanation);
  return object;
}

std::string explain::toJson(const Explanation &explanation) {
  json::Object object{{"kernel", explanation.kernel}, {"target", explanation.target}};
  put(object, "warps", explanation.warps);
  put(object, "shared_bytes", explanation.sharedBytes);
  json::Array roles, findings, loops;
  for (const Role &role : explanation.roles)
    roles.push_back(write(role));
  for (const Finding &finding : explanation.findings)
    findings.push_back(write(finding));
  for (const Loop &loop : explanation.loops)
    loops.push_back(write(loop, explanation));
  object["roles"] = std::move(roles);
  object["findings"] = std::move(findings);
  object["loops"] = std::move(loops);
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}", json::Value(std::move(object))) << "\n";
  return text;
}
