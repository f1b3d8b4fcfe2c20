// `kernel[grid](...)`: finds the kernel that earlier launches with such arguments chose, packs the arguments and runs
// it.
// SPDX-License-Identifier: MIT
//
// A launch whose key is known makes no Python call except the grid's. Everything else goes through JITFunction.run,
// whose kernel is then stored under the key.
#include "python/bindings/LaunchKey.h"
#include "python/bindings/Tracebacks.h"
#include "runtime/MemoryExtent.h"
#include "runtime/gpu/GpuDevice.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <structmember.h>

namespace nereid::python {

namespace {
struct LauncherObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject *function;
  PyObject *grid;
};

/// The arguments of one call, by parameter.
struct BoundCall {
  JitState &state;
  PyObject *const *args;
  size_t count;
  PyObject *keywords; ///< tuple of names, or null; their values follow `args`
  PyObject *stream;   ///< as given, or null
  PyObject *few[LaunchKey::fewArguments];
  std::unique_ptr<PyObject *[]> many;
  LaunchKey key;
  std::shared_ptr<const LaunchParameters> parameters; ///< of the state when the call began
  PyObject **bound = few;

  const std::vector<LaunchParameter> &list() const { return parameters->list; }
};

enum class FastPath { Ok, Failed, Miss, Fallback };
} // namespace

//--- Binding -----------------------------------------------------------------------------------

static size_t findParameter(const std::vector<LaunchParameter> &parameters, PyObject *name) {
  const size_t count = parameters.size();
  for (size_t i = 0; i < count; ++i)
    if (parameters[i].name == name)
      return i;
  for (size_t i = 0; i < count; ++i)
    if (PyUnicode_Compare(parameters[i].name, name) == 0)
      return i;
  return count;
}

/// Assigns each keyword to a parameter or to the key. The stream of a launch is not in the key.
static bool bindKeywords(BoundCall &call) {
  static PyObject *streamName = PyUnicode_InternFromString("stream");
  const Py_ssize_t keywordCount = call.keywords ? PyTuple_GET_SIZE(call.keywords) : 0;
  for (Py_ssize_t k = 0; k < keywordCount; ++k) {
    PyObject *name = PyTuple_GET_ITEM(call.keywords, k);
    PyObject *value = call.args[call.count + k];
    const size_t at = findParameter(call.list(), name);
    if (at == call.list().size()) {
      if (PyUnicode_Compare(name, streamName) == 0)
        call.stream = value;
      else if (!call.key.addOption(name, value))
        return false;
      continue;
    }
    if (call.bound[at])
      return false;
    call.bound[at] = value;
  }
  return true;
}

/// Fills `bound` and the key; false where Python has to handle the call.
static bool bindCall(BoundCall &call) {
  const std::vector<LaunchParameter> &parameters = call.list();
  const size_t count = parameters.size();
  if (call.count > count || count > LaunchKey::maxArguments)
    return false;
  if (count > std::size(call.few)) {
    call.many = std::make_unique<PyObject *[]>(count);
    call.bound = call.many.get();
    call.key.reserve(count);
  }
  for (size_t i = 0; i < count; ++i)
    call.bound[i] = i < call.count ? call.args[i] : nullptr;
  if (call.keywords && !bindKeywords(call))
    return false;
  for (size_t i = 0; i < count; ++i) {
    if (!call.bound[i])
      call.bound[i] = parameters[i].defaultValue;
    if (!call.bound[i])
      return false;
    if (!(parameters[i].isConstexpr ? call.key.addConstant(call.bound[i]) : call.key.addArgument(i, call.bound[i])))
      return false;
  }
  return true;
}

//--- Grid --------------------------------------------------------------------------------------

static bool readExtent(PyObject *object, uint32_t &extent) {
  if (!PyLong_Check(object))
    return false;
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow || number < 0 || number > UINT32_MAX)
    return false;
  extent = static_cast<uint32_t>(number);
  return true;
}

static bool readGrid(PyObject *object, runtime::Grid &grid) {
  const bool isTuple = PyTuple_Check(object);
  if (!isTuple && !PyList_Check(object))
    return false;
  const Py_ssize_t rank = Py_SIZE(object);
  uint32_t *extents[] = {&grid.x, &grid.y, &grid.z};
  if (rank < 1 || rank > 3)
    return false;
  for (Py_ssize_t i = 0; i < rank; ++i)
    if (!readExtent(isTuple ? PyTuple_GET_ITEM(object, i) : PyList_GET_ITEM(object, i), *extents[i]))
      return false;
  return true;
}

/// Calls a grid function with all arguments by name. Null with an exception, which may be the function's own.
static PyObject *callGrid(PyObject *function, const BoundCall &call) {
  PyObject *arguments = PyDict_New();
  if (!arguments)
    return nullptr;
  for (size_t i = 0; i < call.list().size(); ++i)
    if (PyDict_SetItem(arguments, call.list()[i].name, call.bound[i]) != 0) {
      Py_DECREF(arguments);
      return nullptr;
    }
  PyObject *result = PyObject_CallOneArg(function, arguments);
  Py_DECREF(arguments);
  return result;
}

static FastPath evaluateGrid(PyObject *gridValue, const BoundCall &call, runtime::Grid &grid) {
  if (readGrid(gridValue, grid))
    return FastPath::Ok;
  if (!PyCallable_Check(gridValue))
    return FastPath::Fallback;
  PyObject *created = callGrid(gridValue, call);
  if (!created)
    return FastPath::Failed;
  const bool known = readGrid(created, grid);
  Py_DECREF(created);
  return known ? FastPath::Ok : FastPath::Fallback;
}

//--- The fast path -----------------------------------------------------------------------------

static std::atomic<PyObject *> defaultRun{nullptr};

static PyObject *runName() {
  static PyObject *name = PyUnicode_InternFromString("run");
  return name;
}

static bool packArguments(const LoadedKernel &kernel, const LaunchKey &key, char *block) {
  for (const PackedParam &param : kernel.params()) {
    const ArgumentLeaf *leaf = key.leafFor(param);
    if (!leaf || jit::pack(param, *leaf, block) != PackResult::Packed)
      return false;
  }
  return true;
}

/// Whether this kernel's GPU is the one that the arrays and the current device ask for: the rule of
/// `device_of_arguments`.
static bool runsOnItsDevice(const LaunchKey &key, const LoadedKernel &kernel) {
  if (kernel.gpu().siblingCount() == 1)
    return true;
  const int32_t ordinal = kernel.ordinal(), current = currentDevice(kernel.device());
  const auto arrays = key.arrays();
  const auto areOn = [&](int32_t device) {
    return std::ranges::all_of(arrays, [&](const auto &array) { return array.ordinal == device; });
  };
  const bool areTogether = arrays.empty() || areOn(arrays[0].ordinal);
  if (arrays.empty() || !areTogether || areOn(current))
    return current == ordinal;
  // All are on one device, which launches unless the current one can access them.
  runtime::GpuDevice *device = kernel.gpu().sibling(current);
  const bool areAccessible =
      device && std::ranges::all_of(arrays, [&](const auto &array) { return device->canAccess(array.address); });
  return ordinal == (areAccessible ? current : arrays[0].ordinal);
}

/// Tells the device which arguments are memory of another one: a failure of the launch names them.
static void notePeers(const LaunchKey &key, const LoadedKernel &kernel) {
  for (const LaunchKey::Placed &array : key.arrays()) {
    if (array.ordinal == kernel.ordinal())
      continue;
    const auto holds = [&](const PackedParam &param) {
      const ArgumentLeaf *leaf = key.leafFor(param);
      return leaf && leaf->kind == ArgumentLeaf::Kind::Address && leaf->bits == array.address;
    };
    const auto found = std::ranges::find_if(kernel.params(), holds);
    if (found != kernel.params().end())
      kernel.gpu().notePeer(kernel.artifact().name,
                            kernel.artifact().parameters[size_t(found - kernel.params().begin())].name, array.address,
                            array.ordinal);
  }
}

/// The stream of the launch; Fallback where Python has to determine it, or the device.
static FastPath chooseStream(const BoundCall &call, LoadedKernel &kernel, void *&stream) {
  if (kernel.device() == DeviceKind::Cpu)
    return call.stream ? FastPath::Fallback : FastPath::Ok;
  const LaunchKey &key = call.key;
  if (!runsOnItsDevice(key, kernel))
    return FastPath::Fallback;
  notePeers(key, kernel);
  if (call.stream) {
    if (!readStream(call.stream, stream))
      return FastPath::Fallback;
  } else if (!key.streamQuery()) {
    stream = currentStream(kernel.device(), kernel.ordinal());
  } else if (key.streamQuery()(dlpackCode(kernel.device()), kernel.ordinal(), &stream) != 0) {
    PyErr_Clear();
    return FastPath::Fallback;
  }
  return key.producers().empty() || kernel.waitFor(key.producers(), stream) ? FastPath::Ok : FastPath::Failed;
}

/// Sets scratch pointers from the user's allocator; the returned object owns the memory. Null after an exception.
static nb::object requestScratch(const LoadedKernel &kernel, runtime::Grid grid, void *stream, char *block) {
  const artifact::Artifact &artifact = kernel.artifact();
  const nb::object provider = currentScratchProvider();
  if (!provider.is_valid()) // another thread has just removed it
    return nb::make_tuple(0, 0, nb::none());
  using Number = unsigned long long;
  const Number blocks = Number{grid.x} * grid.y * grid.z * artifact.clusterDims[0];
  nb::object scratch = nb::steal(
      PyObject_CallFunction(provider.ptr(), "(KK)(KK)KK", Number{artifact.globalScratchBytes},
                            Number{artifact.globalScratchAlign}, Number{artifact.profileScratchBytes},
                            Number{artifact.profileScratchAlign}, blocks, Number{reinterpret_cast<uintptr_t>(stream)}));
  Number global = 0, profile = 0;
  PyObject *keeper = nullptr;
  if (!scratch.is_valid() || !PyArg_ParseTuple(scratch.ptr(), "KKO", &global, &profile, &keeper))
    return {};
  const ScratchAddresses addresses{global, profile};
  std::memcpy(block + kernel.blockBytes() - sizeof addresses, &addresses, sizeof addresses);
  return scratch;
}

/// Launches the entry's kernel with this call's arguments. The entry may be dropped while Python code runs.
static FastPath launchEntry(const LaunchEntry &entry, PyObject *gridValue, BoundCall &call, PyObject *&result) {
  nb::object compiled = nb::borrow(entry.compiled), owner = nb::borrow(entry.kernel);
  LoadedKernel &loaded = *entry.loaded;
  runtime::Grid grid;
  if (FastPath outcome = evaluateGrid(gridValue, call, grid); outcome != FastPath::Ok)
    return outcome;
  alignas(16) char small[stackBlockBytes];
  const std::unique_ptr<char[]> large(loaded.blockBytes() > sizeof small ? new char[loaded.blockBytes()] : nullptr);
  char *const block = large ? large.get() : small;
  std::memset(block, 0, loaded.blockBytes());
  if (!packArguments(loaded, call.key, block))
    return FastPath::Fallback;
  LoadedKernel *const chosen = loaded.kernelFor(grid, block);
  if (!chosen) // Python compiles the plain form
    return FastPath::Fallback;
  LoadedKernel &kernel = *chosen;
  void *stream = nullptr;
  if (FastPath outcome = chooseStream(call, kernel, stream); outcome != FastPath::Ok)
    return outcome;
  nb::object scratch;
  if (kernel.wantsScratch() && scratchProvider) {
    scratch = requestScratch(kernel, grid, stream, block);
    if (!scratch.is_valid())
      return FastPath::Failed;
  }
  if (!kernel.launch(grid, stream, block))
    return FastPath::Failed;
  result = compiled.release().ptr();
  return FastPath::Ok;
}

/// Whether a subclass defines `run`, or somebody has replaced that of JITFunction: then every launch goes through it.
static bool hasOtherRun(PyObject *function) {
  return _PyType_Lookup(Py_TYPE(function), runName()) != defaultRun.load(std::memory_order_acquire);
}

static FastPath launchFast(LauncherObject &launcher, BoundCall &call, PyObject *&result) {
  if (hasOtherRun(launcher.function))
    return FastPath::Fallback;
  if (call.state.slow || call.state.takesRest || slowLaunch.load(std::memory_order_acquire) || !call.state.watchHolds())
    return FastPath::Fallback;
  if (!bindCall(call))
    return PyErr_Occurred() ? FastPath::Failed : FastPath::Fallback;
  const LaunchEntry *entry = call.state.currentLaunches().find(call.key.text());
  return entry ? launchEntry(*entry, launcher.grid, call, result) : FastPath::Miss;
}

//--- The path through Python -------------------------------------------------------------------

static PyObject *launchThroughPython(LauncherObject &launcher, PyObject *const *args, size_t count,
                                     PyObject *keywords) {
  static PyObject *gridName = PyUnicode_InternFromString("grid");
  static PyObject *warmupName = PyUnicode_InternFromString("warmup");
  const Py_ssize_t keywordCount = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  std::vector<PyObject *> stack{launcher.function};
  stack.insert(stack.end(), args, args + count + keywordCount);
  stack.push_back(launcher.grid);
  stack.push_back(Py_False);
  PyObject *names = PyTuple_New(keywordCount + 2);
  if (!names)
    return nullptr;
  for (Py_ssize_t k = 0; k < keywordCount; ++k)
    PyTuple_SET_ITEM(names, k, Py_NewRef(PyTuple_GET_ITEM(keywords, k)));
  PyTuple_SET_ITEM(names, keywordCount, Py_NewRef(gridName));
  PyTuple_SET_ITEM(names, keywordCount + 1, Py_NewRef(warmupName));
  PyObject *compiled = PyObject_VectorcallMethod(runName(), stack.data(), count + 1, names);
  Py_DECREF(names);
  if (!compiled)
    hideOwnFrames();
  return compiled;
}

/// Whether the kernel can be launched from the key's leaves alone.
static bool fits(const LoadedKernel &kernel, const BoundCall &call) {
  if (runtime::checksMemory(kernel.artifact()))
    return false;
  for (const PackedParam &param : kernel.params())
    if (param.position >= call.list().size() || call.list()[param.position].isConstexpr || !call.key.leafFor(param))
      return false;
  return call.key.device() == DeviceKind::Unknown || call.key.device() == kernel.device();
}

static void remember(BoundCall &call, PyObject *compiled, uint64_t epoch) {
  if (compiled == Py_None || epoch != launchEpoch.load(std::memory_order_acquire) ||
      call.state.parameters != call.parameters)
    return;
  PyObject *kernel = PyObject_GetAttrString(compiled, "function");
  if (!kernel) {
    PyErr_Clear();
    return;
  }
  LoadedKernel *loaded = loadedKernelOf(kernel);
  if (loaded && fits(*loaded, call))
    call.state.currentLaunches().insert(call.key.text(), LaunchEntry(compiled, kernel, loaded, call.key.identities()));
  Py_DECREF(kernel);
}

static PyObject *launch(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  auto &launcher = *reinterpret_cast<LauncherObject *>(self);
  JitState *state = jitStateOf(launcher.function);
  BoundCall call{*state, args, static_cast<size_t>(PyVectorcall_NARGS(flags)), keywords, nullptr, {}, {}, {}, {}};
  const uint64_t epoch = launchEpoch.load(std::memory_order_acquire);
  PyObject *result = nullptr;
  FastPath outcome = FastPath::Failed;
  NEREID_BEGIN_STATE(launcher.function);
  if (state->readParameters(launcher.function)) {
    call.parameters = state->parameters;
    outcome = launchFast(launcher, call, result);
  }
  NEREID_END_STATE();
  if (outcome == FastPath::Ok || outcome == FastPath::Failed)
    return result;
  result = launchThroughPython(launcher, args, call.count, keywords);
  if (result && outcome == FastPath::Miss) {
    NEREID_BEGIN_STATE(launcher.function);
    remember(call, result, epoch);
    NEREID_END_STATE();
  }
  return result;
}

//--- The type ----------------------------------------------------------------------------------

static PyObject *createLauncher(PyObject *type, PyObject *const *args, size_t flags, PyObject *keywords) {
  if (PyVectorcall_NARGS(flags) != 2 || keywords) {
    PyErr_SetString(PyExc_TypeError, "Launcher takes a JITFunction and a grid");
    return nullptr;
  }
  if (!jitStateOf(args[0])) {
    PyErr_Format(PyExc_TypeError, "Launcher takes a JITFunction, got `%s`", Py_TYPE(args[0])->tp_name);
    return nullptr;
  }
  auto *self = PyObject_GC_New(LauncherObject, reinterpret_cast<PyTypeObject *>(type));
  if (!self)
    return nullptr;
  self->call = launch;
  self->function = Py_NewRef(args[0]);
  self->grid = Py_NewRef(args[1]);
  PyObject_GC_Track(self);
  return reinterpret_cast<PyObject *>(self);
}

static PyObject *newLauncher(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  if (keywords && PyDict_GET_SIZE(keywords)) {
    PyErr_SetString(PyExc_TypeError, "Launcher takes no keywords");
    return nullptr;
  }
  return createLauncher(reinterpret_cast<PyObject *>(type), reinterpret_cast<PyTupleObject *>(args)->ob_item,
                        PyTuple_GET_SIZE(args), nullptr);
}

static int traverseLauncher(PyObject *self, visitproc visit, void *arg) {
  auto *launcher = reinterpret_cast<LauncherObject *>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(launcher->function);
  Py_VISIT(launcher->grid);
  return 0;
}

static void destroyLauncher(PyObject *self) {
  auto *launcher = reinterpret_cast<LauncherObject *>(self);
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF(launcher->function);
  Py_DECREF(launcher->grid);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

// Every cycle through a launcher contains the kernel or its grid, which can be cleared; a launcher itself never
// changes, so it needs no tp_clear, as with tuples.
static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(LauncherObject, call), READONLY, nullptr},
    {"fn", T_OBJECT, offsetof(LauncherObject, function), READONLY, "The JITFunction."},
    {"grid", T_OBJECT, offsetof(LauncherObject, grid), READONLY, "The grid as given."},
    {},
};
static PyType_Slot typeSlots[] = {
    {Py_tp_doc, const_cast<char *>("`kernel[grid]`: call it with the kernel's arguments.")},
    {Py_tp_new, reinterpret_cast<void *>(newLauncher)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroyLauncher)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseLauncher)},
    {Py_tp_members, members},
    {},
};
static PyType_Spec spec = {"triton._C.libtriton.Launcher", sizeof(LauncherObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, typeSlots};

PyTypeObject *makeLauncherType(nb::module_ &module) {
  module.def(
      "set_default_run", [](nb::object run) { defaultRun.store(run.release().ptr(), std::memory_order_release); },
      nb::arg("run"), "The `run` of JITFunction, which launches of known keys may leave out.");
  nb::object type = checked(PyType_FromSpec(&spec));
  auto *created = reinterpret_cast<PyTypeObject *>(type.ptr());
  created->tp_vectorcall = createLauncher; // no slot for it before Python 3.14
  module.attr("Launcher") = type;
  return created;
}

} // namespace nereid::python
