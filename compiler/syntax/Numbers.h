// Python's number literals: their extent, kind, value and errors.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/syntax/Lexer.h"

#include <string>

namespace nereid::syntax {

// CPython's limit for decimal text; applied to every radix here, as conversion is quadratic in the length.
inline constexpr size_t maxIntDigits = 4300;

struct NumberScan {
  TokenKind kind = TokenKind::Int;
  size_t length = 0;
  std::string problem; // empty for a good number; else rule or hint
};
// The number at the front of `text`, which starts with a digit, or with `.` and a digit.
NumberScan scanNumber(llvm::StringRef text);

struct IntText {
  uint8_t radix = 10;
  std::string digits;
};
// Strips prefix and underscores from a valid Int token.
IntText readInt(llvm::StringRef token);

// The value of a valid Float token, or of an Imaginary one without its j. Too large a number becomes infinity, too
// small a number zero, as in Python.
double readFloat(llvm::StringRef token);

} // namespace nereid::syntax
