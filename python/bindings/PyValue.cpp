// Converts Python objects to values of sema, and back.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Builtin.h"
#include "compiler/sema/Numbers.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/sema/gluon/Names.h"
#include "compiler/sema/gluon/Types.h"
#include "compiler/stdlib/Stdlib.h"
#include "python/bindings/Elements.h"
#include "python/bindings/PyHost.h"
#include "python/bindings/Semantic.h"

#include "llvm/ADT/StringExtras.h"

using namespace nereid;
using namespace nereid::python;
using sema::Value;

static constexpr unsigned maxDepth = 64;

//--- Integers ----------------------------------------------------------------------------------

/// The integer at full size, through hexadecimal digits, which every version of Python supports.
static llvm::DynamicAPInt integerFrom(nb::handle number) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow == 0) {
    if (small == -1 && PyErr_Occurred())
      throw nb::python_error();
    return llvm::DynamicAPInt(small);
  }
  nb::object digits = checked(PyNumber_ToBase(number.ptr(), 16));
  llvm::StringRef text = utf8(digits);
  const bool isNegative = text.consume_front("-");
  text.consume_front("0x");
  if (text.size() * 4 > sema::maxIntegerBits)
    raise(PyExc_OverflowError,
          "an integer of more than " + std::to_string(sema::maxIntegerBits) + " bits cannot be used in a kernel");
  llvm::DynamicAPInt magnitude(llvm::APInt(text.size() * 4 + 1, text, 16));
  return isNegative ? -magnitude : magnitude;
}

static nb::object integerTo(const llvm::DynamicAPInt &number) {
  if (number >= std::numeric_limits<int64_t>::min() && number <= std::numeric_limits<int64_t>::max())
    return checked(PyLong_FromLongLong(int64_t(number)));
  llvm::SmallString<64> digits;
  sema::wrapped(number, sema::maxIntegerBits + 1).toString(digits, 16, /*Signed=*/true);
  return checked(PyLong_FromString(digits.c_str(), nullptr, 16));
}

//--- To sema -----------------------------------------------------------------------------------

static std::optional<sema::Scalar> scalarOf(llvm::StringRef abbreviation) {
  for (const artifact::ElementInfo &info : artifact::kElementTypes)
    if (abbreviation == llvm::StringRef(info.abbreviation()))
      return info.type;
  return std::nullopt;
}

/// The type of an object of class `dtype`; nullopt where sema has no such type.
std::optional<sema::Type> PyHost::typeOf(nb::handle dtype) {
  const PackageNames &names = packageNames();
  if (isA(dtype, names.pointerType)) {
    auto pointee = typeOf(checked(PyObject_GetAttrString(dtype.ptr(), "element_ty")));
    const bool isConst = isTrue(checked(PyObject_GetAttrString(dtype.ptr(), "const")));
    if (!pointee || pointee->isPointer || pointee->isTile())
      return std::nullopt;
    return sema::Type::pointerTo(pointee->scalar, isConst);
  }
  if (isA(dtype, names.blockType)) {
    auto element = typeOf(checked(PyObject_GetAttrString(dtype.ptr(), "element_ty")));
    nb::object shape = checked(PySequence_Tuple(checked(PyObject_GetAttrString(dtype.ptr(), "shape")).ptr()));
    llvm::SmallVector<int64_t> extents;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape.ptr()); ++i)
      extents.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(shape.ptr(), i)));
    if (PyErr_Occurred())
      throw nb::python_error();
    return element && !element->isTile() ? std::optional(element->withShape(extents)) : std::nullopt;
  }
  nb::object name = checked(PyObject_GetAttrString(dtype.ptr(), "name"));
  std::optional<sema::Scalar> scalar = scalarOf(utf8(name));
  return scalar ? std::optional(sema::Type(*scalar)) : std::nullopt;
}

/// A library function written in the language; one object serves all compilations.
static std::shared_ptr<sema::JitFunction> libraryFunction(llvm::StringRef module, llvm::StringRef name) {
  const stdlib::Function *entry = stdlib::find(module, name);
  if (!entry)
    return nullptr;
  auto function = std::make_shared<sema::JitFunction>();
  function->name = entry->name.str();
  function->qualified = (entry->module + "." + entry->name).str();
  function->file = entry->file;
  function->arena = entry->arena;
  function->definition = entry->definition;
  function->isStdlib = true;
  return function;
}

std::shared_ptr<sema::JitFunction> PyHost::describe(nb::handle object) {
  auto attribute = [&](const char *name) { return checked(PyObject_GetAttrString(object.ptr(), name)); };
  auto text = [&](const char *name) { return std::string(utf8(attribute(name))); };
  auto number = [&](const char *name) {
    const unsigned long value = PyLong_AsUnsignedLong(attribute(name).ptr());
    if (PyErr_Occurred())
      throw nb::python_error();
    return static_cast<uint32_t>(value);
  };
  auto function = std::make_shared<sema::JitFunction>();
  function->name = text("__name__");
  function->qualified = text("__module__") + "." + text("__qualname__");
  function->file = std::make_shared<support::SourceFile>(
      displayed(attribute("file_name")), text("src"),
      support::SourceOrigin{number("def_file_line_number"), number("def_file_col_number")});
  function->noinline = isTrue(attribute("noinline"));
  function->isGluon = isTrue(checked(PyObject_CallMethod(object.ptr(), "is_gluon", nullptr)));
  function->scope = reference(object);
  if (nb::object message = attributeOrNull(object, "_must_use_result"); message.is_valid() && !message.is_none())
    function->mustUseResult = PyUnicode_Check(message.ptr()) ? " " + std::string(utf8(message)) : std::string();
  return function;
}

void PyHost::readDefaults(nb::handle object, sema::JitFunction &function) {
  nb::object params = checked(PySequence_Tuple(checked(PyObject_GetAttrString(object.ptr(), "params")).ptr()));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(params.ptr()); ++i) {
    nb::handle param = PyTuple_GET_ITEM(params.ptr(), i);
    const bool has = isTrue(checked(PyObject_GetAttrString(param.ptr(), "has_default")));
    function.defaults.push_back(has ? std::optional(toValue(checked(PyObject_GetAttrString(param.ptr(), "default"))))
                                    : std::nullopt);
  }
}

std::shared_ptr<sema::JitFunction> PyHost::function(nb::handle object) {
  if (auto known = functions.find(object.ptr()); known != functions.end())
    return known->second;
  auto created = describe(object);
  functions[object.ptr()] = created; // before the defaults, which may refer to the function itself
  try {
    readDefaults(object, *created);
  } catch (nb::python_error &) {
    functions.erase(object.ptr()); // incomplete; a later lookup fails likewise
    throw;
  }
  return created;
}

/// The texts from iterating over `object`.
static std::shared_ptr<std::vector<std::string>> namesOf(nb::handle object) {
  nb::object tuple = checked(PySequence_Tuple(object.ptr()));
  auto names = std::make_shared<std::vector<std::string>>();
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.ptr()); ++i)
    names->emplace_back(utf8(PyTuple_GET_ITEM(tuple.ptr(), i)));
  return names;
}

bool nereid::python::isAggregateClass(nb::handle object) {
  return PyType_Check(object.ptr()) &&
         PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(object.ptr()),
                          reinterpret_cast<PyTypeObject *>(packageNames().aggregateValue));
}

bool nereid::python::isDataclass(nb::handle object) {
  return PyType_Check(object.ptr()) && attributeOrNull(object, "__dataclass_fields__").is_valid();
}

Value PyHost::elementsToValue(nb::handle sequence, unsigned depth) {
  std::vector<Value> elements;
  const Py_ssize_t size = PySequence_Size(sequence.ptr());
  if (size < 0)
    throw nb::python_error();
  for (Py_ssize_t i = 0; i < size; ++i)
    elements.push_back(toValue(checked(PySequence_GetItem(sequence.ptr(), i)), depth + 1));
  sema::TupleValue tuple;
  tuple.elements = std::make_shared<const std::vector<Value>>(std::move(elements));
  if (PyTuple_Check(sequence.ptr()) && isNamedTuple(sequence)) {
    tuple.fields = namesOf(checked(PyObject_GetAttrString(sequence.ptr(), "_fields")));
    tuple.hostClass = reference(reinterpret_cast<PyObject *>(Py_TYPE(sequence.ptr())));
  } else if (sequence.type().ptr() == packageNames().tupleClass) {
    nb::object type = checked(PyObject_GetAttrString(sequence.ptr(), "type"));
    auto names = namesOf(checked(PyObject_GetAttrString(type.ptr(), "fields")));
    if (!names->empty() && !names->front().empty())
      tuple.fields = names;
  }
  return tuple;
}

Value PyHost::objectToValue(nb::handle object, nb::handle names, bool keepsConstants, unsigned depth) {
  sema::TupleValue created;
  created.fields = namesOf(names);
  std::vector<Value> elements;
  for (const std::string &name : *created.fields)
    elements.push_back(toValue(checked(PyObject_GetAttrString(object.ptr(), name.c_str())), depth + 1));
  created.elements = std::make_shared<const std::vector<Value>>(std::move(elements));
  nb::object type = nb::borrow(object.type());
  created.hostClass = reference(type);
  created.className = std::make_shared<const std::string>(
      std::string(utf8(checked(PyObject_GetAttrString(type.ptr(), "__module__")))) + "." +
      std::string(utf8(checked(PyObject_GetAttrString(type.ptr(), "__qualname__")))));
  created.keepsConstants = keepsConstants;
  return created;
}

static const sema::Builtin *builtinForClass(nb::handle object);

/// The module of a layout's class.
static llvm::StringRef homeOf(const sema::LayoutClass &layout) {
  return layout.module.empty() ? llvm::StringRef(sema::gluonModule) : layout.module;
}

/// Whether the object is a buffer in shared memory of a kernel under compilation.
static bool isBuffer(nb::handle object) {
  return llvm::StringRef(Py_TYPE(object.ptr())->tp_name) == "shared_memory_descriptor" &&
         attributeOrNull(object, "handle").is_valid();
}

/// A layout of Gluon's language; nothing for other objects.
std::optional<Value> PyHost::layoutFrom(nb::handle object, unsigned depth) {
  const llvm::StringRef type = Py_TYPE(object.ptr())->tp_name; // a class of Python has no module in this name
  const sema::LayoutClass *known = type.ends_with("Layout") ? sema::findLayoutClass(type) : nullptr;
  if (!known || !builtinForClass(object.type()))
    return std::nullopt;
  std::vector<Value> fields;
  for (llvm::StringRef field : known->record.fields)
    fields.push_back(toValue(checked(PyObject_GetAttrString(object.ptr(), field.str().c_str())), depth + 1));
  return Value::record(known->record, std::move(fields));
}

/// A type of Gluon's language that the host has made; nothing for other objects.
std::optional<Value> PyHost::gluonTypeFrom(nb::handle object, unsigned depth) {
  const llvm::StringRef name = Py_TYPE(object.ptr())->tp_name;
  for (const sema::RecordClass *known : {&sema::tileTypeClass(), &sema::bufferTypeClass()}) {
    if (name != known->name || !builtinForClass(object.type()))
      continue;
    std::vector<Value> fields;
    for (llvm::StringRef field : known->fields)
      fields.push_back(toValue(checked(PyObject_GetAttrString(object.ptr(), field.str().c_str())), depth + 1));
    return Value::record(*known, std::move(fields));
  }
  return std::nullopt;
}

/// A tensor, an aggregate, or a dataclass that contains one of these.
std::optional<Value> PyHost::knownObject(nb::handle object, unsigned depth) {
  const PackageNames &names = packageNames();
  if (std::optional<Value> layout = layoutFrom(object, depth))
    return layout;
  if (isA(object, names.tensorClass) || isBuffer(object))
    return tensorFrom(*this, object);
  if (isA(object, names.aggregateValue))
    return objectToValue(object, fieldNamesOfClass(object.type()), true, depth);
  if (PyType_Check(object.ptr()) || !isDataclass(object.type()))
    return std::nullopt;
  Value created = objectToValue(object, fieldNamesOfClass(object.type()), false, depth);
  return created.isConstant() ? std::nullopt : std::optional(std::move(created));
}

Value PyHost::toValue(nb::handle object) { return toValue(object, 0); }

/// Classes that sema has a built-in for: `int`, `tl.tensor`. Null for all others.
static const sema::Builtin *builtinForClass(nb::handle object) {
  if (!PyType_Check(object.ptr()))
    return nullptr;
  nb::object module = attributeOrNull(object, "__module__"), name = attributeOrNull(object, "__name__");
  if (!module.is_valid() || !PyUnicode_Check(module.ptr()) || !name.is_valid())
    return nullptr;
  const std::string_view where = utf8(module);
  if (where == "builtins")
    return sema::findBuiltin(where, utf8(name));
  if (where.starts_with(llvm::StringRef(sema::gluonModule))) {
    const sema::LayoutClass *layout = sema::findLayoutClass(utf8(name));
    return sema::findBuiltin(layout ? homeOf(*layout) : llvm::StringRef(sema::gluonModule), utf8(name));
  }
  return where.starts_with("triton.language") ? sema::findBuiltin("triton.language", utf8(name)) : nullptr;
}

/// Whether the object is a numpy scalar, which is treated as the number in it.
static bool isNumpyScalar(nb::handle object) {
  const bool isNumber = llvm::StringRef(Py_TYPE(object.ptr())->tp_name).starts_with("numpy.") &&
                        !PyFloat_Check(object.ptr()) && PyIndex_Check(object.ptr());
  nb::object shape = isNumber ? attributeOrNull(object, "shape") : nb::object();
  return isNumber && !(shape.is_valid() && isTrue(shape)); // an array with dimensions is none
}

Value PyHost::toValue(nb::handle object, unsigned depth) {
  if (depth > maxDepth)
    raise(PyExc_RecursionError, "a tuple nests deeper than " + std::to_string(maxDepth) + " levels");
  if (object.is_none())
    return Value();
  if (object.ptr() == Py_Ellipsis)
    return sema::EllipsisValue{};
  if (PyBool_Check(object.ptr()))
    return object.ptr() == Py_True;
  if (PyLong_Check(object.ptr()))
    return integerFrom(object);
  if (PyFloat_Check(object.ptr()))
    return PyFloat_AS_DOUBLE(object.ptr());
  if (PyUnicode_Check(object.ptr()))
    return std::string(utf8(object));
  if (PyTuple_Check(object.ptr()) || PyList_Check(object.ptr()))
    return elementsToValue(object, depth);
  if (isJitFunction(object))
    return sema::FunctionValue{function(object)};

  const PackageNames &names = packageNames();
  PyObject *type = object.type().ptr();
  if (type == names.constexprClass)
    return sema::asConstexpr(toValue(checked(PyObject_GetAttrString(object.ptr(), "value")), depth + 1));
  if (type == names.tupleClass)
    return elementsToValue(object, depth);
  if (type == names.builtinClass) {
    nb::object module = checked(PyObject_GetAttrString(object.ptr(), "__module__"));
    nb::object name = checked(PyObject_GetAttrString(object.ptr(), "__name__"));
    if (const sema::Builtin *builtin = sema::findBuiltin(utf8(module), utf8(name)))
      return sema::BuiltinValue{builtin};
    if (auto known = functions.find(object.ptr()); known != functions.end())
      return sema::FunctionValue{known->second};
    if (auto created = libraryFunction(utf8(module), utf8(name))) {
      functions[object.ptr()] = created;
      return sema::FunctionValue{created};
    }
  }
  if (std::optional<Value> known = gluonTypeFrom(object, depth))
    return *known;
  if (isA(object, names.dtypeClass))
    if (std::optional<sema::Type> known = typeOf(object))
      return sema::TypeValue{*known};
  if (PySlice_Check(object.ptr())) {
    std::vector<Value> parts;
    for (const char *part : {"start", "stop", "step"})
      parts.push_back(toValue(checked(PyObject_GetAttrString(object.ptr(), part)), depth + 1));
    return sema::SliceValue{std::make_shared<const std::vector<Value>>(std::move(parts))};
  }
  if (const sema::Builtin *builtin = builtinForClass(object))
    return sema::BuiltinValue{builtin};
  if (std::optional<Value> known = knownObject(object, depth))
    return *known;
  if (isNumpyScalar(object))
    return integerFrom(checked(PyNumber_Index(object.ptr())));
  return sema::HostValue{reference(object)};
}

//--- From sema ---------------------------------------------------------------------------------

/// The Python object `module`.`name`.
static nb::object importedMember(llvm::StringRef module, llvm::StringRef name) {
  nb::object object = checked(PyImport_ImportModule(module.str().c_str()));
  return checked(PyObject_GetAttrString(object.ptr(), name.str().c_str()));
}

static nb::object tupleTo(PyHost &host, const sema::TupleValue &tuple) {
  nb::object elements = checked(PyTuple_New(static_cast<Py_ssize_t>(tuple.elements->size())));
  for (auto [index, element] : llvm::enumerate(*tuple.elements))
    PyTuple_SET_ITEM(elements.ptr(), index, host.toObject(element).release().ptr());
  if (!tuple.hostClass)
    return elements;
  return checked(PyObject_CallObject(objectOf(tuple.hostClass), elements.ptr()));
}

/// Creates an instance without running `__init__`.
nb::object PyHost::fieldsToObject(const sema::TupleValue &object) {
  PyObject *type = objectOf(object.hostClass);
  nb::object values = checked(PyTuple_New(static_cast<Py_ssize_t>(object.elements->size())));
  for (auto [index, element] : llvm::enumerate(*object.elements))
    PyTuple_SET_ITEM(values.ptr(), index, toObject(element).release().ptr());
  if (isAggregateClass(type))
    return checked(PyObject_CallMethod(type, "_from_fields", "(O)", values.ptr()));
  nb::object created = checked(PyObject_CallMethod(type, "__new__", "O", type));
  for (auto [index, name] : llvm::enumerate(*object.fields))
    if (PyObject_GenericSetAttr(created.ptr(), textOf(name).ptr(), PyTuple_GET_ITEM(values.ptr(), index)) != 0)
      throw nb::python_error();
  return created;
}

/// A list of extents.
static nb::object extentsTo(llvm::ArrayRef<int64_t> extents) {
  nb::object list = checked(PyList_New(0));
  for (int64_t extent : extents)
    if (PyList_Append(list.ptr(), checked(PyLong_FromLongLong(extent)).ptr()) != 0)
      throw nb::python_error();
  return list;
}

/// The type of a tile with a layout, or of a buffer in shared memory.
static nb::object gluonTypeTo(const sema::Type &type) {
  const sema::Type element =
      type.isPointer ? sema::Type::pointerTo(type.scalar, type.isConst) : sema::Type(type.scalar);
  PyHost host(false);
  nb::object layout = host.toObject(sema::layoutValue(type.layout));
  nb::object make =
      importedMember((sema::gluonModule + "._core").str(), type.isShared() ? "_buffer_type" : "_tile_type");
  return checked(PyObject_CallFunctionObjArgs(make.ptr(), typeTo(element).ptr(), extentsTo(type.shape).ptr(),
                                              layout.ptr(), extentsTo(type.allocation).ptr(), nullptr));
}

nb::object nereid::python::typeTo(const sema::Type &type) {
  if (type.layout)
    return gluonTypeTo(type);
  nb::object shape = nb::none();
  if (type.isTile())
    shape = extentsTo(type.shape);
  return checked(PyObject_CallFunction(packageNames().tensorType, "sOOO",
                                       sema::abbreviationOf(type.scalar).str().c_str(), shape.ptr(),
                                       type.isPointer ? Py_True : Py_False, type.isConst ? Py_True : Py_False));
}

static nb::object functionTo(const sema::JitFunction &function) {
  if (function.scope)
    return nb::borrow(objectOf(function.scope));
  auto [module, name] = llvm::StringRef(function.qualified).rsplit('.');
  return importedMember(module, name);
}

/// A layout as an object of its Python class, with lists in place of tuples.
static nb::object layoutTo(PyHost &host, const sema::LayoutClass &layout, const Value &value) {
  nb::object fields = checked(PyTuple_New(static_cast<Py_ssize_t>(value.parts()->size())));
  for (auto [index, part] : llvm::enumerate(*value.parts()))
    PyTuple_SET_ITEM(fields.ptr(), index, host.toObject(part).release().ptr());
  return checked(PyObject_CallObject(importedMember(homeOf(layout), layout.record.name).ptr(), fields.ptr()));
}

nb::object PyHost::toObject(const Value &value) {
  if (value.isNone())
    return nb::none();
  if (value.is<sema::EllipsisValue>())
    return nb::borrow(Py_Ellipsis);
  if (const bool *truth = value.get<bool>())
    return nb::borrow(*truth ? Py_True : Py_False);
  if (const llvm::DynamicAPInt *number = value.integer())
    return integerTo(*number);
  if (const double *number = value.get<double>())
    return checked(PyFloat_FromDouble(*number));
  if (const std::string *text = value.get<std::string>())
    return textOf(*text);
  if (const auto *type = value.get<sema::TypeValue>())
    return typeTo(type->type);
  if (const auto *object = value.object())
    return fieldsToObject(*object);
  if (const sema::LayoutClass *layout = sema::layoutClassOf(value))
    return layoutTo(*this, *layout, value);
  if (const auto *tuple = value.get<sema::TupleValue>(); tuple && !tuple->record)
    return tupleTo(*this, *tuple);
  if (const sema::TensorValue *tensor = value.tensor(); tensor && !activeCalls.empty())
    return tensorTo(*tensor, activeCalls.back());
  if (const auto *method = value.get<sema::MethodValue>())
    return checked(PyMethod_New(toObject(*method->function).ptr(), toObject(*method->self).ptr()));
  if (const auto *slice = value.get<sema::SliceValue>()) {
    nb::object start = toObject((*slice->parts)[0]), stop = toObject((*slice->parts)[1]),
               step = toObject((*slice->parts)[2]);
    return checked(PySlice_New(start.ptr(), stop.ptr(), step.ptr()));
  }
  if (const auto *builtin = value.get<sema::BuiltinValue>())
    return importedMember(builtin->builtin->module, builtin->builtin->name);
  if (const auto *function = value.get<sema::FunctionValue>())
    return functionTo(*function->function);
  if (const auto *module = value.get<sema::ModuleValue>())
    return checked(PyImport_ImportModule(module->name.c_str()));
  if (const auto *object = value.get<sema::HostValue>())
    return nb::borrow(objectOf(object->object));
  raise(PyExc_TypeError,
        "a " + value.kindName() + " cannot be handed to Python code while compiling; only constants can");
}

nb::object PyHost::wrapped(const Value &value) {
  const PackageNames &names = packageNames();
  const auto *tuple = value.get<sema::TupleValue>();
  if (!tuple || tuple->isObject() || tuple->record)
    return checked(PyObject_CallFunctionObjArgs(names.wrapConstant, toObject(value).ptr(), nullptr));
  nb::object elements = checked(PyTuple_New(static_cast<Py_ssize_t>(tuple->elements->size())));
  for (auto [index, element] : llvm::enumerate(*tuple->elements))
    PyTuple_SET_ITEM(elements.ptr(), index, wrapped(element).release().ptr());
  if (tuple->hostClass)
    return checked(PyObject_CallObject(objectOf(tuple->hostClass), elements.ptr()));
  nb::object created = checked(PyObject_CallFunctionObjArgs(names.tupleClass, elements.ptr(), nullptr));
  if (tuple->fields) {
    nb::list fields;
    for (const std::string &name : *tuple->fields)
      fields.append(textOf(name));
    nb::object type = checked(PyObject_GetAttrString(created.ptr(), "type"));
    if (PyObject_SetAttrString(type.ptr(), "fields", fields.ptr()) != 0)
      throw nb::python_error();
  }
  return created;
}
