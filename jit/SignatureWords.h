// The words of a hand-written signature: their ends and likely meanings.
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

/// The type that an unknown word denotes elsewhere, or resembles; empty when there is none.
std::string meantType(std::string_view word);

/// Whether it has the form of a Python number.
bool isNumber(std::string_view word);

/// The position after the string literal that begins there; npos when it does not end.
size_t stringEnd(std::string_view text, size_t begin);

/// The position after the bracket that closes the one there; npos when none does.
size_t balancedEnd(std::string_view text, size_t begin);

/// Resolves the escapes of `constexpr<"...">`; false for an unknown one.
bool unescape(std::string_view inner, std::string &out);

} // namespace nereid::jit
