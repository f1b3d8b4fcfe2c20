// Built-ins that check and print while compiling: static_assert, static_print.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {
namespace {

/// A value as Python's str() shows it; the host knows its own objects.
std::string display(FunctionEmitter &emitter, const Value &value) {
  if (const std::string *text = value.get<std::string>())
    return *text;
  if (const HostValue *host = value.get<HostValue>())
    return emitter.module.host.repr(host->object);
  if (const TypeValue *type = value.get<TypeValue>())
    return type->type.str();
  return value.repr();
}

Value emitStaticAssert(const CallSite &site) {
  FunctionEmitter &emitter = site.emitter;
  const Value &condition = site["cond"];
  if (!condition.isConstant())
    return emitter.error(diag::StaticAssertRuntime, site.rangeOf("cond"), describe(condition));
  std::optional<bool> holds = emitter.constantTruth(condition, site.rangeOf("cond"));
  if (!holds)
    return Value::poison();
  if (*holds)
    return Value();
  const std::string message = display(emitter, site["msg"]);
  return emitter.error(diag::StaticAssertFailed, site.range, message.empty() ? "the condition is false" : message);
}

Value emitStaticPrint(const CallSite &site) {
  FunctionEmitter &emitter = site.emitter;
  auto separator = emitter.constantString(site["sep"], site.rangeOf("sep"), "sep");
  std::optional<std::string> end = "\n";
  if (!site["end"].isNone())
    end = emitter.constantString(site["end"], site.rangeOf("end"), "end");
  if (!separator || !end)
    return Value::poison();
  std::string line;
  for (auto [index, value] : llvm::enumerate(*site["values"].elements()))
    line += (index ? *separator : "") + display(emitter, value);
  emitter.module.host.print(line + *end);
  return Value();
}

} // namespace

llvm::ArrayRef<Builtin> debugBuiltins() {
  static const Builtin table[] = {
      {"static_assert", languageModule, {{"cond"}, {"msg", "\"\""}},
       "Ends the compilation where the condition is false.", emitStaticAssert},
      {"static_print", languageModule,
       {{"*values"}, {"sep", "\" \""}, {"end", "None"}, {"file", "None"}, {"flush", "False"}},
       "Prints while compiling.", emitStaticPrint},
  };
  return table;
}

} // namespace nereid::sema
