// Calls Python functions and classes for sema: with compile-time constants, and with tensors where they accept these.
// SPDX-License-Identifier: MIT
#include "python/bindings/Elements.h"
#include "python/bindings/HostFunctions.h"
#include "python/bindings/PyHost.h"
#include "python/bindings/Semantic.h"

#include "compiler/sema/Builtin.h"
#include "compiler/sema/builtins/Records.h"

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
    for (const auto &[name, argument] : keywords)
      if (name == names->back() && !value)
        value = argument;
    if (!value && defaults.is_valid())
      if (PyObject *missing = PyDict_GetItemWithError(defaults.ptr(), field.ptr()))
        value = toValue(missing);
    if (PyErr_Occurred())
      throw nb::python_error();
    values.push_back(value);
  }
  std::vector<Value> elements;
  for (const std::optional<Value> &value : values)
    if (value)
      elements.push_back(*value);
  if (elements.size() != values.size() || args.size() + keywords.size() > values.size())
    return std::nullopt; // Python raises the error
  sema::TupleValue tuple;
  tuple.elements = std::make_shared<const std::vector<Value>>(std::move(elements));
  tuple.fields = names;
  tuple.hostClass = reference(callee);
  return tuple;
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

//--- Calls that may use tensors ------------------------------------------------------------------

namespace {
/// Tensors passed to Python are valid while this object lives.
class ActiveCall {
public:
  ActiveCall(std::vector<std::shared_ptr<const bool>> &calls) : calls(calls), isLive(std::make_shared<bool>(true)) {
    calls.push_back(isLive);
  }
  ~ActiveCall() {
    *isLive = false;
    calls.pop_back();
  }
  std::shared_ptr<const bool> live() const { return isLive; }

private:
  std::vector<std::shared_ptr<const bool>> &calls;
  std::shared_ptr<bool> isLive;
};
} // namespace

/// Calls a built-in written in Python, or an aggregate's class, with `_semantic`.
HostResult PyHost::callFromKernel(PyObject *callee, llvm::ArrayRef<Value> args, sema::HostKeywords keywords,
                                  sema::HostCallSite site) {
  ActiveCall active(activeCalls);
  nb::object positional = checked(PyTuple_New(static_cast<Py_ssize_t>(args.size())));
  for (auto [index, arg] : llvm::enumerate(args))
    PyTuple_SET_ITEM(positional.ptr(), index, wrapped(arg).release().ptr());
  nb::dict named;
  for (const auto &[name, value] : keywords)
    named[textOf({name.data(), name.size()})] = wrapped(value);
  nb::object native = nb::cast(NativeSemantic(*this, site, active.live()));
  nb::object semantic = checked(PyObject_CallFunctionObjArgs(packageNames().semanticClass, native.ptr(), nullptr));
  named["_semantic"] = semantic;
  return toValue(checked(PyObject_Call(callee, positional.ptr(), named.ptr())));
}

HostResult PyHost::makeDataclass(PyObject *callee, llvm::ArrayRef<Value> args, sema::HostKeywords keywords) {
  ActiveCall active(activeCalls);
  nb::object positional = checked(PyTuple_New(static_cast<Py_ssize_t>(args.size())));
  for (auto [index, arg] : llvm::enumerate(args))
    PyTuple_SET_ITEM(positional.ptr(), index, toObject(arg).release().ptr());
  nb::dict named;
  for (const auto &[name, value] : keywords)
    named[textOf({name.data(), name.size()})] = toObject(value);
  nb::object created = checked(PyObject_Call(callee, positional.ptr(), named.ptr()));
  return objectToValue(created, fieldNamesOfClass(created.type()), false, 0);
}

/// The text of an exception; empty where that fails.
static std::string utf8Of(nb::handle exception) {
  nb::object text = nb::steal(PyObject_Str(exception.ptr()));
  if (text.is_valid())
    return std::string(utf8(text));
  PyErr_Clear();
  return "";
}

HostResult PyHost::call(const sema::HostRef &reference, llvm::ArrayRef<Value> args, sema::HostKeywords keywords,
                        sema::HostCallSite site) {
  return guarded([&]() -> HostResult {
    PyObject *callee = objectOf(reference);
    const PackageNames &names = packageNames();
    if (auto tuple = makeNamedTuple(callee, args, keywords))
      return *tuple;
    if (callee == names.tupleClass && args.size() == 1 && keywords.empty() && args[0].elements())
      return args[0];
    if (isDataclass(callee))
      return makeDataclass(callee, args, keywords);
    const bool isConstexprFunction = isA(callee, names.constexprFunctionClass);
    if (isAggregateClass(callee) || (!isConstexprFunction && isMarkedBuiltin(callee)))
      return callFromKernel(callee, args, keywords, site);
    if (!isConstexprFunction && readsState(callee, !args.empty() || !keywords.empty()))
      return failure("RuntimeError", refusalOfState(callee));
    ActiveCall active(activeCalls);
    const bool isConstant = llvm::all_of(args, [](const Value &arg) { return arg.isConstant(); }) &&
                            llvm::all_of(keywords, [](const auto &each) { return each.second.isConstant(); });
    if (isConstant || !(isNative(callee) || PyFunction_Check(callee) || !PyCallable_Check(callee)))
      return callObject(callee, args, keywords);
    try {
      return callObject(callee, args, keywords);
    } catch (nb::python_error &error) {
      if (isOfLibrary(callee) || !PyCallable_Check(callee))
        return failure(error, onValuesOfPython(callee));
      const bool isOfType = PyErr_GivenExceptionMatches(error.value().ptr(), PyExc_TypeError);
      return failure(error, isOfType ? utf8Of(error.value()) + "; " + onValuesOfPython(callee) : std::string());
    }
  });
}

//--- Members -------------------------------------------------------------------------------------

/// The attribute `name` of the class or one of its bases, unbound.
static nb::object classMember(PyObject *type, llvm::StringRef name) {
  return nb::borrow(_PyType_Lookup(reinterpret_cast<PyTypeObject *>(type), textOf({name.data(), name.size()}).ptr()));
}

HostResult PyHost::memberOf(const Value &object, llvm::StringRef name) {
  return guarded([&]() -> HostResult {
    const sema::TupleValue *fields = object.object();
    nb::object member = fields ? classMember(objectOf(fields->hostClass), name) : nb::object();
    if (member.is_valid()) {
      if (Py_TYPE(member.ptr()) == &PyStaticMethod_Type)
        return toValue(checked(PyObject_GetAttrString(member.ptr(), "__func__")));
      const bool isMethod =
          isJitFunction(member) || isA(member, packageNames().constexprFunctionClass) || PyFunction_Check(member.ptr());
      if (isMethod)
        return Value(
            sema::MethodValue{std::make_shared<const Value>(toValue(member)), std::make_shared<const Value>(object)});
    }
    ActiveCall active(activeCalls);
    nb::object held = toObject(object);
    if (!fields && name == "type" && object.elements())
      held = wrapped(object);
    else if (!fields && name == "type")
      held = checked(PyObject_CallFunctionObjArgs(packageNames().constexprClass, held.ptr(), nullptr));
    return toValue(checked(PyObject_GetAttr(held.ptr(), textOf({name.data(), name.size()}).ptr())));
  });
}

HostResult PyHost::mustUseResult(const sema::HostRef &callee) {
  return guarded([&]() -> HostResult {
    nb::object message = attributeOrNull(nb::handle(objectOf(callee)), "_must_use_result");
    if (!message.is_valid() || message.is_none())
      return Value();
    return Value(PyUnicode_Check(message.ptr()) ? " " + std::string(utf8(message)) : std::string());
  });
}

/// Calls a method that `_tensor_member_fn` registered.
std::optional<HostResult> PyHost::tensorMethod(llvm::StringRef name) {
  return guarded([&]() -> std::optional<HostResult> {
    nb::object member = classMember(packageNames().tensorClass, name);
    if (!member.is_valid() || !(isJitFunction(member) || isMarkedBuiltin(member)))
      return std::nullopt;
    return toValue(member);
  });
}

std::optional<std::variant<bool, sema::HostError>> PyHost::isInstance(const Value &value, const sema::HostRef &object) {
  PyObject *type = objectOf(object);
  if (!PyType_Check(type))
    return std::nullopt;
  return guarded([&]() -> std::variant<bool, sema::HostError> {
    if (const sema::TupleValue *fields = value.object())
      return truthOf(PyObject_IsSubclass(objectOf(fields->hostClass), type));
    if (value.partsOf(sema::descriptorClass()))
      return truthOf(PyObject_IsSubclass(packageNames().descriptorClass, type));
    if (value.elements() && type == packageNames().tupleClass)
      return true;
    if (value.tensor()) {
      const bool isShared = value.tensor()->type.isShared();
      nb::object created = isShared ? bufferClass() : nb::borrow(packageNames().tensorClass);
      return truthOf(PyObject_IsSubclass(created.ptr(), type));
    }
    return value.isConstant() && truthOf(PyObject_IsInstance(toObject(value).ptr(), type));
  });
}
