// A parsed module: its variables in the host's memory, and its decoded entries.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Module.h"

#include <algorithm>
#include <cstring>

using namespace nereid::sim;

/// Gives every variable of the module an address.
static void placeVariables(ModuleState &state) {
  for (const Variable &variable : state.text.variables) {
    if (variable.space != "shared") {
      auto &words = state.variables.emplace_back((variable.bytes + variable.align) / 8 + 2);
      const uint64_t begin = reinterpret_cast<uint64_t>(words.data());
      const uint64_t at = (begin + variable.align - 1) / variable.align * variable.align;
      std::memcpy(reinterpret_cast<void *>(at), variable.initial.data(),
                  std::min<size_t>(variable.initial.size(), variable.bytes));
      state.symbols[variable.name] = {Space::Global, at};
    } else if (variable.bytes) {
      uint32_t &end = state.staticSharedBytes;
      end = (end + variable.align - 1) / variable.align * variable.align;
      state.symbols[variable.name] = {Space::Shared, end};
      end += uint32_t(variable.bytes);
    }
  }
  // Dynamic shared memory begins behind the static variables of the module.
  for (const Variable &variable : state.text.variables)
    if (variable.space == "shared" && !variable.bytes) {
      uint32_t &end = state.staticSharedBytes;
      end = (end + variable.align - 1) / variable.align * variable.align;
      state.symbols[variable.name] = {Space::Shared, end};
    }
}

Expected<std::shared_ptr<const Module>> nereid::sim::parseModule(std::string_view ptx, const OpcodeTable &opcodes) {
  Expected<Text> text = parseText(ptx);
  if (!text)
    return text.error();
  auto module = std::make_shared<Module>();
  module->state.text = std::move(*text);
  placeVariables(module->state);
  for (const Function &function : module->state.text.functions)
    if (function.isEntry && function.hasBody)
      if (std::optional<Error> problem =
              Decoder(module->state, function, opcodes).run(module->state.entries[function.name]))
        return *problem;
  return std::shared_ptr<const Module>(std::move(module));
}
