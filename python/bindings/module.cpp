// triton._C.libtriton: importing it starts no thread, opens no device and reads no setting.
// SPDX-License-Identifier: MIT
#include "python/bindings/Elements.h"
#include "python/bindings/HostFunctions.h"
#include "python/bindings/Python.h"
#include "python/bindings/Semantic.h"

// nanobind keeps one state for all interpreters of a process: a second one that imported the module would take it from
// the first, whose launches then fail.
#define PyInit_libtriton initLibtriton
NB_MODULE(libtriton, module) {
  using namespace nereid::python;
  // Kernels live in module globals until the interpreter exits; that is not a leak.
  nb::set_leak_warnings(false);
  module.doc() = "The compiler, the launcher and the runtime of Nereid.";
  bindTables(module);
  bindSemantic(module);
  bindSpecialize(module);
  bindElements(module);
  bindHostFunctions(module);
  bindKernel(module);
  bindJit(module);
  bindBoundLaunch(module);
  bindPlainCall(module);
  bindTunedLaunch(module);
  bindComputedLaunch(module);
  bindTracebacks(module);
  bindIr(module);
  bindCompile(module);
  bindCache(module);
  bindPacks(module);
  bindCpuDriver(module);
  bindCudaDriver(module);
  bindHipDriver(module);
  bindSimDriver(module);
  bindXla(module);
  bindLinearLayout(module);
  bindLayouts(module);
}
#undef PyInit_libtriton

extern "C" NB_EXPORT PyObject *PyInit_libtriton() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main())
    return initLibtriton();
  PyErr_SetString(PyExc_ImportError, "triton works in the main interpreter of a process only, and this is a "
                                     "subinterpreter; import it there, or start a process of its own");
  return nullptr;
}
