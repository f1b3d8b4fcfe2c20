// Writes options to an artifact as JSON texts by name, and reads them.
// SPDX-License-Identifier: MIT
#include "compiler/driver/StoredOptions.h"

#include "artifact/Sanitizers.h"

using namespace nereid;
using support::OptionRow, support::OptionStored;

// Texts and lists are never stored: what depends on them is in the artifact's stages.
static std::string jsonOf(uint32_t number) { return std::to_string(number); }
static std::string jsonOf(bool flag) { return flag ? "true" : "false"; }
static std::string jsonOf(const std::optional<bool> &choice) { return choice ? jsonOf(*choice) : "null"; }
static std::string jsonOf(support::SanitizerSet set) { return '"' + artifact::sanitizerNames(set) + '"'; }
template <typename Value> static std::string jsonOf(const Value &) { llvm_unreachable("no row stores such a value"); }

static void read(llvm::StringRef json, uint32_t &number) { json.getAsInteger(10, number); }
static void read(llvm::StringRef json, bool &flag) { flag = json == "true"; }
static void read(llvm::StringRef json, std::optional<bool> &choice) { choice = json == "true"; }
static void read(llvm::StringRef json, support::SanitizerSet &set) {
  std::string reason;
  set = artifact::parseSanitizers(json.trim('"'), reason).value_or(0);
}
template <typename Value> static void read(llvm::StringRef, Value &) {}

void driver::storeOptions(artifact::Artifact &artifact, const support::Options &options) {
  const auto store = [&](const OptionRow &row, const auto &value, const auto &otherwise) {
    const bool isSet = value != otherwise;
    if (row.stored == OptionStored::Always || (row.stored == OptionStored::IfSet && isSet))
      artifact.options[row.python] = jsonOf(value);
    else if (row.stored == OptionStored::OrNull)
      artifact.options[row.python] = isSet ? jsonOf(value) : "null";
  };
  support::forEachOption(store, options, support::Options());
}

support::Options driver::storedOptions(const artifact::Artifact &artifact) {
  support::Options options;
  support::forEachOption(
      [&](const OptionRow &row, auto &value) {
        if (auto entry = artifact.options.find(row.python); entry != artifact.options.end())
          read(entry->second, value);
      },
      options);
  options.ownLauncher = artifact.abi == artifact::Abi::Own;
  return options;
}
