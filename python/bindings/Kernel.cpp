// Loads artifacts onto devices and launches them with the arguments that Python gives.
// SPDX-License-Identifier: MIT
#include "python/bindings/Kernel.h"

#include "runtime/cpu/CpuDevice.h"

#include <cstring>
#include <nanobind/stl/shared_ptr.h>

using namespace nereid;
using namespace nereid::python;

//--- Loading -----------------------------------------------------------------------------------

static std::string_view scalarText(std::string_view type) {
  if (type.starts_with("*"))
    type.remove_prefix(1);
  if (type.starts_with("k"))
    type.remove_prefix(1);
  return type;
}

static std::vector<Slot> slotsOf(const artifact::Artifact &artifact) {
  std::vector<Slot> slots;
  for (const artifact::Parameter &parameter : artifact.parameters) {
    const auto type = jit::parseScalarType(scalarText(parameter.type));
    slots.push_back(
        {parameter.position, parameter.offset, parameter.size, parameter.kind, type.value_or(jit::ScalarType::I8)});
  }
  return slots;
}

std::shared_ptr<LoadedKernel> LoadedKernel::load(const artifact::Artifact &artifact) {
  if (artifact.target.backend != "cpu")
    raise(PyExc_RuntimeError, "no device of kind `" + artifact.target.backend + "` can run this kernel here");
  auto loaded = std::make_shared<LoadedKernel>();
  loaded->runner = &runtime::cpuDevice();
  auto kernel = [&] {
    nb::gil_scoped_release release;
    return loaded->runner->load(artifact);
  }();
  if (!kernel)
    raise(PyExc_RuntimeError, kernel.error().text + " [" + kernel.error().code + "]");
  loaded->kernel = *kernel;
  loaded->plan = slotsOf(artifact);
  loaded->bytes = artifact::packedBytes(artifact);
  const auto signature = jit::Signature::parse(artifact.signature);
  if (auto *known = std::get_if<jit::Signature>(&signature))
    loaded->arguments = known->arguments.size();
  return loaded;
}

//--- Launching ---------------------------------------------------------------------------------

static PyObject *exceptionFor(const std::string &code) {
  if (code == "launch-grid")
    return PyExc_ValueError;
  return code == "launch-memory" ? PyExc_MemoryError : PyExc_RuntimeError;
}

bool LoadedKernel::launch(runtime::Grid grid, void *stream, const char *block) {
  PyThreadState *thread = PyEval_SaveThread();
  const auto launched = runner->launch(*kernel, grid, stream, {block, bytes});
  PyEval_RestoreThread(thread);
  if (!launched) {
    PyErr_Format(exceptionFor(launched.error().code), "%s [%s]", launched.error().text.c_str(),
                 launched.error().code.c_str());
    return false;
  }
  return PyErr_CheckSignals() == 0;
}

static Leaf leafOf(PyObject *object, const artifact::Parameter &parameter, Array &array) {
  Leaf leaf;
  if (object == Py_None)
    return leaf;
  if (PyBool_Check(object)) {
    leaf.kind = Leaf::Kind::Bool;
    leaf.integer = object == Py_True;
  } else if (PyLong_Check(object)) {
    int overflow = 0;
    leaf.kind = Leaf::Kind::Int;
    leaf.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) {
      leaf.kind = Leaf::Kind::UInt;
      leaf.bits = PyLong_AsUnsignedLongLong(object);
    }
    if (PyErr_Occurred())
      throw nb::python_error();
  } else if (PyFloat_Check(object)) {
    leaf.kind = Leaf::Kind::Float;
    leaf.number = PyFloat_AS_DOUBLE(object);
  } else {
    const ArrayResult result = readArray(object, array);
    if (result == ArrayResult::Failed)
      throw nb::python_error();
    if (result == ArrayResult::NotAnArray)
      raise(PyExc_TypeError, "argument `" + parameter.name + "` must be of type `" + parameter.type + "`, got " +
                                 reprOf(reinterpret_cast<PyObject *>(Py_TYPE(object))));
    leaf.kind = Leaf::Kind::Address;
    leaf.bits = array.address;
  }
  return leaf;
}

static void checkArray(const Array &array, const Slot &slot, const artifact::Parameter &parameter, DeviceKind device) {
  if (array.device != device && array.device != DeviceKind::Unknown)
    raise(PyExc_ValueError,
          "argument `" + parameter.name + "` is on device " +
              (array.device == DeviceKind::Other ? std::string(array.deviceName) : std::string(nameOf(array.device))) +
              ", but the kernel was compiled for " + nameOf(device));
  if (slot.kind != artifact::ParameterKind::Pointer)
    raise(PyExc_TypeError, "argument `" + parameter.name + "` must be of type `" + parameter.type + "`, not an array");
  auto bytesOf = [](jit::ScalarType type) { return (jit::bitWidth(type) + 7) / 8; };
  if (bytesOf(array.type) != bytesOf(slot.type))
    raise(PyExc_TypeError, "argument `" + parameter.name + "` is an array of " +
                               std::string(jit::spelling(array.type)) + ", but the kernel was compiled for `" +
                               parameter.type + "`");
}

void LoadedKernel::launchWithArguments(runtime::Grid grid, void *stream, nb::handle args) {
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(args.ptr()));
  size_t wanted = arguments;
  for (const Slot &slot : plan)
    wanted = std::max<size_t>(wanted, slot.position + 1);
  if (count < wanted || (arguments && count != arguments))
    raise(PyExc_TypeError, "kernel `" + artifact().name + "` takes " + std::to_string(wanted) +
                               " arguments, constants included; " + std::to_string(count) + " were given");

  char small[stackBlockBytes] = {};
  std::unique_ptr<char[]> large(bytes > sizeof small ? new char[bytes]() : nullptr);
  char *block = large ? large.get() : small;
  std::vector<nb::object> owners;
  for (size_t i = 0; i < plan.size(); ++i) {
    const Slot &slot = plan[i];
    const artifact::Parameter &parameter = artifact().parameters[i];
    PyObject *object = PyTuple_GET_ITEM(args.ptr(), slot.position);
    Array array;
    const Leaf leaf = leafOf(object, parameter, array);
    if (leaf.kind == Leaf::Kind::Address)
      checkArray(array, slot, parameter, deviceKind);
    if (array.owner.is_valid())
      owners.push_back(std::move(array.owner));
    switch (pack(slot, leaf, block)) {
    case PackResult::Packed:
      break;
    case PackResult::WrongKind:
      raise(PyExc_TypeError,
            "argument `" + parameter.name + "` must be of type `" + parameter.type + "`, got " + reprOf(object));
    case PackResult::OutOfRange:
      raise(PyExc_OverflowError,
            "argument `" + parameter.name + "` is " + reprOf(object) + ", which `" + parameter.type + "` cannot hold");
    }
  }
  if (!launch(grid, stream, block))
    throw nb::python_error();
}

//--- The Python class --------------------------------------------------------------------------

LoadedKernel *nereid::python::loadedKernelOf(nb::handle object) {
  return nb::isinstance<LoadedKernel>(object) ? nb::inst_ptr<LoadedKernel>(object) : nullptr;
}

static uint32_t extentOf(nb::handle number, const char *axis) {
  nb::object index = checked(PyNumber_Index(number.ptr()));
  int overflow = 0;
  const long long extent = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow || extent < 0 || extent > UINT32_MAX)
    raise(PyExc_ValueError,
          std::string("grid extent ") + axis + " is " + reprOf(number) + "; it must be between 0 and 4294967295");
  return static_cast<uint32_t>(extent);
}

static void launch(LoadedKernel &kernel, nb::handle x, nb::handle y, nb::handle z, nb::handle stream, nb::tuple args) {
  const runtime::Grid grid{extentOf(x, "x"), extentOf(y, "y"), extentOf(z, "z")};
  void *queue = stream.is_none() ? nullptr : PyLong_AsVoidPtr(stream.ptr());
  if (PyErr_Occurred())
    throw nb::python_error();
  kernel.launchWithArguments(grid, queue, args);
}

void nereid::python::bindKernel(nb::module_ &module) {
  nb::class_<LoadedKernel>(module, "Kernel", "A compiled kernel on its device.")
      .def("launch", &launch, nb::arg("gx"), nb::arg("gy"), nb::arg("gz"), nb::arg("stream").none(), nb::arg("args"),
           "Runs the kernel for every program of the grid; all arguments of the signature in order.")
      .def_prop_ro("n_regs", [](const LoadedKernel &kernel) { return std::max(kernel.artifact().registers, 1u); })
      .def_prop_ro("n_spills", [](const LoadedKernel &kernel) { return kernel.artifact().spills; })
      .def_prop_ro("n_max_threads",
                   [](const LoadedKernel &) { return runtime::cpuDevice().properties().maxThreadsPerSm; })
      .def("__repr__", [](const LoadedKernel &kernel) { return textOf("<Kernel " + kernel.artifact().name + ">"); });
}
