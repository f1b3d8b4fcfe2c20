// Converts layouts between values of kernels and encodings, by the tables of their classes.
// SPDX-License-Identifier: MIT
#include "compiler/sema/gluon/Arguments.h"

#include "compiler/dialect/gluon/Dialect.h"
#include "compiler/dialect/ttg/EncodingShape.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TtFunctionEmitter.h"
#include "compiler/sema/gluon/OpRules.h"

#include "mlir/IR/Diagnostics.h"

namespace nereid::sema {

//--- The fields of one layout --------------------------------------------------------------

const Value &LayoutFields::operator[](llvm::StringRef field) const {
  const auto *found = llvm::find(record.fields, field);
  assert(found != record.fields.end() && "a layout has no such field");
  return parts[found - record.fields.begin()];
}

mlir::Attribute LayoutFields::fail(std::string message) {
  if (!failed)
    error(record.name.str() + ": " + message);
  failed = true;
  return {};
}

std::nullptr_t LayoutFields::wrong(llvm::StringRef field, llvm::StringRef expected) {
  fail("`" + field.str() + "` must be " + expected.str() + ", got " + (*this)[field].repr());
  return nullptr;
}

static std::optional<unsigned> extentOf(const Value &value) {
  const std::optional<int64_t> number = value.is<bool>() ? std::nullopt : value.asInt64();
  return number && 0 <= *number && *number <= std::numeric_limits<int32_t>::max() ? std::optional(unsigned(*number))
                                                                                  : std::nullopt;
}

unsigned LayoutFields::number(llvm::StringRef field) {
  const std::optional<unsigned> number = extentOf((*this)[field]);
  if (!number)
    wrong(field, "a number");
  return number.value_or(0);
}

bool LayoutFields::flag(llvm::StringRef field) {
  const std::optional<int64_t> truth = (*this)[field].asInt64();
  if (!truth)
    wrong(field, "True or False");
  return truth.value_or(0) != 0;
}

llvm::SmallVector<unsigned> LayoutFields::numbers(llvm::StringRef field) {
  llvm::SmallVector<unsigned> all;
  const std::vector<Value> *elements = (*this)[field].elements();
  for (const Value &element : elements ? llvm::ArrayRef<Value>(*elements) : llvm::ArrayRef<Value>()) {
    const std::optional<unsigned> number = extentOf(element);
    if (!number)
      elements = nullptr;
    if (!elements)
      break;
    all.push_back(*number);
  }
  if (!elements)
    wrong(field, "a list of numbers");
  return all;
}

llvm::SmallVector<llvm::SmallVector<int32_t, 4>> LayoutFields::bases(llvm::StringRef field) {
  llvm::SmallVector<llvm::SmallVector<int32_t, 4>> all;
  const std::vector<Value> *elements = (*this)[field].elements();
  bool isGood = elements != nullptr;
  for (size_t index = 0; isGood && index < elements->size(); ++index) {
    const std::vector<Value> *basis = (*elements)[index].elements();
    isGood = basis && llvm::all_of(*basis, [](const Value &each) { return extentOf(each).has_value(); });
    all.emplace_back();
    for (size_t dim = 0; isGood && dim < basis->size(); ++dim)
      all.back().push_back(*extentOf((*basis)[dim]));
  }
  if (!isGood) {
    wrong(field, "a list of bases, as in [[0, 1], [1, 0]]");
    all.clear();
  }
  return all;
}

llvm::SmallVector<unsigned> LayoutFields::flatBases(llvm::StringRef field) {
  llvm::SmallVector<unsigned> all;
  for (const auto &basis : bases(field))
    all.append(basis.begin(), basis.end());
  return all;
}

mlir::Attribute LayoutFields::layout(llvm::StringRef field) {
  const Value &value = (*this)[field];
  if (!layoutClassOf(value))
    return fail("`" + field.str() + "` must be a layout, got " + value.repr());
  mlir::Attribute encoding = failed ? mlir::Attribute() : encodingOf(context, value, error);
  failed |= !encoding;
  return encoding;
}

mlir::Attribute LayoutFields::checked(
    llvm::function_ref<mlir::Attribute(llvm::function_ref<mlir::InFlightDiagnostic()> emitError)> make) {
  if (failed)
    return {};
  mlir::Attribute made;
  const std::string message =
      errorOf(context, [&] { made = make([&] { return mlir::emitError(mlir::UnknownLoc::get(context)); }); });
  return made ? made : fail(message);
}

//--- All classes ---------------------------------------------------------------------------

llvm::ArrayRef<const LayoutClass *> layoutClasses() {
  static const std::vector<const LayoutClass *> all = [] {
    std::vector<const LayoutClass *> classes;
    for (llvm::ArrayRef<LayoutClass> table : {distributedLayouts(), sharedLayouts(), amdLayouts()})
      for (const LayoutClass &each : table)
        classes.push_back(&each);
    return classes;
  }();
  return all;
}

const LayoutClass *findLayoutClass(llvm::StringRef name) {
  for (const LayoutClass *each : layoutClasses())
    if (each->record.name == name)
      return each;
  return nullptr;
}

const LayoutClass *layoutClassOf(const Value &value) {
  const auto *tuple = value.get<TupleValue>();
  for (const LayoutClass *each : layoutClasses())
    if (tuple && tuple->record == &each->record)
      return each;
  return nullptr;
}

mlir::Attribute encodingOf(mlir::MLIRContext *context, const Value &layout, LayoutError error) {
  const LayoutClass *known = layoutClassOf(layout);
  if (!known) {
    error("expected a layout, got " + layout.repr());
    return {};
  }
  context->loadDialect<ttg::TtgDialect, gluon::GluonDialect>(); // at the level of a module, before a kernel is compiled
  LayoutFields fields(context, known->record, *layout.parts(), error);
  mlir::Attribute encoding = known->encode(fields);
  return fields.failed ? mlir::Attribute() : encoding;
}

Value makeLayout(mlir::MLIRContext *context, const LayoutClass &layout, std::vector<Value> fields, LayoutError error) {
  for (auto [field, param] : llvm::zip_equal(fields, layout.params))
    if (field.isNone() && param.defaultText == "()")
      field = Value::tuple({});
  Value made = Value::record(layout.record, fields);
  const mlir::Attribute encoding = encodingOf(context, made, error);
  if (!encoding || llvm::none_of(fields, [](const Value &field) { return field.isNone(); }))
    return encoding ? made : Value::poison();
  // A field that is left out has the value of the layout that it stands for.
  if (std::optional<std::vector<Value>> known = layout.decode(encoding))
    for (auto [field, value] : llvm::zip_equal(fields, *known))
      if (field.isNone())
        field = value;
  return Value::record(layout.record, std::move(fields));
}

Value layoutValue(mlir::Attribute encoding) {
  for (const LayoutClass *each : layoutClasses())
    if (std::optional<std::vector<Value>> fields = encoding ? each->decode(encoding) : std::nullopt)
      return Value::record(each->record, std::move(*fields));
  return Value();
}

/// Lists as in a kernel's source.
static std::string textOf(const Value &value) {
  const std::vector<Value> *parts = value.parts();
  if (!parts)
    return value.repr();
  const LayoutClass *layout = layoutClassOf(value);
  std::string text = layout ? layout->record.name.str() + "(" : "[";
  size_t shown = parts->size(); // without trailing defaults
  while (layout && shown && layout->params[shown - 1].defaultText == "()" && (*parts)[shown - 1].elements() &&
         (*parts)[shown - 1].elements()->empty())
    --shown;
  for (size_t index = 0; index < shown; ++index)
    text += (index ? ", " : "") + textOf((*parts)[index]);
  return text + (layout ? ")" : "]");
}

std::string layoutText(mlir::Attribute encoding) {
  const Value value = layoutValue(encoding);
  if (!value.isNone())
    return textOf(value);
  std::string text;
  llvm::raw_string_ostream(text) << encoding;
  return text;
}

//--- Arguments -----------------------------------------------------------------------------

mlir::Attribute tileLayoutArgument(const CallSite &site, llvm::StringRef parameter, llvm::ArrayRef<int64_t> shape) {
  TtFunctionEmitter &emitter = site.emitter;
  mlir::MLIRContext *context = emitter.builder.getContext();
  const Value &given = site[parameter];
  if (given.isNone())
    return gluon::AutoAttr::get(context);
  if (given.isPoison())
    return {};
  const SourceRange range = site.rangeOf(parameter);
  const LayoutClass *layout = layoutClassOf(given);
  if (!layout || layout->kind != LayoutKind::Distributed) {
    emitter.error(diag::LayoutArgument, range, parameter, shown(emitter, given));
    return {};
  }
  auto invalid = [&](std::string message) { emitter.error(diag::LayoutInvalid, range, message); };
  mlir::Attribute encoding = encodingOf(context, given, invalid);
  return encoding && emitter.checkTileLayout(encoding, shape, range) ? encoding : mlir::Attribute();
}

//--- Helpers -------------------------------------------------------------------------------

Value numbersValue(llvm::ArrayRef<unsigned> numbers) {
  std::vector<Value> values;
  for (unsigned number : numbers)
    values.push_back(Value::integer(number));
  return Value::tuple(std::move(values));
}

Value basesValue(llvm::ArrayRef<llvm::SmallVector<int32_t, 4>> bases) {
  std::vector<Value> values;
  for (const auto &basis : bases)
    values.push_back(numbersValue(llvm::to_vector_of<unsigned>(basis)));
  return Value::tuple(std::move(values));
}

Value flatBasesValue(llvm::ArrayRef<unsigned> numbers, unsigned rank) {
  std::vector<Value> values;
  for (; !numbers.empty(); numbers = numbers.drop_front(rank))
    values.push_back(numbersValue(numbers.take_front(rank)));
  return Value::tuple(std::move(values));
}

} // namespace nereid::sema
