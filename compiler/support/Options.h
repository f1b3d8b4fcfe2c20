// The options of a compilation, as the compiler reads them, and the table that describes them.
// SPDX-License-Identifier: MIT
#pragma once

#include <nereid/Options.h>

namespace nereid::support {

using nereid::ExternLibrary;

/// A set of artifact::Sanitizer, of artifact/Sanitizers.h.
struct SanitizerSet {
  uint32_t bits = 0;

  constexpr SanitizerSet(uint32_t bits = 0) : bits(bits) {}
  constexpr operator uint32_t() const { return bits; }
};

namespace option_kinds {
using namespace nereid::option_kinds;
using Sanitizers = SanitizerSet;
} // namespace option_kinds

/// Launch and compile options. Targets ignore those without meaning for them.
struct Options {
#define NEREID_OPTION(field, Kind, otherwise, python, flag, inKey, stored, help) option_kinds::Kind field = otherwise;
#include <nereid/Options.def>

  bool operator==(const Options &) const = default;
};

enum class OptionKind : uint8_t { Number, Flag, Choice, Text, Path, Names, Libraries, Sanitizers };
enum class OptionStored : uint8_t { Always, OrNull, IfSet, Never };

/// A row of Options.def.
struct OptionRow {
  OptionKind kind;
  const char *python;
  const char *flag;
  bool isInKey;
  OptionStored stored;
  const char *help;
};

/// Calls `visit(row, field...)` for every option, with its field in each of the structures.
template <typename Visit, typename... Structures> void forEachOption(Visit visit, Structures &&...structures) {
#define NEREID_OPTION(field, kind, otherwise, python, flag, inKey, stored, help)                                       \
  visit(OptionRow{OptionKind::kind, python, flag, inKey, OptionStored::stored, help}, structures.field...);
#include <nereid/Options.def>
}

} // namespace nereid::support
