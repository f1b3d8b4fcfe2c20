// The tokens of PTX.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::sim {

enum class TokenKind : uint8_t { Word, Integer, Float32, Float64, Punctuation, String, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text; ///< a word with its dots: "ld.global.v4.b32", ".reg", "%r1"
  uint64_t bits = 0;     ///< of a number
  uint32_t line = 0;
};

/// The tokens of the text, which must outlive them; the last one has kind `End`.
std::vector<Token> tokensOf(std::string_view text);

} // namespace nereid::sim
