// Python's string literals: prefix and quotes of a token, and its value with escapes resolved.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

#include <string>

namespace nereid::syntax {

struct StringForm {
  bool isRaw = false;
  bool isBytes = false;
  uint32_t prefixBytes = 0; // prefix and opening quote
  uint32_t quoteBytes = 0;
};
StringForm stringForm(llvm::StringRef token);

enum class BraceRule : uint8_t { Keep, Collapse }; // `{{` in the text of an f-string stands for `{`

// The value of the text between the quotes. False where an error was reported.
bool decodeString(const support::SourceFile &file, support::SourceRange contents, StringForm form, BraceRule braces,
                  support::DiagnosticEngine &diagnostics, std::string &value);

} // namespace nereid::syntax
