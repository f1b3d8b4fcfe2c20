// Python as the host of a compilation: resolves a kernel's names in its module and closure.
// SPDX-License-Identifier: MIT
//
// Used with the GIL held. No Python exception leaves a function that sema calls: it becomes a HostError, and the
// exception object is kept until the diagnostics are created.
#pragma once

#include "compiler/sema/HostEnv.h"
#include "python/bindings/Python.h"

#include <unordered_map>

namespace nereid::python {

/// A Python object as sema holds it; it may be released on any thread.
class PyHostObject final : public sema::HostObject {
public:
  explicit PyHostObject(nb::handle object) : object(object.inc_ref().ptr()) {}
  ~PyHostObject() override;
  PyObject *const object;
};

inline PyObject *objectOf(const sema::HostRef &reference) {
  return static_cast<const PyHostObject &>(*reference).object;
}

class PyHost final : public sema::HostEnv {
public:
  /// `allowGlobals` lifts the rule on which globals a kernel may read.
  explicit PyHost(bool allowGlobals) : allowGlobals(allowGlobals) {}

  std::vector<std::string> visibleNames(const sema::JitFunction &function) override;
  std::optional<sema::HostResult> lookup(const sema::JitFunction &function, llvm::StringRef name) override;
  sema::HostResult attribute(const sema::HostRef &object, llvm::StringRef name) override;
  sema::HostResult item(const sema::HostRef &object, const sema::Value &index) override;
  sema::HostResult call(const sema::HostRef &callee, llvm::ArrayRef<sema::Value> args, sema::HostKeywords keywords,
                        sema::HostCallSite site) override;
  sema::HostResult memberOf(const sema::Value &object, llvm::StringRef name) override;
  std::optional<sema::HostResult> findAttribute(const sema::HostRef &object, llvm::StringRef name) override;
  sema::HostResult mustUseResult(const sema::HostRef &callee) override;
  std::optional<sema::HostResult> tensorMethod(llvm::StringRef name) override;
  std::optional<std::variant<bool, sema::HostError>> isInstance(const sema::Value &value,
                                                                const sema::HostRef &object) override;
  sema::HostResult binary(llvm::StringRef op, const sema::Value &left, const sema::Value &right) override;
  std::variant<bool, sema::HostError> truth(const sema::HostRef &object) override;
  std::variant<std::vector<sema::Value>, sema::HostError> iterate(const sema::HostRef &object) override;
  std::string repr(const sema::HostRef &object) override;
  std::string describe(const sema::HostRef &object) override;
  sema::HostResult format(const sema::Value &object, char conversion, llvm::StringRef spec) override;
  void print(llvm::StringRef text) override;

  //--- Conversion (PyValue.cpp); Python exceptions are thrown as nb::python_error -------------
  sema::Value toValue(nb::handle object);
  nb::object toObject(const sema::Value &value);
  /// The same with constants wrapped in `tl.constexpr`: the arguments and results of built-ins written in Python.
  nb::object wrapped(const sema::Value &value);
  std::optional<sema::Type> typeOf(nb::handle dtype);
  /// The one JitFunction of a Python function in this compilation.
  std::shared_ptr<sema::JitFunction> function(nb::handle jitFunction);

  //--- For diagnostics ------------------------------------------------------------------------
  /// A failure of the host: the class, the message, and the exception, if one was raised.
  struct Failure {
    sema::HostError error;
    bool reported = false;
  };
  std::vector<Failure> failures;
  /// The name of the function with this text; empty for texts of other origin.
  std::string functionName(const support::SourceFile *file) const;
  /// The texts of all functions that sema has requested.
  std::vector<std::shared_ptr<const support::SourceFile>> sourceFiles() const;
  /// Whether there is an exception that must not become a compilation error: an interrupt, an exit.
  bool isInterrupted() const { return interrupt.is_valid(); }
  /// Raises that exception.
  void raiseInterrupt();

private:
  sema::Value toValue(nb::handle object, unsigned depth);
  sema::Value elementsToValue(nb::handle sequence, unsigned depth);
  sema::HostRef reference(nb::handle object);
  sema::Value objectToValue(nb::handle object, nb::handle names, bool keepsConstants, unsigned depth);
  std::optional<sema::Value> layoutFrom(nb::handle object, unsigned depth);
  std::optional<sema::Value> gluonTypeFrom(nb::handle object, unsigned depth);
  std::optional<sema::Value> knownObject(nb::handle object, unsigned depth);
  nb::object fieldsToObject(const sema::TupleValue &object);
  std::shared_ptr<sema::JitFunction> describe(nb::handle jitFunction);
  void readDefaults(nb::handle jitFunction, sema::JitFunction &function);
  /// `instead` replaces the exception's own text. `owner` is the object that lacks the attribute `missing`.
  sema::HostError failure(nb::python_error &error, std::string instead = {}, nb::handle owner = {},
                          llvm::StringRef missing = {});
  sema::HostError failure(const char *pythonClass, std::string message);
  sema::HostResult callObject(PyObject *callee, llvm::ArrayRef<sema::Value> args, sema::HostKeywords keywords);
  sema::HostResult callFromKernel(PyObject *callee, llvm::ArrayRef<sema::Value> args, sema::HostKeywords keywords,
                                  sema::HostCallSite site);
  sema::HostResult makeDataclass(PyObject *callee, llvm::ArrayRef<sema::Value> args, sema::HostKeywords keywords);
  std::optional<sema::Value> makeNamedTuple(PyObject *callee, llvm::ArrayRef<sema::Value> args,
                                            sema::HostKeywords keywords);
  /// Runs `body` and converts a Python exception into its HostError.
  template <typename Body> auto guarded(Body body) -> decltype(body());

  /// The running Python calls from a kernel: the tensors of a call are valid while it runs.
  std::vector<std::shared_ptr<const bool>> activeCalls;
  const bool allowGlobals;
  std::unordered_map<PyObject *, std::shared_ptr<sema::JitFunction>> functions;
  std::unordered_map<PyObject *, sema::HostRef> references;
  nb::object interrupt;
};

template <typename Body> auto PyHost::guarded(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (nb::python_error &error) {
    return failure(error);
  }
}

/// Whether it is marked as callable from kernels.
bool isMarkedBuiltin(nb::handle object);
/// Whether `object` is a function made by `triton.jit` (JitBase.cpp).
bool isJitFunction(nb::handle object);
/// A namedtuple class, or an instance of one.
bool isNamedTuple(nb::handle object);
/// A class made by `triton.aggregate`; a class made by `dataclasses.dataclass`.
bool isAggregateClass(nb::handle object);
bool isDataclass(nb::handle object);
/// The package's type object for a type of the compiler.
nb::object typeTo(const sema::Type &type);

} // namespace nereid::python
