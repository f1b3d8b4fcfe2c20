// Implements sema's host interface for names and objects with Python objects.
// SPDX-License-Identifier: MIT
#include "python/bindings/PyHost.h"

#include "compiler/sema/Builtin.h"
#include "compiler/sema/Suggestions.h"
#include "compiler/support/NearestName.h"

using namespace nereid;
using namespace nereid::python;
using sema::HostError;
using sema::HostResult;
using sema::Value;

// A longer iterable is treated as infinite.
static constexpr size_t maxIterated = size_t{1} << 20;

PyHostObject::~PyHostObject() {
  if (!Py_IsInitialized())
    return; // the interpreter has destroyed its objects
  const GilAcquire acquire;
  Py_DECREF(object);
}

sema::HostRef PyHost::reference(nb::handle object) {
  sema::HostRef &known = references[object.ptr()];
  if (!known)
    known = std::make_shared<PyHostObject>(object);
  return known;
}

//--- Failures ----------------------------------------------------------------------------------

HostError PyHost::failure(const char *pythonClass, std::string message) {
  failures.push_back({{pythonClass, std::move(message), nullptr}});
  return failures.back().error;
}

/// The hint for a name that an object lacks.
static std::string suggestAttribute(nb::handle object, llvm::StringRef name) {
  if (const char *module = PyModule_Check(object.ptr()) ? PyModule_GetName(object.ptr()) : nullptr;
      module && sema::isOwnModule(module))
    if (std::string hint = sema::suggestMember(module, name); !hint.empty())
      return hint;
  PyErr_Clear(); // of a module without a name
  support::NearestName nearest(name);
  nb::object names = nb::steal(PyObject_Dir(object.ptr()));
  for (Py_ssize_t index = 0; names.is_valid() && index < PyList_GET_SIZE(names.ptr()); ++index)
    if (PyObject *each = PyList_GET_ITEM(names.ptr(), index); PyUnicode_Check(each))
      nearest.add(llvm::StringRef(utf8(each)));
  PyErr_Clear();
  return nearest.hint();
}

/// The hint for an AttributeError that names its object, as Python's own do; those of a module's `__getattr__` do not.
static std::string suggestAttribute(nb::handle exception, nb::handle owner, llvm::StringRef missing) {
  if (!PyErr_GivenExceptionMatches(exception.ptr(), PyExc_AttributeError))
    return "";
  nb::object name = attributeOrNull(exception, "name"), object = attributeOrNull(exception, "obj");
  if (name.is_valid() && PyUnicode_Check(name.ptr()) && object.is_valid() && !object.is_none())
    return suggestAttribute(object, llvm::StringRef(utf8(name)));
  return owner.is_valid() ? suggestAttribute(owner, missing) : "";
}

HostError PyHost::failure(nb::python_error &error, std::string instead, nb::handle owner, llvm::StringRef missing) {
  nb::object exception = nb::borrow(error.value());
  if (!PyErr_GivenExceptionMatches(exception.ptr(), PyExc_Exception))
    interrupt = exception;
  std::string message;
  if (PyObject *text = PyObject_Str(exception.ptr())) {
    nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
    Py_DECREF(text);
    if (bytes.is_valid())
      message.assign(PyBytes_AS_STRING(bytes.ptr()), PyBytes_GET_SIZE(bytes.ptr()));
  }
  PyErr_Clear();
  message += suggestAttribute(exception, owner, missing);
  if (!instead.empty())
    message = std::move(instead);
  const char *name = Py_TYPE(exception.ptr())->tp_name;
  if (message.empty())
    message = name;
  failures.push_back({{name, std::move(message), std::make_shared<PyHostObject>(exception)}});
  return failures.back().error;
}

void PyHost::raiseInterrupt() {
  if (!interrupt.is_valid())
    return;
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(interrupt.ptr())), interrupt.ptr());
  interrupt.reset();
  throw nb::python_error();
}

std::string PyHost::functionName(const support::SourceFile *file) const {
  for (const auto &[object, function] : functions)
    if (function->file.get() == file)
      return function->name;
  return "";
}

std::vector<std::shared_ptr<const support::SourceFile>> PyHost::sourceFiles() const {
  std::vector<std::shared_ptr<const support::SourceFile>> files;
  for (const auto &[object, function] : functions)
    files.push_back(function->file);
  return files;
}

//--- Names -------------------------------------------------------------------------------------

bool nereid::python::isNamedTuple(nb::handle object) {
  PyObject *type = PyType_Check(object.ptr()) ? object.ptr() : reinterpret_cast<PyObject *>(Py_TYPE(object.ptr()));
  return PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(type), &PyTuple_Type) &&
         attributeOrNull(type, "_fields").is_valid();
}

bool nereid::python::isMarkedBuiltin(nb::handle object) {
  nb::object mark = attributeOrNull(object, "__triton_builtin__");
  return mark.is_valid() && mark.ptr() == Py_True;
}

static bool livesInLanguage(nb::handle object) {
  nb::object module = attributeOrNull(object, "__module__");
  if (!module.is_valid() || !PyUnicode_Check(module.ptr()))
    return false;
  std::string_view name = utf8(module);
  return name.starts_with("triton.language") || name.starts_with("triton.experimental.gluon");
}

/// Whether a kernel may read this global: its value must not change without the compiler's notice.
static bool mayRead(nb::handle object) {
  const PackageNames &names = packageNames();
  return object.is_none() || object.type().ptr() == names.constexprClass || PyModule_Check(object.ptr()) ||
         isJitFunction(object) || isA(object, names.dtypeClass) || isMarkedBuiltin(object) ||
         (PyType_Check(object.ptr()) && isNamedTuple(object)) || isAggregateClass(object) || isDataclass(object) ||
         livesInLanguage(object);
}

static nb::object findGlobal(nb::handle function, llvm::StringRef name) {
  nb::object key = textOf({name.data(), name.size()});
  for (const char *scope : {"nonlocals", "__globals__"}) {
    nb::object names = attributeOrNull(function, scope);
    if (!names.is_valid() || !PyDict_Check(names.ptr()))
      continue;
    if (PyObject *value = PyDict_GetItemWithError(names.ptr(), key.ptr()))
      return nb::borrow(value);
    if (PyErr_Occurred())
      throw nb::python_error();
  }
  return {};
}

/// How a kernel can use a global of this kind.
static std::string whatToWriteInstead(nb::handle global, llvm::StringRef name) {
  if (PyFunction_Check(global.ptr()))
    return "which kernels cannot call. Decorate `" + name.str() +
           "` with @triton.jit, or with @triton.constexpr_function if it computes compile-time values";
  if (attributeOrNull(global, "__members__").is_valid()) // an enumeration
    return "whose members kernels read as constants. Write `NAME = tl.constexpr(" + name.str() +
           ".MEMBER.value)` at module level";
  if (PyType_Check(global.ptr()))
    return "which kernels cannot use. Decorate `" + name.str() +
           "` with @triton.aggregate to construct it in kernels, and its functions with @triton.jit to call them";
  if (PyCallable_Check(global.ptr()) && !attributeOrNull(global, "shape").is_valid())
    return "which kernels cannot call. Write a function with @triton.jit, or with @triton.constexpr_function if it "
           "computes compile-time values";
  if (attributeOrNull(global, "__array_interface__").is_valid() || attributeOrNull(global, "data_ptr").is_valid())
    return "whose memory kernels reach only through an argument. Pass `" + name.str() +
           "` as one, and load from the pointer";
  return "whose changes would go unnoticed. Write `" + name.str() +
         " = tl.constexpr(...)` (an annotation is not enough), or pass it as an argument";
}

std::optional<HostResult> PyHost::lookup(const sema::JitFunction &function, llvm::StringRef name) {
  try {
    nb::object global = findGlobal(objectOf(function.scope), name);
    if (!global.is_valid())
      return std::nullopt;
    if (!allowGlobals && !mayRead(global))
      return HostResult(failure("NameError", "Cannot access global variable " + name.str() +
                                                 " from within @jit'ed function; it holds a plain `" +
                                                 Py_TYPE(global.ptr())->tp_name + "`, " +
                                                 whatToWriteInstead(global, name)));
    return HostResult(toValue(global));
  } catch (nb::python_error &error) {
    return HostResult(failure(error));
  }
}

std::vector<std::string> PyHost::visibleNames(const sema::JitFunction &function) {
  std::vector<std::string> visible;
  for (const char *scope : {"nonlocals", "__globals__"}) {
    nb::object names = attributeOrNull(objectOf(function.scope), scope);
    PyObject *key, *value;
    for (Py_ssize_t at = 0;
         names.is_valid() && PyDict_Check(names.ptr()) && PyDict_Next(names.ptr(), &at, &key, &value);)
      if (PyUnicode_Check(key))
        visible.emplace_back(utf8(key));
  }
  return visible;
}

/// A member of a module of this package, from the compiler's own table; nullopt for other modules and names.
static std::optional<Value> tableMember(PyHost &host, PyObject *object, llvm::StringRef name) {
  const char *moduleName = PyModule_Check(object) ? PyModule_GetName(object) : nullptr;
  if (!moduleName) {
    PyErr_Clear();
    return std::nullopt;
  }
  if (const sema::Builtin *builtin = sema::findBuiltin(moduleName, name))
    return Value(sema::BuiltinValue{builtin});
  // Python's own `triton.cdiv` accepts only numbers; kernels divide tensors with it.
  if (llvm::StringRef(moduleName) != "triton" || name != "cdiv")
    return std::nullopt;
  nb::object language = checked(PyImport_ImportModule("triton.language"));
  return host.toValue(checked(PyObject_GetAttrString(language.ptr(), "cdiv")));
}

HostResult PyHost::attribute(const sema::HostRef &object, llvm::StringRef name) {
  return guarded([&]() -> HostResult {
    if (auto member = tableMember(*this, objectOf(object), name))
      return *member;
    try {
      return toValue(checked(PyObject_GetAttr(objectOf(object), textOf({name.data(), name.size()}).ptr())));
    } catch (nb::python_error &error) {
      return failure(error, "", objectOf(object), name);
    }
  });
}

std::optional<HostResult> PyHost::findAttribute(const sema::HostRef &object, llvm::StringRef name) {
  return guarded([&]() -> std::optional<HostResult> {
    if (auto member = tableMember(*this, objectOf(object), name))
      return *member;
    nb::object value = attributeOrNull(nb::handle(objectOf(object)), name.str().c_str());
    return value.is_valid() ? std::optional<HostResult>(toValue(value)) : std::nullopt;
  });
}

HostResult PyHost::item(const sema::HostRef &object, const Value &index) {
  return guarded(
      [&]() -> HostResult { return toValue(checked(PyObject_GetItem(objectOf(object), toObject(index).ptr()))); });
}

//--- Operators ---------------------------------------------------------------------------------

using BinaryFunction = PyObject *(*)(PyObject *, PyObject *);

static PyObject *power(PyObject *left, PyObject *right) { return PyNumber_Power(left, right, Py_None); }
static PyObject *fromTruth(int truth) { return truth < 0 ? nullptr : PyBool_FromLong(truth); }
template <int Operation> static PyObject *compare(PyObject *left, PyObject *right) {
  return PyObject_RichCompare(left, right, Operation);
}

static constexpr std::pair<llvm::StringLiteral, BinaryFunction> operators[] = {
    {"+", PyNumber_Add},
    {"-", PyNumber_Subtract},
    {"*", PyNumber_Multiply},
    {"/", PyNumber_TrueDivide},
    {"//", PyNumber_FloorDivide},
    {"%", PyNumber_Remainder},
    {"**", power},
    {"<<", PyNumber_Lshift},
    {">>", PyNumber_Rshift},
    {"&", PyNumber_And},
    {"|", PyNumber_Or},
    {"^", PyNumber_Xor},
    {"@", PyNumber_MatrixMultiply},
    {"==", compare<Py_EQ>},
    {"!=", compare<Py_NE>},
    {"<", compare<Py_LT>},
    {"<=", compare<Py_LE>},
    {">", compare<Py_GT>},
    {">=", compare<Py_GE>},
    {"is", [](PyObject *left, PyObject *right) { return fromTruth(left == right); }},
    {"is not", [](PyObject *left, PyObject *right) { return fromTruth(left != right); }},
    {"in", [](PyObject *left, PyObject *right) { return fromTruth(PySequence_Contains(right, left)); }},
    {"not in",
     [](PyObject *left, PyObject *right) {
       const int contains = PySequence_Contains(right, left);
       return fromTruth(contains < 0 ? contains : !contains);
     }},
};

HostResult PyHost::binary(llvm::StringRef op, const Value &left, const Value &right) {
  return guarded([&]() -> HostResult {
    const auto *known = llvm::find_if(operators, [&](const auto &entry) { return entry.first == op; });
    if (known == std::end(operators))
      return failure("TypeError", "operator `" + op.str() + "` is not defined between host objects");
    return toValue(checked(known->second(toObject(left).ptr(), toObject(right).ptr())));
  });
}

std::variant<bool, HostError> PyHost::truth(const sema::HostRef &object) {
  return guarded([&]() -> std::variant<bool, HostError> { return isTrue(objectOf(object)); });
}

std::variant<std::vector<Value>, HostError> PyHost::iterate(const sema::HostRef &object) {
  return guarded([&]() -> std::variant<std::vector<Value>, HostError> {
    nb::object iterator = checked(PyObject_GetIter(objectOf(object)));
    std::vector<Value> values;
    while (PyObject *next = PyIter_Next(iterator.ptr())) {
      nb::object element = nb::steal(next);
      if (values.size() == maxIterated)
        return failure("RuntimeError", "more than " + std::to_string(maxIterated) + " elements; does `" +
                                           Py_TYPE(objectOf(object))->tp_name + "` end?");
      values.push_back(toValue(element));
    }
    if (PyErr_Occurred())
      throw nb::python_error();
    return values;
  });
}

//--- Text --------------------------------------------------------------------------------------

std::string PyHost::repr(const sema::HostRef &object) { return reprOf(objectOf(object)); }

/// The text of a str attribute; empty where there is none.
static std::string textAttribute(nb::handle object, const char *name) {
  nb::object text = attributeOrNull(object, name);
  return text.is_valid() && PyUnicode_Check(text.ptr()) ? std::string(utf8(text)) : std::string();
}

/// "module.name", without the module of Python's own names.
static std::string qualifiedName(nb::handle named) {
  const std::string module = textAttribute(named, "__module__"), name = textAttribute(named, "__qualname__");
  return module.empty() || module == "builtins" ? name : module + "." + name;
}

std::string PyHost::describe(const sema::HostRef &reference) {
  try {
    const nb::handle object = objectOf(reference);
    if (PyType_Check(object.ptr()) || PyFunction_Check(object.ptr()) || PyCFunction_Check(object.ptr()))
      return qualifiedName(object);
    nb::object shape = attributeOrNull(object, "shape");
    if (!shape.is_valid())
      return reprOf(object);
    shape = checked(PySequence_Tuple(shape.ptr()));
    return qualifiedName(object.type()) + " of shape " + reprOf(shape);
  } catch (nb::python_error &error) { // of the object's own code
    PyErr_Clear();
    return Py_TYPE(objectOf(reference))->tp_name;
  }
}

HostResult PyHost::format(const Value &object, char conversion, llvm::StringRef spec) {
  return guarded([&]() -> HostResult {
    nb::object shown = toObject(object);
    if (conversion == 'r')
      shown = checked(PyObject_Repr(shown.ptr()));
    else if (conversion == 's')
      shown = checked(PyObject_Str(shown.ptr()));
    else if (conversion == 'a')
      shown = checked(PyObject_ASCII(shown.ptr()));
    return toValue(checked(PyObject_Format(shown.ptr(), textOf({spec.data(), spec.size()}).ptr())));
  });
}

void PyHost::print(llvm::StringRef text) {
  try {
    // Python's own stream, which tests and notebooks redirect.
    nb::object stream = nb::borrow(PySys_GetObject("stdout"));
    if (stream.is_valid() && !stream.is_none())
      checked(PyObject_CallMethod(stream.ptr(), "write", "O", textOf({text.data(), text.size()}).ptr()));
  } catch (nb::python_error &error) {
    failure(error); // printing has no result to attach an error to; an interrupt is raised at the end
  }
}
