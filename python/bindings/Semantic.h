// The compilation as seen by Python code that a kernel calls: tensors and `_semantic`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/TtFunctionEmitter.h"
#include "python/bindings/PyHost.h"

namespace nereid::python {

/// The object in `tl.tensor.handle`. Valid only while the call that created it runs.
struct TensorHandle {
  sema::TensorValue tensor;
  std::shared_ptr<const bool> isLive;
};

/// The call in a kernel that runs Python code.
class NativeSemantic {
public:
  NativeSemantic(PyHost &host, sema::HostCallSite site, std::shared_ptr<const bool> isLive)
      : host(host), site(site), isLive(std::move(isLive)) {}

  nb::object callBuiltin(const std::string &module, const std::string &name, nb::tuple args, nb::dict keywords);
  nb::object callFunction(nb::handle function, nb::tuple args, nb::dict keywords);
  nb::object binary(const std::string &op, nb::handle left, nb::handle right);
  nb::object compare(const std::string &op, nb::handle left, nb::handle right);
  nb::object unary(const std::string &op, nb::handle operand);
  nb::object item(nb::handle object, nb::handle index);
  nb::dict options() const;

private:
  /// Runs `body` on the emitter; its errors become a Python exception.
  template <typename Body> nb::object emit(Body body);
  nb::object call(const sema::Value &callee, nb::tuple args, nb::dict keywords);

  PyHost &host;
  sema::HostCallSite site;
  std::shared_ptr<const bool> isLive;
};

/// The class of buffers in shared memory.
nb::object bufferClass();
/// `tl.tensor` for a value of the kernel, or such a buffer.
nb::object tensorTo(const sema::TensorValue &tensor, std::shared_ptr<const bool> isLive);
/// The value of a `tl.tensor`.
sema::Value tensorFrom(PyHost &host, nb::handle tensor);

void bindSemantic(nb::module_ &module);

} // namespace nereid::python
