// Finds the form of a statement among those of its opcode and type.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/Forms.h"

#include <algorithm>

using namespace nereid::sim;

void FormTable::add(std::initializer_list<std::string_view> types, std::initializer_list<Form> forms,
                    std::string_view suffix) {
  for (const Form &form : forms) {
    std::vector<std::string> words = wordsOf(std::string(form.spelling) + std::string(suffix), '.');
    const std::string opcode = std::move(words[0]);
    words.erase(words.begin());
    for (std::string_view type : types)
      rows[{opcode, std::string(type)}].push_back({words, form.decode});
  }
}

void FormTable::decode(Decoder &decoder, const std::string &type) const {
  const auto found = rows.find({decoder.opcode(), type});
  if (found == rows.end())
    return decoder.fail("the type `." + type + "` is not known here");
  const auto isThere = [&](const std::string &modifier) { return decoder.has(modifier); };
  const Row *best = nullptr;
  for (const Row &row : found->second)
    if (std::ranges::all_of(row.modifiers, isThere) && (!best || row.modifiers.size() > best->modifiers.size()))
      best = &row;
  if (!best)
    return decoder.fail("this form is not known");
  for (const std::string &modifier : best->modifiers)
    decoder.take(modifier);
  best->decode(decoder);
}
