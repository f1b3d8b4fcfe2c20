// Reads the types, constants and attributes of a kernel's parameters from Python objects.
// SPDX-License-Identifier: MIT
#include "python/bindings/KernelArguments.h"

#include "jit/Classify.h"
#include "python/bindings/Elements.h"

#include <atomic>
#include <chrono>

using namespace nereid;
using namespace nereid::python;
using sema::Value;

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
  ParsedArgument constant(nb::handle value);
  ParsedArgument tuple(nb::handle types, nb::tuple path, const std::string &name);
  static sema::TupleValue kindOf(nb::handle types);
  static nb::object classOf(nb::handle types);
  std::optional<int64_t> attributeAt(nb::handle path, std::string_view name);
  int64_t divisibilityAt(nb::handle path);
  unsigned pointerRangeAt(nb::handle path);

  PyHost &host;
  const KernelDescription &description;
};
} // namespace

ParsedArgument ArgumentReader::constant(nb::handle value) {
  ParsedArgument parsed;
  parsed.argument.constant = host.toValue(value);
  parsed.signature = jit::ArgumentSpec::constant(keyText(value));
  return parsed;
}

/// The class of the objects with these field types; null for a tuple's.
nb::object ArgumentReader::classOf(nb::handle types) {
  if (isA(types, packageNames().fieldTypes))
    return checked(PyObject_GetAttrString(types.ptr(), "object_class"));
  return isNamedTuple(types) ? nb::borrow(types.type()) : nb::object();
}

/// The names and the class of a tuple of types, without its elements.
sema::TupleValue ArgumentReader::kindOf(nb::handle types) {
  sema::TupleValue kind;
  nb::object owner = classOf(types);
  if (!owner.is_valid())
    return kind;
  const bool isObject = isA(types, packageNames().fieldTypes);
  auto names = std::make_shared<std::vector<std::string>>();
  nb::object fields = checked(PyObject_GetAttrString(types.ptr(), isObject ? "fields" : "_fields"));
  fields = checked(PySequence_Tuple(fields.ptr()));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fields.ptr()); ++i)
    names->emplace_back(utf8(PyTuple_GET_ITEM(fields.ptr(), i)));
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
  ParsedArgument parsed;
  std::vector<Value> constants;
  std::vector<jit::ArgumentSpec> signatures;
  if (nb::object type = classOf(types); type.is_valid())
    parsed.classes = name + ": " + classKey(type) + "\n";
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types.ptr()); ++i) {
    nb::object at = checked(PySequence_Concat(path.ptr(), nb::make_tuple(i).ptr()));
    ParsedArgument element =
        read(PyTuple_GET_ITEM(types.ptr(), i), nb::borrow<nb::tuple>(at), name + "[" + std::to_string(i) + "]");
    if (element.argument.constant)
      constants.push_back(*element.argument.constant);
    parsed.argument.elements.push_back(std::move(element.argument));
    signatures.push_back(std::move(element.signature));
    parsed.classes += element.classes;
  }
  sema::TupleValue kind = kindOf(types);
  parsed.signature = jit::ArgumentSpec::tuple(std::move(signatures));
  if (constants.size() < parsed.argument.elements.size()) {
    parsed.argument.compound = std::move(kind);
    return parsed;
  }
  kind.elements = std::make_shared<const std::vector<Value>>(std::move(constants));
  parsed.argument.constant = std::move(kind);
  return parsed;
}

/// The number of an attribute of the parameter; nothing where it has none.
std::optional<int64_t> ArgumentReader::attributeAt(nb::handle path, std::string_view name) {
  PyObject *entries = PyDict_GetItemWithError(description.attributes.ptr(), path.ptr());
  if (!entries)
    return std::nullopt;
  std::optional<int64_t> found;
  nb::object list = checked(PySequence_Tuple(entries));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list.ptr()); ++i) {
    nb::object pair = checked(PySequence_Tuple(PyTuple_GET_ITEM(list.ptr(), i)));
    if (PyTuple_GET_SIZE(pair.ptr()) != 2 || !PyUnicode_Check(PyTuple_GET_ITEM(pair.ptr(), 0)))
      raise(PyExc_TypeError, "attributes must be pairs of a name and a number, got " + reprOf(pair));
    if (utf8(PyTuple_GET_ITEM(pair.ptr(), 0)) != name)
      continue;
    int overflow = 0;
    found = PyLong_AsLongLongAndOverflow(PyTuple_GET_ITEM(pair.ptr(), 1), &overflow);
    if (PyErr_Occurred()) {
      PyErr_Clear();
      raise(PyExc_TypeError, "attributes must be pairs of a name and a number, got " + reprOf(pair));
    }
    if (overflow)
      raise(PyExc_ValueError,
            std::string(name) + " must fit in 64 bits, got " + reprOf(PyTuple_GET_ITEM(pair.ptr(), 1)));
  }
  return found;
}

int64_t ArgumentReader::divisibilityAt(nb::handle path) {
  const int64_t divisibility = attributeAt(path, "tt.divisibility").value_or(1);
  if (divisibility < 1 || (divisibility & (divisibility - 1)))
    raise(PyExc_ValueError, "tt.divisibility must be a power of 2, got " + std::to_string(divisibility));
  return divisibility;
}

/// 32, or 0 where there is no such attribute.
unsigned ArgumentReader::pointerRangeAt(nb::handle path) {
  const std::optional<int64_t> range = attributeAt(path, "tt.pointer_range");
  if (range && *range != 32)
    raise(PyExc_ValueError, "tt.pointer_range must be 32, got " + std::to_string(*range));
  return range ? 32 : 0;
}

ParsedArgument ArgumentReader::read(nb::handle type, nb::tuple path, const std::string &name) {
  if (PyTuple_Check(type.ptr()))
    return tuple(type, path, name);
  PyObject *value = PyDict_GetItemWithError(description.constants.ptr(), path.ptr());
  if (value)
    return constant(value);
  if (PyErr_Occurred())
    throw nb::python_error();
  if (!PyUnicode_Check(type.ptr()))
    raise(PyExc_TypeError, "the type of parameter `" + name + "` must be a str, got " + reprOf(type));
  const std::string_view text = utf8(type);
  if (text == "constexpr")
    raise(PyExc_ValueError, "parameter `" + name + "` is constexpr, but no value is given for it");

  const std::optional<sema::Type> known = sema::Type::fromSignature(text);
  if (!known)
    raise(PyExc_ValueError, "parameter `" + name + "` has the type " + reprOf(type) + ", which kernels cannot take");
  ParsedArgument parsed;
  parsed.argument.type = *known;
  const bool canDivide = !known->isDescriptor && (known->isPointer || known->isInt());
  parsed.argument.divisibility = canDivide ? divisibilityAt(path) : 1;
  parsed.argument.pointerRange = canDivide && known->isPointer ? pointerRangeAt(path) : 0;
  const auto scalar = artifact::elementOfSignature(sema::signatureOf(known->scalar));
  if (!scalar)
    raise(PyExc_ValueError, "parameter `" + name + "` has the type " + reprOf(type) + ", which kernels cannot take");
  if (known->isDescriptor) {
    parsed.signature =
        jit::ArgumentSpec::descriptor(std::string(text.substr(text.find('<') + 1, text.size() - text.find('<') - 2)));
    return parsed;
  }
  using Form = jit::ArgumentClass::Form;
  const jit::ArgumentClass argument{known->isPointer ? Form::Pointer : Form::Scalar, *scalar,
                                    parsed.argument.divisibility % 16 == 0, parsed.argument.pointerRange != 0};
  parsed.signature = argument.spec(known->isConst);
  return parsed;
}

ParsedArgument nereid::python::readArgument(PyHost &host, const KernelDescription &description, uint32_t index,
                                            nb::handle type, const std::string &name) {
  return ArgumentReader(host, description).read(type, nb::make_tuple(index), name);
}
