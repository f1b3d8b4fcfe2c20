// Tells which functions of Python and its libraries depend on more than their arguments, and what serves instead.
// SPDX-License-Identifier: MIT
#include "python/bindings/HostFunctions.h"

#include "compiler/sema/Suggestions.h"

using namespace nereid;
using namespace nereid::python;

static std::string textOfAttribute(nb::handle object, const char *name) {
  nb::object text = attributeOrNull(object, name);
  return text.is_valid() && PyUnicode_Check(text.ptr()) ? std::string(utf8(text)) : std::string();
}

bool nereid::python::isNative(PyObject *callee) {
  if (PyType_Check(callee))
    return !PyType_HasFeature(reinterpret_cast<PyTypeObject *>(callee), Py_TPFLAGS_HEAPTYPE);
  const bool isOfPython =
      PyFunction_Check(callee) || PyMethod_Check(callee) || PyType_HasFeature(Py_TYPE(callee), Py_TPFLAGS_HEAPTYPE);
  return !isOfPython && !textOfAttribute(callee, "__name__").empty();
}

/// The module that a function belongs to, by the object that it is bound to: `random.random` is a method.
static std::string ownerOf(PyObject *callee, bool &isMethod) {
  nb::object self = attributeOrNull(nb::handle(callee), "__self__");
  isMethod = self.is_valid() && !self.is_none() && !PyModule_Check(self.ptr()) && !PyType_Check(self.ptr());
  if (isMethod)
    return textOfAttribute(self.type(), "__module__");
  if (self.is_valid() && PyType_Check(self.ptr()))
    return textOfAttribute(self, "__module__");
  return textOfAttribute(callee, "__module__");
}

/// The same under the name by which users know it.
static std::string homeOf(PyObject *callee, bool &isMethod) {
  std::string home = ownerOf(callee, isMethod);
  if (llvm::StringRef(home).starts_with("numpy.random."))
    return "numpy.random";
  return home == "posix" || home == "nt" ? "os" : home;
}

/// Whether the function's module is a library's, by the same rule as the keys of kernels.
static bool isLibraryModule(llvm::StringRef module) {
  const llvm::StringRef package = module.split('.').first;
  if (package.empty() || package == "builtins" || package == "triton")
    return false;
  nb::object libraries = checked(PyImport_ImportModule("triton.runtime.dependencies.libraries"));
  return !checked(PyObject_CallMethod(libraries.ptr(), "library_text", "s", module.str().c_str())).is_none();
}

bool nereid::python::readsState(PyObject *callee, bool hasArguments) {
  if (!PyFunction_Check(callee) && !PyCFunction_Check(callee) && !PyMethod_Check(callee))
    return false;
  bool isMethod = false;
  const std::string home = homeOf(callee, isMethod);
  for (const llvm::StringRef module : {"random", "secrets", "uuid", "time", "datetime", "os", "numpy.random"})
    if (home == module)
      return true;
  return !hasArguments && !isMethod && isLibraryModule(home);
}

/// The name as a user would write it: "random.random", "numpy.exp".
static std::string nameOf(PyObject *callee) {
  bool isMethod = false;
  const std::string home = homeOf(callee, isMethod), name = textOfAttribute(callee, "__name__");
  const std::string module = home == "builtins" ? textOfAttribute(callee, "__module__") : home;
  return module.empty() ? name : module + "." + name;
}

bool nereid::python::isOfLibrary(PyObject *callee) {
  bool isMethod = false;
  return isNative(callee) || isLibraryModule(homeOf(callee, isMethod));
}

std::string nereid::python::refusalOfState(PyObject *callee) {
  const std::string name = nameOf(callee);
  const bool isRandom = llvm::StringRef(name).contains("rand");
  return "Unsupported function referenced: `" + name +
         "`; its result depends on more than its arguments, and the kernel would keep the one of its compilation; " +
         (isRandom ? "use `tl.rand` or `tl.randn`, or " : "") +
         "call it before the launch and pass the result as an argument";
}

std::string nereid::python::onValuesOfPython(PyObject *callee) {
  const std::string name = textOfAttribute(callee, "__name__"), module = textOfAttribute(callee, "__module__");
  const std::string shown = name.empty() ? std::string(utf8(checked(PyObject_Repr(callee)))) : name;
  const std::string message = "`" + (module.empty() || name.empty() ? "" : module + ".") + shown +
                              "` computes on values of Python; here its operand exists only while the kernel runs";
  if (const std::string hint = sema::hintForConversion(shown); !hint.empty())
    return message + hint;
  return message + sema::hintForFunction(name);
}

void nereid::python::bindHostFunctions(nb::module_ &module) {
  module.def(
      "is_native", [](nb::handle function) { return isNative(function.ptr()); }, nb::arg("function"),
      "Whether it is a function or a class in C such as `math.exp` and `numpy.exp`.");
  module.def(
      "reads_state", [](nb::handle function, bool hasArguments) { return readsState(function.ptr(), hasArguments); },
      nb::arg("function"), nb::arg("has_arguments"),
      "Whether the result depends on more than the arguments, so that kernels must not call it.");
}
