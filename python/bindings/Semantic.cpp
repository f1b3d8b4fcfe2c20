// Lets Python code that a kernel calls emit built-ins, operators and calls at the insertion point of that call.
// SPDX-License-Identifier: MIT
#include "python/bindings/Semantic.h"

#include "compiler/sema/Builtin.h"
#include "compiler/sema/gluon/Names.h"

#include <nanobind/stl/string.h>

using namespace nereid;
using namespace nereid::python;
using sema::Value;

static constexpr const char *staleTensor =
    "this tensor belongs to a call from a kernel that is over; tensors cannot be kept by Python code";

//--- Tensors -------------------------------------------------------------------------------------

nb::object nereid::python::bufferClass() {
  nb::object module = checked(PyImport_ImportModule((sema::gluonModule + "._core").str().c_str()));
  return checked(PyObject_GetAttrString(module.ptr(), "shared_memory_descriptor"));
}

nb::object nereid::python::tensorTo(const sema::TensorValue &tensor, std::shared_ptr<const bool> isLive) {
  nb::object type = typeTo(tensor.type);
  nb::object handle = nb::cast(TensorHandle{tensor, std::move(isLive)});
  nb::object created = tensor.type.isShared() ? bufferClass() : nb::borrow(packageNames().tensorClass);
  return checked(PyObject_CallFunctionObjArgs(created.ptr(), handle.ptr(), type.ptr(), nullptr));
}

Value nereid::python::tensorFrom(PyHost &host, nb::handle tensor) {
  nb::object held = checked(PyObject_GetAttrString(tensor.ptr(), "handle"));
  TensorHandle *handle = nullptr;
  if (!nb::try_cast<TensorHandle *>(held, handle) || !handle)
    raise(PyExc_TypeError, "a tl.tensor made by hand cannot be used in a kernel; its `handle` must come from a tensor");
  if (!*handle->isLive)
    raise(PyExc_RuntimeError, staleTensor);
  if (handle->tensor.type.isShared())
    return Value(handle->tensor);
  // Code like `tl.tensor(x.handle, tl.uint32)` changes the signedness of the same bits.
  auto type = host.typeOf(checked(PyObject_GetAttrString(tensor.ptr(), "type")));
  if (type && type->shape == handle->tensor.type.shape)
    type->layout = handle->tensor.type.layout;
  if (!type || type->toMlir(handle->tensor.value.getContext()) != handle->tensor.value.getType())
    raise(PyExc_TypeError, "the type of this tl.tensor does not fit its handle, which is `" +
                               handle->tensor.type.str() + "`; use `tl.cast` to convert");
  return Value::tensor(handle->tensor.value, *type);
}

//--- Errors --------------------------------------------------------------------------------------

/// Raises the Python exception for the first error from index `first` on, and removes it from the list.
[[noreturn]] static void raiseError(support::DiagnosticEngine &diagnostics, size_t first) {
  std::string message = "this call was given a value that had an error";
  PyObject *pythonClass = PyExc_ValueError;
  for (size_t index = first; index < diagnostics.size(); ++index) {
    const support::Diagnostic &diagnostic = diagnostics.all()[index];
    if (!diagnostic.isError())
      continue;
    message = diagnostic.message;
    const std::string name = toString(diagnostic.kind->pythonError).str();
    nb::object builtins = checked(PyImport_ImportModule("builtins"));
    if (nb::object type = attributeOrNull(builtins, name.c_str());
        type.is_valid() && PyExceptionClass_Check(type.ptr()))
      pythonClass = type.ptr();
    else
      pythonClass = PyExc_RuntimeError;
    break;
  }
  diagnostics.truncate(first);
  raise(pythonClass, message);
}

template <typename Body> nb::object NativeSemantic::emit(Body body) {
  if (!*isLive)
    raise(PyExc_RuntimeError, "this `_semantic` belongs to a call from a kernel that is over");
  support::DiagnosticEngine &diagnostics = site.emitter->module.diagnostics;
  const size_t first = diagnostics.size();
  const Value result = body(*site.emitter);
  if (result.isPoison())
    raiseError(diagnostics, first);
  return host.wrapped(result);
}

//--- Operations ----------------------------------------------------------------------------------

nb::object NativeSemantic::call(const Value &callee, nb::tuple args, nb::dict keywords) {
  llvm::SmallVector<sema::PositionalArgument> arguments;
  for (nb::handle arg : args)
    arguments.push_back({host.toValue(arg), site.range});
  llvm::SmallVector<sema::KeywordArgument> named;
  for (auto [name, value] : keywords) {
    const std::string_view text = utf8(name);
    if (text != "_semantic" && text != "_generator")
      named.push_back({llvm::StringRef(text), host.toValue(value), site.range});
  }
  return emit([&](sema::TtFunctionEmitter &emitter) { return emitter.call(callee, arguments, named, site.range); });
}

nb::object NativeSemantic::callBuiltin(const std::string &module, const std::string &name, nb::tuple args,
                                       nb::dict keywords) {
  if (const sema::Builtin *builtin = sema::findBuiltin(module, name))
    return call(sema::BuiltinValue{builtin}, args, keywords);
  if (auto function = site.emitter->module.stdlibFunction(module, name))
    return call(sema::FunctionValue{function}, args, keywords);
  raise(PyExc_NotImplementedError, "`" + module + "." + name + "` is no built-in of the language");
}

nb::object NativeSemantic::callFunction(nb::handle function, nb::tuple args, nb::dict keywords) {
  return call(host.toValue(function), args, keywords);
}

template <typename Operator> static Operator operatorOf(const std::string &text, unsigned count) {
  for (unsigned index = 0; index < count; ++index)
    if (syntax::spelling(static_cast<Operator>(index)) == text)
      return static_cast<Operator>(index);
  raise(PyExc_ValueError, "`" + text + "` is no operator");
}

nb::object NativeSemantic::binary(const std::string &op, nb::handle left, nb::handle right) {
  const auto which = operatorOf<syntax::BinaryOperator>(op, 13);
  const Value a = host.toValue(left), b = host.toValue(right);
  return emit([&](auto &emitter) { return emitter.binary(which, a, b, site.range, site.range); });
}

nb::object NativeSemantic::compare(const std::string &op, nb::handle left, nb::handle right) {
  const auto which = operatorOf<syntax::CompareOperator>(op, 10);
  const Value a = host.toValue(left), b = host.toValue(right);
  return emit([&](auto &emitter) { return emitter.compare(which, a, b, site.range, site.range); });
}

nb::object NativeSemantic::unary(const std::string &op, nb::handle operand) {
  const auto which = operatorOf<syntax::UnaryOperator>(op, 4);
  const Value value = host.toValue(operand);
  return emit([&](auto &emitter) { return emitter.unary(which, value, site.range); });
}

nb::object NativeSemantic::item(nb::handle object, nb::handle index) {
  const Value value = host.toValue(object), at = host.toValue(index);
  return emit([&](auto &emitter) { return emitter.item(value, at, site.range); });
}

nb::dict NativeSemantic::options() const {
  const support::Options &options = site.emitter->module.options;
  const support::TargetSpec &target = site.emitter->module.target;
  nb::dict result;
  result["num_warps"] = nb::int_(options.numWarps);
  result["num_stages"] = nb::int_(options.numStages);
  result["num_ctas"] = nb::int_(options.numCtas);
  result["debug"] = nb::bool_(options.debug);
  result["backend_name"] = textOf(target.backend);
  result["arch"] = textOf(target.arch);
  return result;
}

void nereid::python::bindSemantic(nb::module_ &module) {
  nb::class_<TensorHandle>(module, "TensorHandle");
  nb::class_<NativeSemantic>(module, "NativeSemantic")
      .def("call_builtin", &NativeSemantic::callBuiltin)
      .def("call_function", &NativeSemantic::callFunction)
      .def("binary", &NativeSemantic::binary)
      .def("compare", &NativeSemantic::compare)
      .def("unary", &NativeSemantic::unary)
      .def("item", &NativeSemantic::item)
      .def("options", &NativeSemantic::options);
}
