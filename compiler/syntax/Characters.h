// The characters of Python names, and decoding of one UTF-8 character of a text.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace nereid::syntax {

struct Character {
  uint32_t codepoint = 0;
  uint32_t byteCount = 0; // 0 where the bytes are not valid UTF-8
};

// The first character of a non-empty text.
Character firstCharacter(llvm::StringRef text);

bool canStartName(uint32_t codepoint);
bool canContinueName(uint32_t codepoint);
// Whether NFKC, in which Python reads names, changes the character.
bool isNotNormalized(uint32_t codepoint);

// The number of bytes at the front of `text` that form a name; 0 if there is none.
size_t nameLength(llvm::StringRef text);

// UTF-8 of a code point; a surrogate becomes three bytes, like other code points of its range.
void appendUtf8(uint32_t codepoint, std::string &out);

} // namespace nereid::syntax
