// Finds element types by name and by code.
// SPDX-License-Identifier: MIT
#include "artifact/ElementType.h"

#include <algorithm>
#include <array>
#include <bit>

namespace nereid::artifact {

/// Whether `text` is one of the words of `list`, which blanks separate.
static bool isWordOf(std::string_view list, std::string_view text) {
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(' '));
    if (word == text)
      return true;
    list.remove_prefix(std::min(word.size() + 1, list.size()));
  }
  return false;
}

std::optional<ElementType> elementOfSignature(std::string_view text) {
  for (const ElementInfo &info : kElementTypes)
    if (info.signature == text && info.kind != ElementKind::None)
      return info.type;
  if (text == "i1" || text == "B")
    return ElementType::Int1;
  return std::nullopt;
}

std::optional<ElementType> elementNamed(std::string_view text) {
  for (const ElementInfo &info : kElementTypes)
    if (info.kind != ElementKind::None && (info.name == text || isWordOf(info.otherNames, text)))
      return info.type;
  return std::nullopt;
}

static constexpr unsigned kDlpackCodes = 32, kDlpackWidths = 8;

static constexpr size_t dlpackIndex(unsigned code, unsigned bits) {
  return code * kDlpackWidths + static_cast<unsigned>(std::countr_zero(bits));
}

/// Arrays are classified at every launch.
static constexpr auto kByDlpack = [] {
  std::array<ElementType, kDlpackCodes * kDlpackWidths> types{};
  for (const ElementInfo &info : kElementTypes)
    if (info.dlpackCode >= 0)
      types[dlpackIndex(static_cast<unsigned>(info.dlpackCode), info.storageBits())] = info.type;
  return types;
}();

std::optional<ElementType> elementOfDlpack(unsigned code, unsigned bits) {
  if (code >= kDlpackCodes || !std::has_single_bit(bits) || bits >= 1u << kDlpackWidths)
    return std::nullopt;
  const ElementType type = kByDlpack[dlpackIndex(code, bits)];
  return type == ElementType::Void ? std::nullopt : std::optional(type);
}

std::optional<ElementType> integerElement(bool isSigned, unsigned bits) {
  for (const ElementInfo &info : kElementTypes)
    if (info.bits == bits && info.kind == (isSigned ? ElementKind::Signed : ElementKind::Unsigned))
      return info.type;
  return std::nullopt;
}

std::optional<ElementType> elementOfXlaName(std::string_view text) {
  for (const ElementInfo &info : kElementTypes)
    if (info.xlaCode != 0 && info.xlaName == text)
      return info.type;
  return std::nullopt;
}

} // namespace nereid::artifact
