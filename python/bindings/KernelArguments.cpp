// Reads the types, constants and attributes of a kernel's parameters from Python objects.
// SPDX-License-Identifier: MIT
#include "python/bindings/KernelArguments.h"

#include "jit/Arguments.h"
#include "python/bindings/Elements.h"

#include <atomic>
#include <chrono>

using namespace nereid;
using namespace nereid::python;

//--- Keys --------------------------------------------------------------------------------------

/// Text that no other compilation has: for constants without a text of their own.
static std::string uniqueText() {
  static std::atomic<uint64_t> count{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return "unique " + std::to_string(now) + " " + std::to_string(count.fetch_add(1));
}

/// Whether the repr of such an object identifies its value: types and scalars of certain libraries.
static bool isSaidByRepr(nb::handle constant) {
  nb::object module = attributeOrNull(nb::handle(reinterpret_cast<PyObject *>(Py_TYPE(constant.ptr()))), "__module__");
  if (!module.is_valid() || !PyUnicode_Check(module.ptr()))
    return false;
  const std::string_view name = utf8(module);
  const bool isKnown = name == "torch" || name == "numpy" || name.starts_with("numpy.") || name.starts_with("triton.");
  const std::string text = reprOf(constant);
  return isKnown && Py_TYPE(constant.ptr())->tp_repr != PyBaseObject_Type.tp_repr &&
         text.find(" at 0x") == std::string::npos && text.find("...") == std::string::npos;
}

/// Text that differs where the methods or the constants of two classes differ, in every process.
static std::string classKey(nb::handle type) {
  nb::object module = checked(PyImport_ImportModule("triton.runtime.dependencies"));
  nb::object function = checked(PyObject_GetAttrString(module.ptr(), "class_key"));
  return std::string(utf8(checked(PyObject_CallOneArg(function.ptr(), type.ptr()))));
}

static std::string keyText(nb::handle constant);

/// The elements of an object whose class defines them: an enum's member, a dataclass; nullopt for others.
static std::optional<std::string> elementsText(nb::handle constant) {
  nb::handle type(reinterpret_cast<PyObject *>(Py_TYPE(constant.ptr())));
  if (nb::object members = attributeOrNull(type, "__members__"); members.is_valid())
    if (nb::object value = attributeOrNull(constant, "_value_"); value.is_valid())
      return classKey(type) + " " + keyText(value);
  nb::object fields = fieldNamesOfClass(type);
  if (!fields.is_valid())
    return std::nullopt;
  std::string text = classKey(type) + "{";
  for (nb::handle field : nb::borrow<nb::tuple>(fields))
    text += std::string(utf8(field)) + "=" + keyText(checked(PyObject_GetAttr(constant.ptr(), field.ptr()))) + ",";
  return text + "}";
}

/// Texts that are equal only for constants that compile alike, in every process.
static std::string keyText(nb::handle constant) {
  if (nb::object key = attributeOrNull(constant, "cache_key"); key.is_valid() && PyUnicode_Check(key.ptr()))
    return reprOf(constant) + " " + std::string(utf8(key));
  if (isConstexpr(constant))
    return keyText(checked(PyObject_GetAttrString(constant.ptr(), "value")));
  if (PyTuple_Check(constant.ptr()) || PyList_Check(constant.ptr())) {
    std::string text = isNamedTuple(constant) ? classKey(constant.type()) + "(" : "(";
    const Py_ssize_t size = PySequence_Size(constant.ptr());
    for (Py_ssize_t i = 0; i < size; ++i)
      text += keyText(checked(PySequence_GetItem(constant.ptr(), i))) + ",";
    return text + ")";
  }
  const bool isPlain = constant.is_none() || PyLong_Check(constant.ptr()) || PyFloat_Check(constant.ptr()) ||
                       PyUnicode_Check(constant.ptr()) || PyBytes_Check(constant.ptr());
  if (auto parts = elementsText(constant))
    return *parts;
  if (isPlain)
    return reprOf(constant);
  // Two objects of equal repr may differ in what the repr does not show.
  return isSaidByRepr(constant) ? std::string(Py_TYPE(constant.ptr())->tp_name) + " " + reprOf(constant) : uniqueText();
}

//--- Arguments ---------------------------------------------------------------------------------

namespace {
class ArgumentReader {
public:
  ArgumentReader(PyHost &host, const KernelDescription &description) : host(host), description(description) {}
  ParsedArgument read(nb::handle type, nb::tuple path, const std::string &name);

private:
  ParsedArgument tuple(nb::handle types, nb::tuple path, const std::string &name);
  ParsedArgument value(nb::handle type, nb::handle path, const std::string &name);
  std::optional<int64_t> attributeAt(nb::handle path, std::string_view name);
  int64_t divisibilityAt(nb::handle path);
  bool isWithin2GiBAt(nb::handle path);

  PyHost &host;
  const KernelDescription &description;
};
} // namespace

/// The class of the objects with these field types; null for a tuple's.
static nb::object classOf(nb::handle types) {
  if (isA(types, packageNames().fieldTypes))
    return checked(PyObject_GetAttrString(types.ptr(), "object_class"));
  return isNamedTuple(types) ? nb::borrow(types.type()) : nb::object();
}

/// The names and the class of a tuple of types, without its elements.
static sema::TupleValue kindOf(nb::handle types, nb::handle owner) {
  sema::TupleValue kind;
  if (!owner.is_valid())
    return kind;
  const bool isObject = isA(types, packageNames().fieldTypes);
  auto names = std::make_shared<std::vector<std::string>>();
  nb::object fields = checked(PyObject_GetAttrString(types.ptr(), isObject ? "fields" : "_fields"));
  for (nb::handle field : nb::borrow<nb::tuple>(checked(PySequence_Tuple(fields.ptr()))))
    names->emplace_back(utf8(field));
  kind.fields = names;
  kind.hostClass = std::make_shared<PyHostObject>(owner);
  if (!isObject)
    return kind;
  kind.className = std::make_shared<const std::string>(
      std::string(utf8(checked(PyObject_GetAttrString(owner.ptr(), "__module__")))) + "." +
      std::string(utf8(checked(PyObject_GetAttrString(owner.ptr(), "__qualname__")))));
  kind.keepsConstants = isAggregateClass(owner);
  return kind;
}

ParsedArgument ArgumentReader::tuple(nb::handle types, nb::tuple path, const std::string &name) {
  std::vector<sema::KernelArgument> elements;
  std::vector<jit::ArgumentSpec> specs;
  nb::object owner = classOf(types);
  std::string classes = owner.is_valid() ? name + ": " + classKey(owner) + "\n" : "";
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types.ptr()); ++i) {
    nb::object at = checked(PySequence_Concat(path.ptr(), nb::make_tuple(i).ptr()));
    ParsedArgument element =
        read(PyTuple_GET_ITEM(types.ptr(), i), nb::borrow<nb::tuple>(at), name + "[" + std::to_string(i) + "]");
    elements.push_back(std::move(element.argument));
    specs.push_back(std::move(element.spec));
    classes += element.classes;
  }
  return {jit::tupleArgument(std::move(elements), kindOf(types, owner)), jit::ArgumentSpec::tuple(std::move(specs)),
          std::move(classes)};
}

static int64_t numberOf(std::string_view name, nb::handle value, nb::handle entry) {
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    raise(PyExc_TypeError, "attributes must be pairs of a name and a number, got " + reprOf(entry));
  }
  if (overflow)
    raise(PyExc_ValueError, std::string(name) + " must fit in 64 bits, got " + reprOf(value));
  return number;
}

/// The number of an attribute of the parameter; nothing where it has none.
std::optional<int64_t> ArgumentReader::attributeAt(nb::handle path, std::string_view name) {
  PyObject *entries = PyDict_GetItemWithError(description.attributes.ptr(), path.ptr());
  if (!entries)
    return std::nullopt;
  std::optional<int64_t> number;
  for (nb::handle entry : nb::borrow<nb::tuple>(checked(PySequence_Tuple(entries)))) {
    const auto pair = nb::borrow<nb::tuple>(checked(PySequence_Tuple(entry.ptr())));
    if (pair.size() != 2 || !PyUnicode_Check(nb::object(pair[0]).ptr()))
      raise(PyExc_TypeError, "attributes must be pairs of a name and a number, got " + reprOf(pair));
    if (utf8(nb::object(pair[0])) == name)
      number = numberOf(name, nb::object(pair[1]), pair);
  }
  return number;
}

int64_t ArgumentReader::divisibilityAt(nb::handle path) {
  const int64_t divisibility = attributeAt(path, "tt.divisibility").value_or(1);
  if (divisibility < 1 || (divisibility & (divisibility - 1)))
    raise(PyExc_ValueError, "tt.divisibility must be a power of 2, got " + std::to_string(divisibility));
  return divisibility;
}

bool ArgumentReader::isWithin2GiBAt(nb::handle path) {
  const std::optional<int64_t> range = attributeAt(path, "tt.pointer_range");
  if (range && *range != 32)
    raise(PyExc_ValueError, "tt.pointer_range must be 32, got " + std::to_string(*range));
  return range.has_value();
}

ParsedArgument ArgumentReader::value(nb::handle type, nb::handle path, const std::string &name) {
  std::optional<jit::ArgumentSpec> spec = jit::specOfType(utf8(type));
  if (spec && spec->canDivide()) {
    spec->divisibility = divisibilityAt(path);
    spec->within2GiB = spec->kind == jit::ArgumentKind::Pointer && isWithin2GiBAt(path);
  }
  std::optional<sema::KernelArgument> argument = spec ? jit::valueArgument(*spec) : std::nullopt;
  if (!argument)
    raise(PyExc_ValueError, "parameter `" + name + "` has the type " + reprOf(type) + ", which kernels cannot take");
  return {std::move(*argument), std::move(*spec)};
}

ParsedArgument ArgumentReader::read(nb::handle type, nb::tuple path, const std::string &name) {
  if (PyTuple_Check(type.ptr()))
    return tuple(type, path, name);
  if (PyObject *constant = PyDict_GetItemWithError(description.constants.ptr(), path.ptr()))
    return {jit::constantArgument(host.toValue(constant)), jit::ArgumentSpec::constant(keyText(constant))};
  if (PyErr_Occurred())
    throw nb::python_error();
  if (!PyUnicode_Check(type.ptr()))
    raise(PyExc_TypeError, "the type of parameter `" + name + "` must be a str, got " + reprOf(type));
  if (utf8(type) == "constexpr")
    raise(PyExc_ValueError, "parameter `" + name + "` is constexpr, but no value is given for it");
  return value(type, path, name);
}

ParsedArgument nereid::python::readArgument(PyHost &host, const KernelDescription &description, uint32_t index,
                                            nb::handle type, const std::string &name) {
  return ArgumentReader(host, description).read(type, nb::make_tuple(index), name);
}
