// Loads artifacts onto devices and launches them with arguments from Python.
// SPDX-License-Identifier: MIT
#include "python/bindings/Kernel.h"

#include "artifact/TargetInfo.h"
#include "jit/Session.h"
#include "python/bindings/Descriptors.h"
#include "python/bindings/Elements.h"
#include "python/bindings/Extents.h"
#include "python/bindings/Numbers.h"
#include "python/bindings/Signals.h"
#include "runtime/MemoryExtent.h"
#include "runtime/cpu/CpuDevice.h"
#include "runtime/gpu/GpuDevice.h"
#include "runtime/sim/SimDevice.h"

#include <algorithm>
#include <cstring>
#include <nanobind/stl/shared_ptr.h>
#include <utility>

using namespace nereid;
using namespace nereid::python;

std::atomic<bool> nereid::python::checkPointers{false};

/// The kind of device of this thread's last launch.
static thread_local DeviceKind lastLaunch = DeviceKind::Unknown;

//--- Errors ------------------------------------------------------------------------------------

/// A class of triton.runtime.errors; null, with a Python exception, where it cannot be imported.
static nb::object errorClass(const char *name) {
  const nb::object module = nb::steal(PyImport_ImportModule("triton.runtime.errors"));
  return module.is_valid() ? nb::steal(PyObject_GetAttrString(module.ptr(), name)) : nb::object();
}

/// Sets `OutOfResources(required, limit, name)`, which tuning catches.
static void setOutOfResources(const runtime::Error &error) {
  const nb::object type = errorClass("OutOfResources");
  if (!type.is_valid())
    return;
  const nb::object created =
      nb::steal(PyObject_CallFunction(type.ptr(), "KKs", static_cast<unsigned long long>(error.required),
                                      static_cast<unsigned long long>(error.limit), error.resource.c_str()));
  if (!created.is_valid())
    return;
  // The exception's text is Triton's, which does not name the kernel. Python 3.10 has no notes.
  if (!nb::steal(PyObject_CallMethod(created.ptr(), "add_note", "s", error.text.c_str())).is_valid())
    PyErr_Clear();
  PyErr_SetObject(type.ptr(), created.ptr());
}

/// The text already has a code in its first line.
static void setSanitizerError(const runtime::Error &error) {
  if (const nb::object type = errorClass("SanitizerError"); type.is_valid())
    PyErr_SetString(type.ptr(), error.text.c_str());
}

static PyObject *exceptionFor(const std::string &code) {
  if (code == "launch-grid")
    return PyExc_ValueError;
  return code == "launch-memory" ? PyExc_MemoryError : PyExc_RuntimeError;
}

void nereid::python::setRuntimeError(const runtime::Error &error) {
  if (error.code == "out-of-resources")
    return setOutOfResources(error);
  if (error.code.starts_with("sanitize"))
    return setSanitizerError(error);
  PyErr_Format(exceptionFor(error.code), "%s [%s]", error.text.c_str(), error.code.c_str());
}

void nereid::python::raiseRuntimeError(const runtime::Error &error) {
  setRuntimeError(error);
  throw nb::python_error();
}

//--- Loading -----------------------------------------------------------------------------------

std::shared_ptr<LoadedKernel> LoadedKernel::load(const artifact::Artifact &artifact, int32_t ordinal) {
  auto loaded = std::make_shared<LoadedKernel>();
  auto onDevice = [&] {
    const GilRelease release;
    return jit::load(artifact, ordinal);
  }();
  if (!onDevice)
    raiseRuntimeError(onDevice.error());
  loaded->runner = onDevice->device;
  loaded->kernel = std::move(onDevice->kernel);
  loaded->plan = std::move(onDevice->params);
  loaded->isFlat = std::ranges::all_of(loaded->plan, [](const PackedParam &param) { return param.path.empty(); });
  loaded->bytes = artifact::packedBytes(artifact);
  // A simulated GPU reads the host's memory.
  loaded->deviceKind = sim::isSimulated(artifact.target) ? DeviceKind::Cpu : deviceNamed(artifact.target.backend);
  if (loaded->deviceKind != DeviceKind::Cpu)
    loaded->deviceOrdinal = ordinal;
  const auto signature = jit::Signature::parse(artifact.signature);
  if (auto *known = std::get_if<jit::Signature>(&signature))
    loaded->arguments = known->arguments.size();
  return loaded;
}

static bool haveEqualParameters(const artifact::Artifact &one, const artifact::Artifact &other) {
  return artifact::packedBytes(one) == artifact::packedBytes(other) &&
         std::equal(one.parameters.begin(), one.parameters.end(), other.parameters.begin(), other.parameters.end(),
                    [](const artifact::Parameter &a, const artifact::Parameter &b) {
                      return a.type == b.type && a.offset == b.offset && a.position == b.position;
                    });
}

void LoadedKernel::setPlain(std::shared_ptr<LoadedKernel> other) {
  if (other->artifact().abi != artifact::Abi::Plain || other->deviceKind != deviceKind ||
      other->deviceOrdinal != deviceOrdinal || !haveEqualParameters(artifact(), other->artifact()))
    raise(PyExc_ValueError,
          "kernel `" + other->artifact().name + "` is not the plain form of `" + artifact().name + "`");
  std::lock_guard<std::mutex> lock(settingPlain);
  if (plainOwner)
    return;
  plainOwner = std::move(other);
  plain.store(plainOwner.get(), std::memory_order_release);
}

//--- Launching ---------------------------------------------------------------------------------

bool LoadedKernel::launch(runtime::Grid grid, void *stream, std::span<const char> packed,
                          const runtime::Grid *program) {
  const bool worksHere = deviceKind == DeviceKind::Cpu;
  lastLaunch = deviceKind;
  const auto launched = [&]() -> runtime::Expected<void> {
    std::optional<GilRelease> release;
    if (worksHere)
      release.emplace();
    try {
      return program ? runtime::launchCpuProgram(*kernel, grid, *program, packed)
                     : runner->launch(*kernel, grid, stream, packed);
    } catch (const std::bad_alloc &) {
      return runtime::Error{"launch-memory", "there is no memory to launch kernel `" + artifact().name + "`"};
    }
  }();
  if (!launched) {
    if (!PyErr_Occurred()) // a signal has raised its own
      setRuntimeError(launched.error());
    return false;
  }
  return !worksHere ||
         (PyErr_CheckSignals() == 0 && !PyErr_Occurred()); // a signal may have raised during the last program
}

bool LoadedKernel::waitFor(const std::vector<uint64_t> &producers, void *stream) {
  const auto own = reinterpret_cast<uint64_t>(stream);
  for (const uint64_t producer : producers) {
    if (producer == own || (isDefaultStream(producer) && isDefaultStream(own)))
      continue;
    auto *gpu = static_cast<runtime::GpuDevice *>(runner);
    if (auto ordered = gpu->orderStreams(reinterpret_cast<void *>(producer), stream); !ordered) {
      setRuntimeError(ordered.error());
      return false;
    }
  }
  return true;
}

static ArgumentLeaf leafOf(PyObject *object, const artifact::Parameter &parameter, Array &array) {
  ArgumentLeaf leaf;
  switch (readNumber(object, leaf)) {
  case NumberResult::Read:
    return leaf;
  case NumberResult::TooLarge:
    throw nb::python_error();
  case NumberResult::NotANumber:
    break;
  }
  const ArrayResult result = readArray(object, array);
  if (result == ArrayResult::Failed)
    throw nb::python_error();
  if (result == ArrayResult::NotAnArray)
    raise(PyExc_TypeError, "argument `" + parameter.name + "` must be of type `" + parameter.type + "`, got " +
                               reprOf(reinterpret_cast<PyObject *>(Py_TYPE(object))));
  leaf.kind = ArgumentLeaf::Kind::Address;
  leaf.bits = array.address;
  leaf.isReadOnly = array.isReadOnly;
  return leaf;
}

static std::string deviceText(DeviceKind device, int32_t ordinal, std::string_view otherName) {
  if (device == DeviceKind::Other)
    return std::string(otherName);
  return nameOf(device) + (device == DeviceKind::Cpu ? std::string() : ":" + std::to_string(ordinal));
}

runtime::GpuDevice &LoadedKernel::gpu() const { return static_cast<runtime::GpuDevice &>(*runner); }

/// The driver's information about an address; nullopt where it cannot be queried.
static std::optional<runtime::PointerInfo> pointerInfoOf(runtime::Device *runner, uint64_t address) {
  auto info = static_cast<runtime::GpuDevice *>(runner)->pointerInfo(address);
  return info ? std::optional(*info) : std::nullopt;
}

/// Host memory that a GPU may read counts as device memory.
static bool moveToDevice(runtime::Device *runner, ArgumentLeaf &leaf) {
  const auto info = pointerInfoOf(runner, leaf.bits);
  if (!info || !info->isKnown || !info->onDevice)
    return false;
  leaf.bits = info->onDevice;
  return true;
}

static void checkElements(const Array &array, const PackedParam &param, const artifact::Parameter &parameter) {
  if (param.kind != artifact::ParameterKind::Pointer)
    raise(PyExc_TypeError, "argument `" + parameter.name + "` must be of type `" + parameter.type + "`, not an array");
  auto bytesOf = [](jit::ScalarType type) { return artifact::storageBytes(type); };
  if (bytesOf(array.type) != bytesOf(param.type))
    raise(PyExc_TypeError, "argument `" + parameter.name + "` is an array of " +
                               std::string(jit::spelling(array.type)) + ", but the kernel was compiled for `" +
                               parameter.type + "`");
}

/// With checking on, rejects pointers that the driver does not know.
static void checkPointer(runtime::Device *runner, uint64_t address, const artifact::Parameter &parameter) {
  const auto info = address ? pointerInfoOf(runner, address) : std::nullopt;
  if (info && !info->isKnown) {
    char text[32];
    std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(address));
    raise(PyExc_ValueError, "argument `" + parameter.name + "` points to " + text +
                                ", which is not memory that the GPU can access; it was freed, or is on the host. "
                                "Pointer argument cannot be accessed from Triton (cpu tensor?)");
  }
}

/// The argument of `params()[index]` as it is packed.
ArgumentLeaf LoadedKernel::readArgument(size_t index, PyObject *object, Array &array) const {
  const artifact::Parameter &parameter = artifact().parameters[index];
  const PackedParam &param = plan[index];
  ArgumentLeaf leaf = leafOf(object, parameter, array);
  if (leaf.kind == ArgumentLeaf::Kind::Address) {
    const bool fits =
        !array.address || array.device == DeviceKind::Unknown ||
        (array.device == deviceKind && (deviceKind == DeviceKind::Cpu || array.deviceIndex == deviceOrdinal));
    const bool isReachable = deviceKind != DeviceKind::Cpu && array.device == DeviceKind::Cpu;
    const bool isPeer = deviceKind != DeviceKind::Cpu && array.device == deviceKind;
    if (!fits && isPeer)
      gpu().notePeer(artifact().name, parameter.name, leaf.bits, array.deviceIndex);
    if (!fits && !isPeer && !(isReachable && moveToDevice(runner, leaf)))
      raise(PyExc_ValueError,
            "argument `" + parameter.name + "` is on device " +
                deviceText(array.device, array.deviceIndex, array.deviceName) + ", but the kernel was compiled for " +
                deviceText(deviceKind, deviceOrdinal, "") +
                (isReachable ? ". Pointer argument cannot be accessed from Triton (cpu tensor?)" : ""));
    checkElements(array, param, parameter);
  }
  if (deviceKind != DeviceKind::Cpu && param.kind == artifact::ParameterKind::Pointer && checkPointers)
    checkPointer(runner, leaf.bits, parameter);
  return leaf;
}

/// The element at this index of a tuple or an object.
static nb::object elementAt(nb::handle whole, uint32_t index, const artifact::Parameter &parameter) {
  nb::object parts = elementsOf(whole);
  if (!parts.is_valid() || index >= PyTuple_GET_SIZE(parts.ptr()))
    raise(PyExc_TypeError, "there is no value for `" + parameter.name + "` in " + reprOf(whole));
  return nb::borrow(PyTuple_GET_ITEM(parts.ptr(), index));
}

/// The value of a parameter: an argument, or an element of one.
static nb::object argumentFor(const PackedParam &param, nb::handle args, const artifact::Parameter &parameter) {
  nb::object argument = nb::borrow(PyTuple_GET_ITEM(args.ptr(), param.position));
  for (const uint32_t index : param.path)
    argument = elementAt(argument, index, parameter);
  return isDescriptor(argument) ? descriptorField(argument, param.part) : argument;
}

static PyObject *exceptionFor(PackResult result) {
  if (result == PackResult::OutOfRange)
    return PyExc_OverflowError;
  return result == PackResult::ReadOnly ? PyExc_ValueError : PyExc_TypeError;
}

bool LoadedKernel::launchWithArguments(runtime::Grid grid, void *stream, nb::handle args, ScratchAddresses scratch,
                                       const runtime::Grid *program, Misfit misfit) {
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(args.ptr()));
  size_t wanted = arguments;
  for (const PackedParam &param : plan)
    wanted = std::max<size_t>(wanted, param.position + 1);
  if (count < wanted || (arguments && count != arguments))
    raise(PyExc_TypeError, "kernel `" + artifact().name + "` takes " + std::to_string(wanted) +
                               " arguments, constants included; " + std::to_string(count) + " were given");

  char small[stackBlockBytes] = {};
  std::unique_ptr<char[]> large(bytes > sizeof small ? new char[bytes]() : nullptr);
  char *block = large ? large.get() : small;
  std::memcpy(block + bytes - sizeof scratch, &scratch, sizeof scratch);
  std::vector<nb::object> owners;
  std::vector<uint64_t> producers;
  std::vector<runtime::MemoryExtent> extents;
  const bool isChecked = runtime::checksMemory(artifact());
  for (size_t i = 0; i < plan.size(); ++i) {
    const PackedParam &param = plan[i];
    Array array;
    nb::object argument = argumentFor(param, args, artifact().parameters[i]);
    PyObject *object = argument.ptr();
    const ArgumentLeaf leaf = readArgument(i, object, array);
    if (array.owner.is_valid())
      owners.push_back(std::move(array.owner));
    if (array.producer)
      producers.push_back(array.producer);
    if (isChecked)
      extents.push_back(extentOf(argument, param, leaf.bits));
    const PackResult packed = jit::pack(param, leaf, block);
    if (packed != PackResult::Packed)
      raise(exceptionFor(packed),
            jit::packProblem(packed, artifact(), i,
                             packed == PackResult::ReadOnly ? Py_TYPE(object)->tp_name : reprOf(object)));
  }
  std::vector<char> withMemory;
  std::span<const char> packed(block, bytes);
  if (isChecked)
    packed = withMemory = jit::withExtents(packed, extents);
  if (misfit == Misfit::IsNotLaunched && !kernel->accepts(grid, packed))
    return false;
  if (!waitFor(producers, stream) || !launch(grid, stream, packed, program))
    throw nb::python_error();
  keepCollected(args);
  for (const nb::object &owner : owners)
    keepCollected(owner);
  return true;
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

using Misfit = LoadedKernel::Misfit;

static bool launchOn(LoadedKernel &kernel, nb::handle x, nb::handle y, nb::handle z, nb::handle stream, nb::tuple args,
                     ScratchAddresses scratch, Misfit misfit) {
  const runtime::Grid grid{extentOf(x, "x"), extentOf(y, "y"), extentOf(z, "z")};
  void *queue = nullptr;
  if (!readStream(stream.ptr(), queue))
    raise(PyExc_TypeError, "the stream must be a number, a torch or cupy stream, or None; got " + reprOf(stream));
  return kernel.launchWithArguments(grid, queue, args, scratch, nullptr, misfit);
}

static void launch(LoadedKernel &kernel, nb::handle x, nb::handle y, nb::handle z, nb::handle stream, nb::tuple args,
                   uint64_t globalScratch, uint64_t profileScratch) {
  launchOn(kernel, x, y, z, stream, args, {globalScratch, profileScratch}, Misfit::IsAnError);
}

static bool tryLaunch(LoadedKernel &kernel, nb::handle x, nb::handle y, nb::handle z, nb::handle stream, nb::tuple args,
                      uint64_t globalScratch, uint64_t profileScratch) {
  return launchOn(kernel, x, y, z, stream, args, {globalScratch, profileScratch}, Misfit::IsNotLaunched);
}

static runtime::Grid gridOf(nb::tuple extents, const char *what) {
  if (extents.size() != 3)
    raise(PyExc_ValueError, std::string(what) + " must have 3 dimensions, got " + reprOf(extents));
  return {extentOf(extents[0], "x"), extentOf(extents[1], "y"), extentOf(extents[2], "z")};
}

/// Runs one program of a grid.
static void launchProgram(LoadedKernel &kernel, nb::tuple grid, nb::tuple program, nb::tuple args) {
  const runtime::Grid extents = gridOf(grid, "the grid"), id = gridOf(program, "the program");
  if (!artifact::targetInfo(kernel.artifact().target.backend).isHost)
    raise(PyExc_ValueError, "single programs run on the CPU only; kernel `" + kernel.artifact().name +
                                "` was compiled for " + kernel.artifact().target.backend);
  if (id.x >= extents.x || id.y >= extents.y || id.z >= extents.z)
    raise(PyExc_ValueError, "program " + reprOf(program) + " is not in the grid " + reprOf(grid));
  kernel.launchWithArguments(extents, nullptr, args, {}, &id);
}

void nereid::python::bindKernel(nb::module_ &module) {
  watchSignalsInLaunches();
  module.def(
      "take_last_launch",
      [] {
        const DeviceKind kind = std::exchange(lastLaunch, DeviceKind::Unknown);
        return textOf(kind == DeviceKind::Unknown ? "" : nameOf(kind));
      },
      "The kind of device that this thread's last launch since the last call went to; empty where there was none.");
  nb::class_<LoadedKernel>(module, "Kernel", "A compiled kernel on its device.")
      .def("launch", &launch, nb::arg("gx"), nb::arg("gy"), nb::arg("gz"), nb::arg("stream").none(), nb::arg("args"),
           nb::arg("global_scratch") = 0, nb::arg("profile_scratch") = 0,
           "Runs the kernel for every program of the grid; all arguments of the signature in order.")
      .def("try_launch", &tryLaunch, nb::arg("gx"), nb::arg("gy"), nb::arg("gz"), nb::arg("stream").none(),
           nb::arg("args"), nb::arg("global_scratch") = 0, nb::arg("profile_scratch") = 0,
           "As `launch`; returns False, without a launch, where the code does not fit the arguments.")
      .def("set_plain", &LoadedKernel::setPlain, nb::arg("kernel"),
           "Sets the kernel that launches take whose arguments the code does not fit.")
      .def("launch_program", &launchProgram, nb::arg("grid"), nb::arg("program"), nb::arg("args"),
           "Runs the kernel for one program of the grid, on the calling thread; on the CPU only.")
      .def_prop_ro("n_regs", [](const LoadedKernel &kernel) { return kernel.resources().registers; })
      .def_prop_ro("n_spills", [](const LoadedKernel &kernel) { return kernel.resources().spills; })
      .def_prop_ro("n_max_threads", [](const LoadedKernel &kernel) { return kernel.resources().maxThreads; })
      .def_prop_ro("wants_scratch", &LoadedKernel::wantsScratch, "Whether a launch needs memory beside its arguments.")
      .def_prop_ro(
          "module",
          [](const LoadedKernel &kernel) { return reinterpret_cast<uint64_t>(kernel.loaded().moduleHandle()); },
          "The driver's handle of the module with the kernel's code; 0 on a CPU.")
      .def("__index__", [](const LoadedKernel &kernel) { return reinterpret_cast<uint64_t>(kernel.handle()); })
      .def("__int__", [](const LoadedKernel &kernel) { return reinterpret_cast<uint64_t>(kernel.handle()); })
      .def("__repr__", [](const LoadedKernel &kernel) {
        return textOf("<Kernel " + kernel.artifact().name + " on " + deviceText(kernel.device(), kernel.ordinal(), "") +
                      ">");
      });
}
