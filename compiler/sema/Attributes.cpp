// Resolves names and evaluates attributes of tensors, types and modules.
// SPDX-License-Identifier: MIT
#include "compiler/sema/AssignedNames.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Suggestions.h"
#include "compiler/sema/TtFunctionEmitter.h"
#include "compiler/sema/builtins/ModuleConstants.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/sema/gluon/Names.h"
#include "compiler/sema/gluon/SharedMemory.h"
#include "compiler/stdlib/Stdlib.h"

#include "llvm/ADT/StringSwitch.h"

using namespace nereid;
using namespace nereid::sema;

static constexpr llvm::StringLiteral languageModule = "triton.language";

//--- Names -----------------------------------------------------------------------------------

/// The meaning of `module`.`name` in the built-in modules; nothing where it does not exist.
static std::optional<Value> moduleMember(TtModuleEmitter &emitter, llvm::StringRef givenModule, llvm::StringRef name) {
  const llvm::StringRef module = canonicalModule(givenModule);
  // `tl.constexpr(x)` is x: constants need no wrapper in sema.
  static const Builtin constexprClass{
      "constexpr", languageModule, {{"value"}}, "", [](const CallSite &site) { return site.args[0]; }};
  if (module == languageModule && name == "constexpr")
    return Value(BuiltinValue{&constexprClass});
  if (const Builtin *builtin = findBuiltin(module, name))
    return Value(BuiltinValue{builtin});
  if (std::optional<Value> constant = moduleConstant(module, name))
    return constant;
  if (!name.starts_with("_"))
    if (auto function = emitter.stdlibFunction(module, name))
      return Value(FunctionValue{function});
  if (module == languageModule)
    if (std::optional<Scalar> scalar = scalarFromName(name))
      return Value(TypeValue{Type(*scalar)});
  if (module == "triton" && (name == "cdiv" || name == "next_power_of_2"))
    return moduleMember(emitter, languageModule, name);
  std::string inner = (givenModule + "." + name).str();
  if (isBuiltinModule(inner))
    return Value(ModuleValue{inner});
  if (module == gluonModule) // the names that Gluon does not define itself are Triton's
    return moduleMember(emitter, languageModule, name);
  return std::nullopt;
}

Value TtFunctionEmitter::lookup(llvm::StringRef name, SourceRange range) {
  if (auto *local = scope.find(name); local != scope.end())
    return recapture(local->second.value);
  if (std::optional<Value> index = lastIndex(name))
    return *index;
  if (function.isNested && function.name == name)
    return itself();
  if (function.isStdlib) {
    if (auto found = module.stdlibFunction("", name))
      return FunctionValue{found};
    if (auto member = moduleMember(module, languageModule, name))
      return *member;
    if (auto member = moduleMember(module, "triton.language.math", name))
      return *member;
  } else if (auto found = module.host.lookup(function, name)) {
    return fromHost(std::move(*found), range);
  }
  if (const Builtin *builtin = findBuiltin("builtins", name))
    return BuiltinValue{builtin};
  return undefined(name, range);
}

Value TtFunctionEmitter::undefined(llvm::StringRef name, SourceRange range) {
  // The module level of a file has no definition; its assignments are evaluated where they are looked for.
  const syntax::Stmt *assignment =
      function.definition ? lastAssignment(function.definition->body, name, range.begin) : nullptr;
  Value poison = error(diag::UndefinedName, range, name, assignment ? "" : hintForName(*this, name));
  if (!assignment)
    return poison;
  auto *loop = llvm::dyn_cast<syntax::For>(assignment);
  const char *why =
      loop ? "`{0}` is the variable of this loop and has no value here; assign it to another name in the loop"
           : "`{0}` gets a value here, but not on every way to its use";
  lastDiagnostic->note(llvm::formatv(why, name).str(), fileRange(loop ? loop->target->range : assignment->range));
  return poison;
}

//--- Attributes ------------------------------------------------------------------------------

Value TtFunctionEmitter::errorText(const support::DiagnosticKind &kind, SourceRange range, std::string message) {
  lastDiagnostic = &module.diagnostics.add(kind, module.userFileRange(fileRange(range), function), std::move(message));
  module.noteCallers(*lastDiagnostic);
  return Value::poison();
}

Value TtFunctionEmitter::hostError(const HostError &hostError, SourceRange range) {
  Value poison = error(diag::HostException, range, hostError.pythonClass, hostError.message);
  module.hostCauses.push_back({module.diagnostics.size() - 1, hostError});
  return poison;
}

Value TtFunctionEmitter::fromHost(HostResult result, SourceRange range) {
  if (auto *value = std::get_if<Value>(&result))
    return std::move(*value);
  return hostError(std::get<HostError>(result), range);
}

Value TtFunctionEmitter::attribute(const Value &object, llvm::StringRef name, SourceRange range) {
  if (object.isPoison())
    return object;
  if (object.tensor())
    return tensorAttribute(object, name, range);
  auto *host = object.get<HostValue>();
  if (name == "value" && host && host->isConstexpr)
    return HostValue{host->object};
  if (host)
    return fromHost(module.host.attribute(host->object, name), range);
  if (name == "value" && object.isConstant() && !object.is<ModuleValue>() && !object.parts())
    return object; // `.value` of a constexpr; sema treats all constants as constexpr
  if (auto *type = object.get<TypeValue>())
    return typeAttribute(type->type, name, range);
  if (auto *builtin = object.get<BuiltinValue>()) { // `tl.dtype.KIND`, `gl.NVMMASharedLayout.get_default_for`
    const std::string scope = (builtin->builtin->module + "." + builtin->builtin->name).str();
    if (const Builtin *found = findBuiltin(scope, name))
      return BuiltinValue{found};
    if (const std::string inner = scope + "." + name.str(); isBuiltinModule(inner))
      return ModuleValue{inner};
    if (findLayoutClass(builtin->builtin->name)) // a function that only Python's class has
      return fromHost(module.host.memberOf(object, name), range);
  }
  if (auto *ours = object.get<ModuleValue>()) {
    if (auto member = moduleMember(module, ours->name, name))
      return *member;
    return error(diag::ModuleAttribute, range, ours->name, name, suggestMember(ours->name, name));
  }
  if (auto *record = object.get<TupleValue>(); record && record->record)
    return recordAttribute(object, *record->record, name, range);
  if (auto *tuple = object.get<TupleValue>(); tuple && tuple->fields)
    if (auto found = llvm::find(*tuple->fields, name); found != tuple->fields->end())
      return (*tuple->elements)[found - tuple->fields->begin()];
  if (name == "type" && object.elements() && !object.object()) // a `tl.tuple_type`, which is a host object
    return fromHost(module.host.memberOf(object, name), range);
  if (object.object())
    return fromHost(module.host.memberOf(object, name), range);
  if (name == "value" && object.isConstant())
    return object;
  if (name == "__name__")
    if (auto *called = object.get<FunctionValue>())
      return called->function->name;
  if (object.isNumber() || object.is<std::string>() || object.elements())
    if (object.isConstant())
      return fromHost(module.host.memberOf(object, name), range);
  return error(diag::NoAttribute, range, object.kindName(), name, "");
}

Value TtFunctionEmitter::recordAttribute(const Value &object, const RecordClass &record, llvm::StringRef name,
                                         SourceRange range) {
  const std::vector<Value> &parts = *object.parts();
  if (const auto *found = llvm::find(record.fields, name); found != record.fields.end() && !name.empty())
    return parts[found - record.fields.begin()];
  if (std::optional<Value> computed = record.attribute(parts, name))
    return *computed;
  if (const Builtin *method = findBuiltin(record.module, name); method && method->isMember)
    return MethodValue{std::make_shared<const Value>(BuiltinValue{method}), std::make_shared<const Value>(object)};
  if (record.showsParts) // a method that only Python's class has: a drawing, for example
    return fromHost(module.host.memberOf(object, name), range);
  return error(diag::NoAttribute, range, record.name, name, suggestRecordAttribute(record, name));
}

static Value shapeTuple(const Type &type) {
  std::vector<Value> extents;
  for (int64_t extent : type.shape)
    extents.push_back(Value::integer(extent));
  return Value::tuple(std::move(extents));
}

Value TtFunctionEmitter::tensorAttribute(const Value &tensor, llvm::StringRef name, SourceRange range) {
  const Type &type = tensor.tensor()->type;
  if (name == "dtype")
    return TypeValue{type.element()};
  if (name == "type")
    return TypeValue{type};
  if (name == "shape")
    return shapeTuple(type);
  if (name == "numel")
    return Value::integer(type.elementCount());
  if (name == "T" && !type.isShared()) {
    const Builtin *trans = findBuiltin(languageModule, "trans");
    return callBuiltin(*trans, {{tensor, range}}, {}, range);
  }
  if (name == "layout" || (name == "rank" && type.layout) || (name == "nbytes_per_cta" && type.isShared()))
    return typeAttribute(type, name, range);
  if (type.isShared()) { // methods of buffers are built-ins of a module of their own
    if (const Builtin *method = findBuiltin(sharedMemoryModule, name); method && method->isMember)
      return MethodValue{std::make_shared<const Value>(BuiltinValue{method}), std::make_shared<const Value>(tensor)};
    return error(diag::NoAttribute, range, type.str(), name, "");
  }
  if (const Builtin *member = findMember(name))
    return MethodValue{std::make_shared<const Value>(BuiltinValue{member}), std::make_shared<const Value>(tensor)};
  if (const stdlib::Function *member = stdlib::findMember(name))
    return MethodValue{
        std::make_shared<const Value>(FunctionValue{module.stdlibFunction(member->module, member->name)}),
        std::make_shared<const Value>(tensor)};
  if (std::optional<HostResult> found = module.host.tensorMethod(name)) {
    Value method = fromHost(std::move(*found), range);
    if (method.isPoison())
      return method;
    return MethodValue{std::make_shared<const Value>(std::move(method)), std::make_shared<const Value>(tensor)};
  }
  return error(diag::NoAttribute, range, type.str(), name, suggestTensorAttribute(name));
}

/// The predicates of `tl.dtype` that depend only on the scalar.
static std::optional<bool> typePredicate(const Type &type, llvm::StringRef name) {
  const Scalar scalar = type.scalar;
  if (name == "is_ptr")
    return type.isPointer;
  if (name == "is_block")
    return type.isTile();
  if (name == "is_const")
    return type.isConst;
  if (type.isPointer)
    return name.starts_with("is_") ? std::optional<bool>(false) : std::nullopt;
  if (const auto general = llvm::StringSwitch<std::optional<bool>>(name)
                               .Case("is_floating", isFloating(scalar))
                               .Case("is_standard_floating", isFloating(scalar) && !isFp8(scalar))
                               .Case("is_int", isInteger(scalar))
                               .Case("is_bool", scalar == Scalar::Int1)
                               .Case("is_int_signed", isSignedInteger(scalar))
                               .Case("is_int_unsigned", isUnsignedInteger(scalar))
                               .Case("is_fp8", isFp8(scalar))
                               .Default(std::nullopt))
    return general;
  if (name.consume_front("is_"))
    for (const artifact::ElementInfo &info : artifact::kElementTypes) // `is_fp32`, `is_int8`
      if (info.kind != artifact::ElementKind::None && name == abbreviationOf(info.type))
        return scalar == info.type;
  return std::nullopt;
}

/// The limit of an integer type.
static llvm::DynamicAPInt integerLimit(const Type &type, bool isMax) {
  const unsigned bits = type.bits();
  if (isSignedInteger(type.scalar))
    return llvm::DynamicAPInt(isMax ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getSignedMinValue(bits));
  return llvm::DynamicAPInt(isMax ? llvm::APInt::getMaxValue(bits).zext(bits + 1) : llvm::APInt(bits + 1, 0));
}

/// The result of a method of a type without arguments.
static std::optional<Value> typeMethod(const Type &type, llvm::StringRef name) {
  if (std::optional<bool> known = typePredicate(type, name))
    return Value(*known);
  if (name == "get_block_shapes" && type.isTile())
    return shapeTuple(type);
  if (name == "mangle")
    return Value(type.mangle());
  if (type.isPointer || type.isTile())
    return std::nullopt;
  if (name == "get_int_max_value" && type.isInt())
    return Value(integerLimit(type, true));
  if (name == "get_int_min_value" && type.isInt())
    return Value(integerLimit(type, false));
  if (name == "kind" && type.scalar != Scalar::Void)
    return Value::integer(type.isBool() ? 0 : type.isInt() ? 1 : 2); // as in dtype.KIND
  if (name == "codegen_name")
    return Value(nameOf(type.scalar).str());
  return std::nullopt;
}

/// Attributes of a type that are numbers or strings.
static std::optional<Value> typeProperty(const Type &type, llvm::StringRef name) {
  if (name == "shape")
    return shapeTuple(type);
  if (name == "numel")
    return Value::integer(type.elementCount());
  if (name == "layout" && type.layout)
    return layoutValue(type.layout);
  if (name == "rank" && (type.layout || type.isShared()))
    return Value::integer(type.shape.size());
  if (name == "nbytes_per_cta" && type.isShared())
    return Value::integer(bytesPerCta(type));
  if (name == "nbytes" && type.isTile())
    return Value::integer(type.elementCount() * type.bits() / 8);
  if (name == "name")
    return Value(type.str());
  if (name == "primitive_bitwidth")
    return Value::integer(type.bits());
  if (name == "itemsize")
    return Value::integer(type.bits() / 8);
  if (name == "address_space" && type.isPointer)
    return Value::integer(1);
  if (name == "const" && type.isPointer)
    return Value(type.isConst);
  if (name == "int_bitwidth" && type.isInt())
    return Value::integer(type.bits());
  if (name == "int_signedness" && type.isInt())
    return Value::integer(isSignedInteger(type.scalar) ? 0 : 1); // as in dtype.SIGNEDNESS
  if (name == "fp_mantissa_width" && type.isFloat())
    return Value::integer(infoOf(type.scalar).mantissaBits);
  if (name == "exponent_bias" && type.isFloat())
    return Value::integer(infoOf(type.scalar).bias);
  return std::nullopt;
}

static Value emitWithElement(const CallSite &site) {
  std::optional<Type> element = site.emitter.constantType(site["scalar_ty"], site.rangeOf("scalar_ty"), "scalar_ty");
  return element ? Value(TypeValue{element->withShape(site["block_type"].get<TypeValue>()->type.shape)})
                 : Value::poison();
}

Value TtFunctionEmitter::typeAttribute(const Type &type, llvm::StringRef name, SourceRange range) {
  // A method is called: `x.dtype.is_fp16()`.
  static const Builtin answer{"...", "", {{"answer"}}, "", [](const CallSite &site) { return site.args[0]; }};
  static const Builtin withElement{"with_element_ty", "", {{"block_type"}, {"scalar_ty"}}, "", emitWithElement};
  auto method = [](const Builtin &builtin, Value self) {
    return MethodValue{std::make_shared<const Value>(BuiltinValue{&builtin}),
                       std::make_shared<const Value>(std::move(self))};
  };
  if (std::optional<Value> known = typeMethod(type, name))
    return method(answer, *known);
  if (name == "with_element_ty" && type.isTile())
    return method(withElement, TypeValue{type});
  const Type block = Type(type.scalar).withShape(type.shape);
  if (name == "element_ty" && type.pointsToBlock)
    return TypeValue{block};
  if (name == "element_ty")
    return TypeValue{type.isTile() ? type.element() : Type(type.scalar)};
  if (name == "block_type" && type.isDescriptor)
    return TypeValue{block};
  if (name == "scalar" || name == "dtype")
    return TypeValue{type.element()};
  if (std::optional<Value> known = typeProperty(type, name))
    return *known;
  return error(diag::NoAttribute, range, type.str(), name, suggestTypeAttribute(name));
}
