// Built-ins that check and print, at compile time and at run time.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {
namespace {

/// A tensor as Triton's str() shows it: "int32[constexpr[64]]", "int32[]".
std::string display(const Type &type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << type.element().str() << "[";
  llvm::interleaveComma(type.shape, stream, [&](int64_t extent) { stream << "constexpr[" << extent << "]"; });
  stream << "]";
  return text;
}

/// A value as Python's str() shows it; host objects are converted by the host.
std::string display(TtFunctionEmitter &emitter, const Value &value) {
  if (const std::string *text = value.get<std::string>())
    return *text;
  if (const HostValue *host = value.get<HostValue>())
    return emitter.module.host.repr(host->object);
  if (const TypeValue *type = value.get<TypeValue>())
    return type->type.str();
  if (const TensorValue *tensor = value.tensor(); tensor && !tensor->type.isDescriptor && !tensor->type.pointsToBlock)
    return display(tensor->type);
  return value.repr();
}

Value emitStaticAssert(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
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
  TtFunctionEmitter &emitter = site.emitter;
  auto separator = textArgument(site, "sep");
  std::optional<std::string> end = "\n";
  if (!site["end"].isNone())
    end = textArgument(site, "end");
  if (!separator || !end)
    return Value::poison();
  std::string line;
  for (auto [index, value] : llvm::enumerate(*site["values"].elements()))
    line += (index ? *separator : "") + display(emitter, value);
  emitter.module.host.print(line + *end);
  return Value();
}

// --- Run time ------------------------------------------------------------------------------

/// " name: " before values, " name" alone.
std::string normalisedPrefix(std::string prefix, bool hasValues) {
  if (hasValues && !llvm::StringRef(prefix).ends_with(" "))
    prefix += " ";
  if (hasValues && !llvm::StringRef(prefix).ends_with(": "))
    prefix = prefix.substr(0, prefix.size() - 1) + ": ";
  if (prefix.size() > 2 && prefix.front() != ' ')
    prefix.insert(prefix.begin(), ' ');
  return prefix;
}

bool isPrintable(char byte) { return (byte >= ' ' && byte < 0x7f) || (byte >= '\t' && byte <= '\r'); }

Value emitDevicePrint(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  const std::string *prefix = site["prefix"].get<std::string>();
  if (!prefix)
    return emitter.error(diag::PrintPrefix, site.rangeOf("prefix"), describe(site["prefix"]));
  if (!llvm::all_of(*prefix, isPrintable))
    return emitter.error(diag::PrintPrefixAscii, site.rangeOf("prefix"), *prefix);
  auto isHex = boolArgument(site, "hex");
  if (!isHex)
    return Value::poison();
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<int32_t> isSigned;
  for (const Value &arg : *site["args"].elements()) {
    const Value tensor = emitter.computable(emitter.toTensor(arg, site.rangeOf("args")), site.range);
    if (tensor.isPoison())
      return tensor;
    const Type &type = tensor.tensor()->type;
    operands.push_back(tensor.tensor()->value);
    isSigned.push_back(!type.isPointer && isSignedInteger(type.scalar));
  }
  tt::PrintOp::create(builderOf(site), locationOf(site), normalisedPrefix(*prefix, !operands.empty()), *isHex, operands,
                      isSigned);
  return Value();
}

Value emitDeviceAssert(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  const SourceRange range = site.rangeOf("cond");
  auto message = textArgument(site, "msg");
  Value condition = emitter.cast(emitter.toTensor(site["cond"], range), Scalar::Int1, range);
  if (!message || condition.isPoison())
    return Value::poison();
  if (!site["mask"].isNone()) {
    const Value mask = emitter.cast(tensorArgument(site, "mask"), Scalar::Int1, site.rangeOf("mask"));
    const Value isOff = emitter.unary(syntax::UnaryOperator::Invert, mask, site.rangeOf("mask"));
    condition = emitter.binary(syntax::BinaryOperator::BitOr, condition, isOff, site.range, site.range);
    if (condition.isPoison())
      return condition;
  }
  if (emitter.module.options.debug)
    tt::AssertOp::create(builderOf(site), locationOf(site), condition.tensor()->value,
                         builderOf(site).getStringAttr(*message));
  return Value();
}

Value emitDebugBarrier(const CallSite &site) {
  builderOf(site).getContext()->getOrLoadDialect<ttg::TtgDialect>();
  ttg::BarrierOp::create(builderOf(site), locationOf(site), ttg::AddressSpaces::All);
  return Value();
}

} // namespace

llvm::ArrayRef<Builtin> debugBuiltins() {
  static const llvm::SmallVector<BuiltinParam, 4> print = {{"prefix"}, {"*args"}, {"hex", "False"}};
  static const Builtin table[] = {
      {"device_print", languageModule, print, "Prints values when the kernel runs.", emitDevicePrint},
      {"print", pythonModule, print, "Prints values when the kernel runs.", emitDevicePrint},
      {"device_assert",
       languageModule,
       {{"cond"}, {"msg", "\"\""}, {"mask", "None"}},
       "With the option debug, ends the launch where the condition is false and the mask true.",
       emitDeviceAssert},
      {"debug_barrier", languageModule, {}, "Waits for all threads of the program.", emitDebugBarrier},
      {"static_assert",
       languageModule,
       {{"cond"}, {"msg", "\"\""}},
       "Ends the compilation where the condition is false.",
       emitStaticAssert},
      {"static_print",
       languageModule,
       {{"*values"}, {"sep", "\" \""}, {"end", "None"}, {"file", "None"}, {"flush", "False"}},
       "Prints while compiling.",
       emitStaticPrint},
  };
  return table;
}

} // namespace nereid::sema
