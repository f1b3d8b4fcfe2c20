// Python's own functions in kernels: len, int, float, bool, tuple, isinstance, getattr, min, max and others.
// SPDX-License-Identifier: MIT
#include "compiler/sema/builtins/Python.h"

#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Numbers.h"
#include "compiler/sema/builtins/Records.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

namespace nereid::sema {
namespace {

Value emitLen(const CallSite &site) {
  const Value &value = site["object"];
  if (const std::string *text = value.get<std::string>())
    return Value::integer(llvm::count_if(*text, [](char byte) { return (byte & 0xC0) != 0x80; }));
  if (value.tensor() || value.isNumber() || value.isNone())
    return site.emitter.error(
        diag::NoLength, site.range, describe(value),
        value.tensor() && value.tensor()->type.isPointer ? "; pass the number of elements as an argument" : "");
  auto elements = site.emitter.elementsOf(value, site.rangeOf("object"));
  return elements ? Value::integer(elements->size()) : Value::poison();
}

//--- Conversion to numbers -----------------------------------------------------------------

/// Parses an int or float as Python's int() and float() do: surrounding blanks, `_` between digits.
std::string plainText(llvm::StringRef text) {
  std::string plain = text.trim().str();
  std::erase(plain, '_');
  return plain;
}

std::optional<double> parseFloat(llvm::StringRef text) {
  std::string plain = plainText(text);
  llvm::StringRef digits = plain;
  const bool isNegative = digits.consume_front("-");
  if (!isNegative)
    digits.consume_front("+");
  const double sign = isNegative ? -1 : 1;
  if (digits.equals_insensitive("inf") || digits.equals_insensitive("infinity"))
    return sign * std::numeric_limits<double>::infinity();
  if (digits.equals_insensitive("nan"))
    return sign * std::numeric_limits<double>::quiet_NaN();
  double number = 0;
  const bool isDecimal = digits.find_first_not_of("0123456789.eE+-") == llvm::StringRef::npos &&
                         digits.find_first_of("0123456789") != llvm::StringRef::npos;
  if (!isDecimal || digits.starts_with("-") || digits.starts_with("+") || digits.getAsDouble(number))
    return std::nullopt;
  return sign * number;
}

Value emitFloat(const CallSite &site) {
  const Value &value = site["x"];
  std::optional<double> number;
  if (value.isNumber())
    number = doubleOf(value);
  else if (const std::string *text = value.get<std::string>())
    number = parseFloat(*text);
  if (number)
    return Value(*number);
  return site.emitter.error(diag::CannotConvert, site.range, describe(value), "float");
}

std::optional<llvm::DynamicAPInt> parseInt(llvm::StringRef text) {
  std::string plain = plainText(text);
  llvm::StringRef digits = plain;
  const bool isNegative = digits.consume_front("-");
  if (!isNegative)
    digits.consume_front("+");
  if (digits.empty() || digits.size() > 1000 || !llvm::all_of(digits, llvm::isDigit))
    return std::nullopt;
  llvm::DynamicAPInt magnitude(llvm::APInt(llvm::APInt::getSufficientBitsNeeded(digits, 10) + 1, digits, 10));
  return isNegative ? -magnitude : magnitude;
}

Value emitInt(const CallSite &site) {
  const Value &value = site["x"];
  if (value.is<bool>() || value.integer())
    return integerOf(value);
  if (const double *number = value.get<double>(); number && std::isfinite(*number))
    return truncated(*number);
  if (const std::string *text = value.get<std::string>())
    if (std::optional<llvm::DynamicAPInt> number = parseInt(*text))
      return *number;
  return site.emitter.error(diag::CannotConvert, site.range, describe(value), "int");
}

Value emitBool(const CallSite &site) {
  std::optional<bool> truth = site.emitter.constantTruth(site["x"], site.rangeOf("x"));
  return truth ? Value(*truth) : Value::poison();
}

Value emitTuple(const CallSite &site) {
  if (site["iterable"].isNone())
    return Value::tuple({});
  auto elements = site.emitter.elementsOf(site["iterable"], site.rangeOf("iterable"));
  return elements ? Value::tuple(std::move(*elements)) : Value::poison();
}

//--- Inspection ----------------------------------------------------------------------------

/// Whether `value` is an instance of the class `name`; nothing where there is no such class.
std::optional<bool> isInstance(const Value &value, llvm::StringRef module, llvm::StringRef name) {
  if (module == languageModule) {
    if (name == "constexpr")
      return false; // the test applies to the object inside of the constexpr
    if (name == "tuple")
      return value.elements() != nullptr && !value.object();
    if (name == "tensor")
      return value.tensor() != nullptr;
    const TypeValue *type = value.get<TypeValue>();
    if (name == "dtype" || name == "base_type")
      return type != nullptr;
    if (name == "pointer_type")
      return type && type->type.isPointer && !type->type.isTile();
    if (name == "block_type")
      return type && type->type.isTile();
    if (name == "tensor_descriptor" || name == "tensor_descriptor_base")
      return value.partsOf(descriptorClass()) != nullptr;
    if (name == "base_value")
      return value.tensor() || value.parts();
    return std::nullopt;
  }
  if (name == "int")
    return value.is<bool>() || value.integer();
  if (name == "float")
    return value.is<double>();
  if (name == "bool")
    return value.is<bool>();
  if (name == "tuple" || name == "list")
    return value.elements() != nullptr && !value.object();
  if (name == "str")
    return value.is<std::string>();
  return std::nullopt;
}

Value emitIsInstance(const CallSite &site) {
  const Value &classes = site["classes"];
  const std::vector<Value> one = {classes};
  bool matches = false;
  for (const Value &each : classes.elements() ? *classes.elements() : one) {
    const BuiltinValue *builtin = each.get<BuiltinValue>();
    const HostValue *host = each.get<HostValue>();
    std::optional<bool> is;
    if (builtin)
      is = isInstance(site["object"], builtin->builtin->module, builtin->builtin->name);
    else if (host)
      if (auto answer = site.emitter.module.host.isInstance(site["object"], host->object)) {
        if (const auto *failure = std::get_if<HostError>(&*answer))
          return site.emitter.hostError(*failure, site.rangeOf("classes"));
        is = std::get<bool>(*answer);
      }
    if (!is)
      return site.emitter.error(diag::NotAClass, site.rangeOf("classes"), describe(each));
    matches |= *is;
  }
  return matches;
}

/// `object.name`, or nothing and no message where there is none. Poison where the attribute's own code raised.
std::optional<Value> tryAttribute(const CallSite &site, llvm::StringRef name) {
  support::DiagnosticEngine &diagnostics = site.emitter.module.diagnostics;
  const size_t before = diagnostics.size();
  Value object = site["object"]; // without the constexpr around it, whose `.value` is ignored
  if (auto *host = object.get<HostValue>()) {
    std::optional<HostResult> found = site.emitter.module.host.findAttribute(host->object, name);
    return found ? std::optional(site.emitter.fromHost(std::move(*found), site.range)) : std::nullopt;
  }
  if (name == "value" && object.isConstant() && !object.parts())
    return std::nullopt;
  Value value = site.emitter.attribute(object, name, site.range);
  if (!value.isPoison())
    return value;
  diagnostics.truncate(before);
  site.emitter.lastDiagnostic = nullptr;
  return std::nullopt;
}

Value emitHasAttr(const CallSite &site) {
  auto name = textArgument(site, "name");
  if (!name)
    return Value::poison();
  const std::optional<Value> found = tryAttribute(site, *name);
  return found && found->isPoison() ? *found : Value(found.has_value());
}

Value emitGetAttr(const CallSite &site) {
  auto name = textArgument(site, "name");
  if (!name)
    return Value::poison();
  const std::vector<Value> &fallback = *site["default"].elements();
  if (fallback.size() > 1)
    return site.emitter.error(diag::GetattrArguments, site.range, fallback.size() + 2);
  if (fallback.empty())
    return site.emitter.attribute(site["object"], *name, site.range);
  return tryAttribute(site, *name).value_or(fallback.front());
}

//--- min, max ------------------------------------------------------------------------------

/// NaN and -0.0 have no clear position in Python's order.
bool hasClearOrder(const Value &number) {
  const double *value = number.get<double>();
  return !value || (!std::isnan(*value) && !(*value == 0 && std::signbit(*value)));
}

Value foldExtreme(const CallSite &site, llvm::ArrayRef<Value> values, bool isMax) {
  const Value *best = nullptr;
  for (const Value &value : values) {
    if (!hasClearOrder(value))
      return site.emitter.error(diag::UnclearOrder, site.range, site.builtin.name, value.repr());
    if (!best || (isMax ? compareNumbers(value, *best) > 0 : compareNumbers(value, *best) < 0))
      best = &value;
  }
  return *best;
}

Value emitExtreme(const CallSite &site, bool isMax) {
  TtFunctionEmitter &emitter = site.emitter;
  std::vector<Value> values = *site["values"].elements();
  if (values.size() == 1 && values.front().elements())
    values = std::vector<Value>(*values.front().elements());
  if (values.empty() || (values.size() < 2 && !values.front().isNumber()))
    return emitter.error(
        diag::ExtremeArguments, site.range, site.builtin.name, values.size(),
        values.size() == 1 && values.front().tensor() ? ("; `tl." + site.builtin.name + "` reduces a tile").str() : "");
  for (const Value &value : values)
    if (!value.isNumber() && !value.tensor())
      return notATensor(emitter, value, site.range);
  if (llvm::all_of(values, [](const Value &value) { return value.isNumber(); }))
    return foldExtreme(site, values, isMax);
  if (llvm::any_of(values, [](const Value &value) { return value.tensor() && value.tensor()->type.isTile(); }))
    emitter.module.diagnostics.report(diag::ExtremeOfTiles, emitter.fileRange(site.range), site.builtin.name,
                                      isMax ? "maximum" : "minimum");
  const Builtin &pairwise = *findBuiltin(languageModule, isMax ? "maximum" : "minimum");
  Value result = values.front();
  for (const Value &value : llvm::drop_begin(values)) {
    const PositionalArgument args[] = {{result, site.range}, {value, site.range}};
    result = emitter.callBuiltin(pairwise, args, {}, site.range);
    if (result.isPoison())
      return result;
  }
  return result;
}

Value emitMin(const CallSite &site) { return emitExtreme(site, false); }
Value emitMax(const CallSite &site) { return emitExtreme(site, true); }

Value emitNextPowerOf2(const CallSite &site) {
  auto number = intArgument(site, "n");
  if (!number)
    return Value::poison();
  if (*number < 0 || *number > (int64_t{1} << 62))
    return site.emitter.error(diag::NextPowerOf2, site.rangeOf("n"), *number);
  return Value::integer(*number == 0 ? 0 : llvm::PowerOf2Ceil(*number));
}

} // namespace

void appendPython(std::vector<Builtin> &entries) {
  const Builtin functions[] = {
      {"len", pythonModule, {{"object"}}, "Number of elements.", emitLen},
      {"int", pythonModule, {{"x"}}, "A compile-time value as an integer.", emitInt},
      {"float", pythonModule, {{"x"}}, "A compile-time value as a float.", emitFloat},
      {"bool", pythonModule, {{"x"}}, "The truth of a compile-time value.", emitBool},
      {"tuple", pythonModule, {{"iterable", "None"}}, "The elements as a tuple.", emitTuple},
      {"list", pythonModule, {{"iterable", "None"}}, "The elements as a tuple.", emitTuple},
      {"isinstance", pythonModule, {{"object"}, {"classes"}}, "Whether a value is of a class.", emitIsInstance},
      {"hasattr", pythonModule, {{"object"}, {"name"}}, "Whether a value has an attribute.", emitHasAttr},
      {"getattr", pythonModule, {{"object"}, {"name"}, {"*default"}}, "An attribute, or the default.", emitGetAttr},
      {"min", pythonModule, {{"*values"}}, "The smallest of several values.", emitMin},
      {"max", pythonModule, {{"*values"}}, "The largest of several values.", emitMax},
      {"next_power_of_2", "triton", {{"n"}}, "The smallest power of two that is not below n.", emitNextPowerOf2},
  };
  llvm::append_range(entries, functions);
}

} // namespace nereid::sema
