// Collects findings by line.
// SPDX-License-Identifier: MIT
#include "compiler/explain/Explanation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <tuple>

using namespace nereid;
using namespace nereid::explain;

llvm::StringRef explain::nameOf(Unit unit) {
  switch (unit) {
  case Unit::None:
    return "";
  case Unit::TensorCores:
    return "tensor cores";
  case Unit::MemoryCopies:
    return "memory copies";
  case Unit::SharedMemory:
    return "shared memory";
  case Unit::Alu:
    return "FMA/ALU";
  case Unit::SpecialFunctions:
    return "special functions";
  }
  return "";
}

void explain::add(Explanation &explanation, Finding finding) {
  auto same = llvm::find_if(explanation.findings, [&](const Finding &other) {
    return other.at == finding.at && other.kind == finding.kind && other.text == finding.text &&
           other.reason == finding.reason && other.code == finding.code;
  });
  if (same == explanation.findings.end())
    explanation.findings.push_back(std::move(finding));
  else
    same->count += finding.count;
}

void explain::sortByLine(Explanation &explanation) {
  llvm::StringMap<size_t> countOf;
  for (const Finding &finding : explanation.findings)
    ++countOf[finding.at.file];
  auto keyOf = [&](const Finding &finding) {
    return std::tuple(~countOf.lookup(finding.at.file), finding.at.file, finding.at.line);
  };
  llvm::stable_sort(explanation.findings, [&](const Finding &a, const Finding &b) { return keyOf(a) < keyOf(b); });
}
