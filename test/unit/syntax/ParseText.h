// Parses a text for a test and keeps everything that the tree refers to.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/syntax/Parser.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <string>

namespace nereid::syntax {

struct ParsedText {
  explicit ParsedText(std::string text, support::SourceOrigin origin = {})
      : file("k.py", std::move(text), origin), module(parseModule(file, context, diagnostics)) {}

  // The value of the only statement, `x = value` or `value`.
  const Expr *value() const {
    if (!module) {
      ADD_FAILURE() << "wrong text in the test:\n" << diagnostics.render();
      std::abort();
    }
    if (const auto *assign = llvm::dyn_cast<Assign>(module->body.front()))
      return assign->value;
    return llvm::cast<ExprStmt>(module->body.front())->value;
  }
  // The codes of all messages, in order.
  std::vector<std::string> codes() const {
    std::vector<std::string> codes;
    for (const support::Diagnostic &diagnostic : diagnostics.all())
      codes.push_back(diagnostic.code().str());
    return codes;
  }

  support::SourceFile file;
  AstContext context;
  support::DiagnosticEngine diagnostics;
  const Module *module;
};

using Codes = std::vector<std::string>;

} // namespace nereid::syntax
