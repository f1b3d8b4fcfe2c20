// The compilation as Python code sees it that is called from a kernel: tensors and `_semantic`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/TtFunctionEmitter.h"
#include "python/bindings/PyHost.h"

namespace nereid::python {

/// What `tl.tensor.handle` holds. Of use only while the call that made it runs.
struct TensorHandle {
  sema::TensorValue tensor;
  std::shared_ptr<const bool> isLive;
};

/// The place in a kernel that Python code was called from.
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

/// `tl.tensor` for a value of the kernel.
nb::object tensorTo(const sema::TensorValue &tensor, std::shared_ptr<const bool> isLive);
/// The value of a `tl.tensor`.
sema::Value tensorFrom(PyHost &host, nb::handle tensor);

void bindSemantic(nb::module_ &module);

} // namespace nereid::python
