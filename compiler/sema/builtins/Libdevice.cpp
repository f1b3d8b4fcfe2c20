// The functions of libdevice, from a table of symbols by argument types.
// SPDX-License-Identifier: MIT
#include "compiler/sema/builtins/Emission.h"
#include "compiler/sema/builtins/Extern.h"

#include "llvm/ADT/StringMap.h"

#include <deque>

namespace nereid::sema {
namespace {

Scalar scalarOf(char letter) {
  switch (letter) {
  case 'f':
    return Scalar::Float32;
  case 'd':
    return Scalar::Float64;
  case 'i':
    return Scalar::Int32;
  case 'u':
    return Scalar::UInt32;
  case 'l':
    return Scalar::Int64;
  case 'w':
    return Scalar::UInt64;
  default:
    llvm_unreachable("a letter of Libdevice.def that has no type");
  }
}

/// Name -> overloads, from signatures such as "ff:f"; `b` is an int32 that is a truth value.
const llvm::StringMap<std::vector<Overload>> &overloadsByName() {
  static const llvm::StringMap<std::vector<Overload>> table = [] {
    llvm::StringMap<std::vector<Overload>> all;
    auto add = [&](llvm::StringRef name, llvm::StringRef types, const char *symbol) {
      const auto [args, result] = types.split(':');
      const bool isTruth = result == "b";
      Overload overload{{}, std::string("__nv_") + symbol, isTruth ? Scalar::Int32 : scalarOf(result.front()), isTruth};
      for (char letter : args)
        overload.args.push_back(scalarOf(letter));
      all[name].push_back(std::move(overload));
    };
#define LIBDEVICE(name, types, symbol) add(#name, types, #symbol);
#include "compiler/sema/builtins/Libdevice.def"
    return all;
  }();
  return table;
}

Value emitLibdevice(const CallSite &site) {
  return emitExtern(site, "", "", site.args.vec(), overloadsByName().find(site.builtin.name)->second, /*isPure=*/true);
}

} // namespace

void appendLibdevice(std::vector<Builtin> &entries) {
  static constexpr llvm::StringLiteral params[] = {"arg0", "arg1", "arg2", "arg3"};
  static std::deque<std::string> docs; // entries refer to them
  for (const auto &named : overloadsByName()) {
    Builtin builtin{named.first(), libdeviceModule, {}, "", emitLibdevice};
    std::string doc = "On each element";
    for (const Overload &overload : named.second)
      doc += (&overload == &named.second.front() ? ": `" : ", `") + overload.symbol + "`";
    builtin.doc = docs.emplace_back(doc + ".");
    for (size_t index = 0; index < named.second.front().args.size(); ++index)
      builtin.params.push_back({params[index]});
    entries.push_back(std::move(builtin));
  }
}

} // namespace nereid::sema
