// Character classes of Python names; those beyond ASCII use generated tables.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Characters.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/UnicodeCharRanges.h"

#include "compiler/syntax/UnicodeTables.inc"

namespace nereid::syntax {

Character firstCharacter(llvm::StringRef text) {
  auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80)
    return {first, 1};
  const auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  const auto *cursor = begin;
  llvm::UTF32 codepoint = 0;
  if (llvm::convertUTF8Sequence(&cursor, begin + text.size(), &codepoint, llvm::strictConversion) != llvm::conversionOK)
    return {first, 0};
  return {codepoint, static_cast<uint32_t>(cursor - begin)};
}

static bool isNameStart(uint32_t codepoint) {
  static const llvm::sys::UnicodeCharSet set(nameStartRanges);
  return set.contains(codepoint);
}

static bool isNameContinue(uint32_t codepoint) {
  static const llvm::sys::UnicodeCharSet set(nameContinueRanges);
  return set.contains(codepoint);
}

bool canStartName(uint32_t codepoint) {
  if (codepoint < 0x80)
    return llvm::isAlpha(static_cast<char>(codepoint)) || codepoint == '_';
  return isNameStart(codepoint);
}

bool canContinueName(uint32_t codepoint) {
  if (codepoint < 0x80)
    return llvm::isAlnum(static_cast<char>(codepoint)) || codepoint == '_';
  return isNameStart(codepoint) || isNameContinue(codepoint);
}

bool isNotNormalized(uint32_t codepoint) {
  static const llvm::sys::UnicodeCharSet set(notNormalizedRanges);
  return codepoint >= 0x80 && set.contains(codepoint);
}

size_t nameLength(llvm::StringRef text) {
  size_t length = 0;
  while (length < text.size()) {
    Character next = firstCharacter(text.substr(length));
    if (next.byteCount == 0 || !(length == 0 ? canStartName(next.codepoint) : canContinueName(next.codepoint)))
      break;
    length += next.byteCount;
  }
  return length;
}

void appendUtf8(uint32_t codepoint, std::string &out) {
  auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  auto putTail = [&](unsigned shift) { put(0x80 | ((codepoint >> shift) & 0x3F)); };
  if (codepoint < 0x80)
    return put(codepoint);
  if (codepoint < 0x800) {
    put(0xC0 | (codepoint >> 6));
    return putTail(0);
  }
  if (codepoint < 0x10000) {
    put(0xE0 | (codepoint >> 12));
    putTail(6);
    return putTail(0);
  }
  put(0xF0 | (codepoint >> 18));
  putTail(12);
  putTail(6);
  putTail(0);
}

} // namespace nereid::syntax
