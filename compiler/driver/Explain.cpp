// Completes a target's explanation by what passes reported, and renders it.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Backend.h"
#include "compiler/lowering/UserPosition.h"

using namespace nereid;
using namespace nereid::driver;

/// The target's findings and those of passes that did not do something.
static explain::Explanation explanationOf(Compilation &work) {
  explain::Explanation explanation = findBackend(work.target.backend)->explainKernel(work);
  work.messages.forEachRemark([&](mlir::Location where, const support::DiagnosticKind &kind, llvm::StringRef text) {
    explain::Finding finding{lowering::userPosition(where), "remark", text.str(), "", kind.code.str()};
    explain::add(explanation, std::move(finding));
  });
  explain::sortByLine(explanation);
  return explanation;
}

mlir::FailureOr<std::string> driver::printExplanation(Compilation &work) {
  return explain::toText(explanationOf(work), work.request.sources);
}

std::vector<View> driver::explanationViews() {
  using Text = mlir::FailureOr<std::string>;
  return {{"lines", printExplanation},
          {"json", [](Compilation &work) -> Text { return explain::toJson(explanationOf(work)); }},
          {"svg", [](Compilation &work) -> Text { return explain::toSvg(explanationOf(work)); }}};
}
