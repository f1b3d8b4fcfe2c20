// Calls Python functions and classes for sema, with compile-time constants.
// SPDX-License-Identifier: MIT
#include "python/bindings/PyHost.h"

#include "llvm/ADT/STLExtras.h"

using namespace nereid;
using namespace nereid::python;
using sema::HostResult;
using sema::Value;

std::optional<Value> PyHost::makeNamedTuple(PyObject *callee, llvm::ArrayRef<Value> args, sema::HostKeywords keywords) {
  if (!PyType_Check(callee) || !isNamedTuple(callee))
    return std::nullopt;
  nb::object fields = checked(PyObject_GetAttrString(callee, "_fields"));
  nb::object defaults = attributeOrNull(callee, "_field_defaults");
  auto names = std::make_shared<std::vector<std::string>>();
  std::vector<std::optional<Value>> values;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fields.ptr()); ++i) {
    nb::handle field = PyTuple_GET_ITEM(fields.ptr(), i);
    names->emplace_back(utf8(field));
    std::optional<Value> value;
    if (static_cast<size_t>(i) < args.size())
      value = args[i];
    for (const auto &[name, given] : keywords)
      if (name == names->back() && !value)
        value = given;
    PyObject *missing = value || !defaults.is_valid() ? nullptr : PyDict_GetItem(defaults.ptr(), field.ptr());
    if (missing)
      value = toValue(missing);
    values.push_back(value);
  }
  std::vector<Value> elements;
  for (const std::optional<Value> &value : values)
    if (value)
      elements.push_back(*value);
  if (elements.size() != values.size() || args.size() + keywords.size() > values.size())
    return std::nullopt; // Python words what is wrong
  return sema::TupleValue{std::make_shared<const std::vector<Value>>(std::move(elements)), names, reference(callee)};
}

HostResult PyHost::callObject(PyObject *callee, llvm::ArrayRef<Value> args, sema::HostKeywords keywords) {
  std::vector<nb::object> owned;
  for (const Value &arg : args)
    owned.push_back(toObject(arg));
  nb::object names = checked(PyTuple_New(static_cast<Py_ssize_t>(keywords.size())));
  for (auto [index, keyword] : llvm::enumerate(keywords)) {
    PyTuple_SET_ITEM(names.ptr(), index, textOf({keyword.first.data(), keyword.first.size()}).release().ptr());
    owned.push_back(toObject(keyword.second));
  }
  std::vector<PyObject *> stack;
  for (const nb::object &object : owned)
    stack.push_back(object.ptr());
  return toValue(
      checked(PyObject_Vectorcall(callee, stack.data(), args.size(), keywords.empty() ? nullptr : names.ptr())));
}

HostResult PyHost::call(const sema::HostRef &reference, llvm::ArrayRef<Value> args, sema::HostKeywords keywords) {
  return guarded([&]() -> HostResult {
    PyObject *callee = objectOf(reference);
    const PackageNames &names = packageNames();
    if (auto tuple = makeNamedTuple(callee, args, keywords))
      return *tuple;
    if (callee == names.tupleClass && args.size() == 1 && keywords.empty() && args[0].elements())
      return args[0];
    const bool isConstexprFunction = isA(callee, names.constexprFunctionClass);
    if (!isConstexprFunction && isMarkedBuiltin(callee))
      return failure("NotImplementedError", "calling " + reprOf(callee) +
                                                " is not supported yet: it is a built-in written in Python, "
                                                "which wants `_semantic`; use a @triton.jit function");
    const bool allKnown = llvm::all_of(args, [](const Value &arg) { return arg.isConstant(); }) &&
                          llvm::all_of(keywords, [](const auto &keyword) { return keyword.second.isConstant(); });
    if (!allKnown)
      return failure("TypeError", reprOf(callee) +
                                      " is a Python function: it is called while compiling and takes only "
                                      "compile-time constants, not tensors; make it a @triton.jit function");
    return callObject(callee, args, keywords);
  });
}
