// Instructions of lanes as a table: opcode, modifiers and type of a statement choose the function of one lane.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Decode.h"

namespace nereid::sim {

/// Decodes a statement whose operands are those of the function of one lane.
template <auto Function> void decodeLanes(Decoder &decoder) { decoder.lanes<Function>(); }

/// Operations on predicates.
inline bool conjunction(bool a, bool b) { return a && b; }
inline bool disjunction(bool a, bool b) { return a || b; }
inline bool exclusive(bool a, bool b) { return a != b; }
inline bool negation(bool a) { return !a; }

/// "mad.hi.sat": the opcode with the modifiers that choose the function.
struct Form {
  std::string_view spelling;
  Decode decode;
};

/// The forms of a unit's opcodes, by type.
class FormTable {
public:
  /// Adds the forms, each with the modifiers of `suffix` (".ftz.sat") in addition, for each of the types.
  void add(std::initializer_list<std::string_view> types, std::initializer_list<Form> forms,
           std::string_view suffix = "");
  /// Decodes the statement by the form with the most modifiers that it has, which are consumed.
  void decode(Decoder &decoder, const std::string &type) const;

private:
  struct Row {
    std::vector<std::string> modifiers;
    Decode decode;
  };
  std::map<std::pair<std::string, std::string>, std::vector<Row>> rows; ///< by opcode and type
};

} // namespace nereid::sim
