// Kinds, equality and Python text of compile-time values.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Value.h"

#include "compiler/sema/Builtin.h"
#include "compiler/sema/HostEnv.h"
#include "compiler/sema/Numbers.h"

#include "mlir/IR/BuiltinTypes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::sema {

Value Value::tuple(std::vector<Value> elements) {
  TupleValue tuple;
  tuple.elements = std::make_shared<const std::vector<Value>>(std::move(elements));
  return tuple;
}

Value Value::record(const RecordClass &record, std::vector<Value> parts) {
  TupleValue tuple;
  tuple.elements = std::make_shared<const std::vector<Value>>(std::move(parts));
  tuple.record = &record;
  return tuple;
}

bool Value::isConstant() const {
  if (tensor() || isPoison())
    return false;
  if (const std::vector<Value> *inner = parts())
    return llvm::all_of(*inner, [](const Value &part) { return part.isConstant(); });
  if (const auto *slice = get<SliceValue>())
    return llvm::all_of(*slice->parts, [](const Value &part) { return part.isConstant(); });
  if (const auto *method = get<MethodValue>())
    return method->self->isConstant();
  if (const auto *called = get<FunctionValue>())
    return llvm::all_of(called->function->captured, [](const auto &each) { return each.second.isConstant(); });
  if (const auto *range = get<std::shared_ptr<const RangeValue>>())
    return (*range)->begin.isConstant() && (*range)->end.isConstant() && (*range)->step.isConstant();
  return true;
}

Value Value::tensor(mlir::Value value, Type type) {
  if (value)
    if (auto tile = llvm::dyn_cast<mlir::RankedTensorType>(value.getType()))
      type.layout = tile.getEncoding();
  return TensorValue{value, std::move(type)};
}

std::optional<int64_t> Value::asInt64() const {
  if (const bool *truth = get<bool>())
    return *truth ? 1 : 0;
  const llvm::DynamicAPInt *number = integer();
  if (!number || *number < std::numeric_limits<int64_t>::min() || *number > std::numeric_limits<int64_t>::max())
    return std::nullopt;
  return int64_t(*number);
}

const std::vector<Value> *Value::elements() const {
  const auto *tuple = get<TupleValue>();
  return tuple && !tuple->record ? tuple->elements.get() : nullptr;
}

const std::vector<Value> *Value::parts() const {
  const auto *tuple = get<TupleValue>();
  return tuple ? tuple->elements.get() : nullptr;
}

const std::vector<Value> *Value::partsOf(const RecordClass &record) const {
  const auto *tuple = get<TupleValue>();
  return tuple && tuple->record == &record ? tuple->elements.get() : nullptr;
}

//--- Kind ----------------------------------------------------------------------------------

namespace {
struct KindName {
  std::string operator()(const NoneValue &) const { return "NoneType"; }
  std::string operator()(const EllipsisValue &) const { return "ellipsis"; }
  std::string operator()(const PoisonValue &) const { return "error"; }
  std::string operator()(bool) const { return "bool"; }
  std::string operator()(const llvm::DynamicAPInt &) const { return "int"; }
  std::string operator()(double) const { return "float"; }
  std::string operator()(const std::string &) const { return "str"; }
  std::string operator()(const TypeValue &) const { return "dtype"; }
  std::string operator()(const TupleValue &tuple) const {
    return tuple.record ? tuple.record->name.str() : tuple.isObject() ? *tuple.className : "tuple";
  }
  std::string operator()(const SliceValue &) const { return "slice"; }
  std::string operator()(const BuiltinValue &) const { return "builtin"; }
  std::string operator()(const FunctionValue &) const { return "function"; }
  std::string operator()(const ModuleValue &) const { return "module"; }
  std::string operator()(const HostValue &) const { return "object"; }
  std::string operator()(const MethodValue &) const { return "method"; }
  std::string operator()(const std::shared_ptr<const RangeValue> &) const { return "range"; }
  std::string operator()(const TensorValue &) const { return "tensor"; }
};
} // namespace

std::string Value::kindName() const { return std::visit(KindName(), storage); }

//--- Text ----------------------------------------------------------------------------------

/// Quotes as in Python: single quotes, unless only those occur inside.
static std::string reprOf(llvm::StringRef text) {
  const char quote = text.contains('\'') && !text.contains('"') ? '"' : '\'';
  std::string result(1, quote);
  for (char byte : text) {
    if (byte == quote || byte == '\\')
      result += {'\\', byte};
    else if (byte == '\n')
      result += "\\n";
    else if (byte == '\r')
      result += "\\r";
    else if (byte == '\t')
      result += "\\t";
    else if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f)
      result += "\\x" + llvm::utohexstr(static_cast<unsigned char>(byte), /*LowerCase=*/true, /*Width=*/2);
    else
      result += byte;
  }
  return result + quote;
}

static std::string reprOf(const TupleValue &tuple) {
  if (tuple.record && !tuple.record->showsParts)
    return "<" + tuple.record->name.str() + ">";
  if (tuple.record) {
    std::string text = tuple.record->name.str() + "(";
    for (auto [index, element] : llvm::enumerate(*tuple.elements))
      text += (index ? ", " : "") + tuple.record->fields[index].str() + "=" + element.repr();
    return text + ")";
  }
  std::string text = tuple.isObject() ? tuple.className->substr(tuple.className->rfind('.') + 1) + "(" : "(";
  for (auto [index, element] : llvm::enumerate(*tuple.elements)) {
    if (index)
      text += ", ";
    if (tuple.fields && index < tuple.fields->size())
      text += (*tuple.fields)[index] + "=";
    text += element.repr();
  }
  return text + (tuple.elements->size() == 1 && !tuple.isObject() ? ",)" : ")");
}

static std::string reprOf(const RangeValue &range) {
  std::string text = "range(" + range.begin.repr() + ", " + range.end.repr();
  if (range.step.asInt64() != 1)
    text += ", " + range.step.repr();
  return text + ")";
}

namespace {
struct Repr {
  std::string operator()(const NoneValue &) const { return "None"; }
  std::string operator()(const EllipsisValue &) const { return "Ellipsis"; }
  std::string operator()(const PoisonValue &) const { return "<error>"; }
  std::string operator()(bool truth) const { return truth ? "True" : "False"; }
  std::string operator()(const llvm::DynamicAPInt &number) const {
    std::string text;
    llvm::raw_string_ostream(text) << number;
    return text;
  }
  std::string operator()(double number) const { return reprOf(number); }
  std::string operator()(const std::string &text) const { return reprOf(llvm::StringRef(text)); }
  std::string operator()(const TypeValue &value) const {
    const Type &type = value.type;
    if (type.isPointer || type.isTile())
      return type.str();
    return ("triton.language." + nameOf(type.scalar)).str();
  }
  std::string operator()(const TupleValue &tuple) const { return reprOf(tuple); }
  std::string operator()(const SliceValue &slice) const {
    std::string text = "slice(";
    for (auto [index, part] : llvm::enumerate(*slice.parts))
      text += (index ? ", " : "") + part.repr();
    return text + ")";
  }
  std::string operator()(const BuiltinValue &value) const {
    return (value.builtin->module + "." + value.builtin->name).str();
  }
  std::string operator()(const FunctionValue &value) const { return value.function->qualified; }
  std::string operator()(const ModuleValue &module) const { return "<module '" + module.name + "'>"; }
  std::string operator()(const HostValue &) const { return "<object>"; }
  std::string operator()(const MethodValue &method) const { return "<method " + method.function->repr() + ">"; }
  std::string operator()(const std::shared_ptr<const RangeValue> &range) const { return reprOf(*range); }
  std::string operator()(const TensorValue &tensor) const { return tensor.type.str(); }
};
} // namespace

std::string Value::repr() const { return std::visit(Repr(), storage); }

Value asConstexpr(const Value &value) {
  if (auto *host = value.get<HostValue>())
    return HostValue{host->object, true};
  const TupleValue *tuple = value.get<TupleValue>();
  if (!tuple || tuple->isObject() || tuple->record)
    return value;
  std::vector<Value> elements;
  for (const Value &element : *tuple->elements)
    elements.push_back(asConstexpr(element));
  TupleValue result = *tuple;
  result.elements = std::make_shared<const std::vector<Value>>(std::move(elements));
  return result;
}

//--- Equality ------------------------------------------------------------------------------

static bool samePart(const std::shared_ptr<const std::vector<Value>> &a,
                     const std::shared_ptr<const std::vector<Value>> &b) {
  return a == b || llvm::equal(*a, *b, sameConstant);
}

bool isSameFunction(const JitFunction &a, const JitFunction &b) {
  return &a == &b || (a.isNested && a.definition == b.definition &&
                      llvm::equal(a.captured, b.captured, [](const auto &x, const auto &y) {
                        return x.first == y.first && sameConstant(x.second, y.second);
                      }));
}

/// Whether both hold a `T` and `same` finds them equal.
template <typename T, typename Predicate> static bool both(const Value &a, const Value &b, Predicate same) {
  const T *left = a.get<T>(), *right = b.get<T>();
  return left && right && same(*left, *right);
}

bool sameConstant(const Value &a, const Value &b) {
  if (a.isNumber() && b.isNumber())
    return compareNumbers(a, b) == 0;
  if (a.isNumber() || b.isNumber())
    return false;
  auto always = [](const auto &, const auto &) { return true; };
  using Range = std::shared_ptr<const RangeValue>;
  return both<NoneValue>(a, b, always) || both<EllipsisValue>(a, b, always) || both<PoisonValue>(a, b, always) ||
         both<std::string>(a, b, [](auto &x, auto &y) { return x == y; }) ||
         both<TypeValue>(a, b, [](auto &x, auto &y) { return x.type == y.type; }) ||
         both<TupleValue>(a, b,
                          [](auto &x, auto &y) {
                            return x.record == y.record && x.isObject() == y.isObject() &&
                                   (!x.isObject() || x.hostClass == y.hostClass) && samePart(x.elements, y.elements);
                          }) ||
         both<SliceValue>(a, b, [](auto &x, auto &y) { return samePart(x.parts, y.parts); }) ||
         both<BuiltinValue>(a, b, [](auto &x, auto &y) { return x.builtin == y.builtin; }) ||
         both<FunctionValue>(a, b, [](auto &x, auto &y) { return isSameFunction(*x.function, *y.function); }) ||
         both<ModuleValue>(a, b, [](auto &x, auto &y) { return x.name == y.name; }) ||
         both<HostValue>(a, b, [](auto &x, auto &y) { return x.object == y.object; }) ||
         both<MethodValue>(a, b,
                           [](auto &x, auto &y) {
                             return sameConstant(*x.function, *y.function) && sameConstant(*x.self, *y.self);
                           }) ||
         both<Range>(a, b, [](auto &x, auto &y) { return x == y; }) ||
         both<TensorValue>(a, b, [](auto &x, auto &y) { return x.value == y.value; });
}

} // namespace nereid::sema
