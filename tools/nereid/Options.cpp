// Adds the options of Options.def to a command.
// SPDX-License-Identifier: MIT
#include "artifact/Sanitizers.h"
#include "tools/nereid/Commands.h"

#include <CLI/CLI.hpp>

using namespace nereid;
using support::OptionRow;

namespace {
struct OptionAdder {
  CLI::App &command;

  void add(const OptionRow &row, uint32_t &number) {
    command.add_option(row.flag, number, row.help)->capture_default_str();
  }
  void add(const OptionRow &row, bool &flag) {
    command.add_flag_callback(row.flag, [&flag] { flag = !flag; }, row.help);
  }
  template <typename Value> void add(const OptionRow &row, Value &value) {
    command.add_option(row.flag, value, row.help);
  }
  void add(const OptionRow &row, std::vector<std::string> &names) {
    command.add_option(row.flag, names, row.help)->delimiter(',');
  }
  void add(const OptionRow &row, std::vector<support::ExternLibrary> &libraries) {
    const auto read = [flag = row.flag, &libraries](const std::vector<std::string> &pairs) {
      for (const std::string &pair : pairs) {
        const auto [name, path] = llvm::StringRef(pair).split('=');
        if (path.empty())
          throw CLI::ValidationError(flag, "`" + pair + "` is not NAME=PATH");
        libraries.push_back({name.str(), path.str()});
      }
    };
    command.add_option_function<std::vector<std::string>>(row.flag, read, row.help)->delimiter(',');
  }
  void add(const OptionRow &row, support::SanitizerSet &set) {
    const auto read = [flag = row.flag, &set](const std::string &words) {
      std::string reason;
      const auto sanitizers = artifact::parseSanitizers(words, reason);
      if (!sanitizers)
        throw CLI::ValidationError(flag, reason);
      set = *sanitizers;
    };
    command.add_option_function<std::string>(row.flag, read, row.help);
  }
};
} // namespace

void tools::addOptions(CLI::App &command, support::Options &options) {
  support::forEachOption(
      [&](const OptionRow &row, auto &value) {
        if (*row.flag)
          OptionAdder{command}.add(row, value);
      },
      options);
}
