// The words of a written signature: where they end, and what was meant by them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nereid::jit {

inline constexpr int kMaxTupleDepth = 32; ///< tuples nested deeper are errors
inline constexpr size_t kNone = std::string_view::npos;

inline bool isDigit(char c) { return c >= '0' && c <= '9'; }
inline bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool isName(char c) { return isNameStart(c) || isDigit(c); }
inline bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// The type that an unknown word stands for elsewhere, or resembles; empty when
/// there is none.
std::string_view meantType(std::string_view word);

/// A number as Python writes it; only its form is looked at.
bool isNumber(std::string_view word);

/// Behind the string literal that begins there; npos when it does not end.
size_t stringEnd(std::string_view text, size_t begin);

/// Behind the bracket that closes the one there; npos when none does.
size_t balancedEnd(std::string_view text, size_t begin);

/// Undoes the escapes of `constexpr<"...">`; false for one that it has not.
bool unescape(std::string_view inner, std::string &out);

} // namespace nereid::jit
