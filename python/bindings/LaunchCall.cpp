// Binds the arguments of a launch to parameters, evaluates its grid, and launches a kernel with them.
// SPDX-License-Identifier: MIT
#include "python/bindings/LaunchCall.h"

#include "python/bindings/Tracebacks.h"
#include "runtime/MemoryExtent.h"
#include "runtime/gpu/GpuDevice.h"

#include <algorithm>
#include <functional>

namespace nereid::python {

//--- Binding -----------------------------------------------------------------------------------

/// Whether a name of a call is the interned one. Those in a program's text are interned, too.
static bool isNamed(PyObject *name, PyObject *interned) {
  return name == interned || (!PyUnicode_CHECK_INTERNED(name) && PyUnicode_Compare(name, interned) == 0);
}

size_t findParameter(const std::vector<LaunchParameter> &parameters, PyObject *name) {
  const auto found = std::ranges::find_if(parameters, [&](const auto &each) { return isNamed(name, each.name); });
  return static_cast<size_t>(found - parameters.begin());
}

/// The launch options of a call, in one order for all calls: that of the addresses of their names.
class Options {
public:
  bool add(PyObject *name, PyObject *value) {
    if (count == std::size(list))
      return false;
    size_t at = count++;
    for (; at > 0 && std::less<>()(name, list[at - 1].name); --at)
      list[at] = list[at - 1];
    list[at] = {name, value};
    return true;
  }
  bool addTo(LaunchKey &key) const {
    return std::all_of(list, list + count, [&](const Option &each) { return key.addOption(each.name, each.value); });
  }

private:
  struct Option {
    PyObject *name, *value;
  };
  Option list[32]; // not initialised: launches have few options
  size_t count = 0;
};

/// Assigns the keywords from `first` on to parameters or to the key. The stream of a launch is not in the key, nor the
/// grid of a `warmup`.
[[gnu::noinline]] static bool bindOptions(LaunchCall &call, Py_ssize_t first) {
  static PyObject *streamName = PyUnicode_InternFromString("stream");
  static PyObject *gridName = PyUnicode_InternFromString("grid");
  static PyObject *const warmupName = PyUnicode_InternFromString("warmup");
  Options options;
  for (Py_ssize_t k = first; k < PyTuple_GET_SIZE(call.keywords); ++k) {
    PyObject *name = PyTuple_GET_ITEM(call.keywords, k);
    PyObject *value = call.args[call.count + k];
    const size_t at = findParameter(call.list(), name);
    if (at < call.list().size()) {
      if (call.bound[at])
        return false;
      call.bound[at] = value;
    } else if (isNamed(name, warmupName)) {
      return false; // a call that only compiles: no launch may come to find it
    } else if (isNamed(name, streamName)) {
      call.stream = value;
    } else if (!(call.isWarmup && isNamed(name, gridName)) && !options.add(name, value)) {
      return false;
    }
  }
  return options.addTo(call.key);
}

/// Assigns each keyword to a parameter or to the key.
static bool bindKeywords(LaunchCall &call) {
  const Py_ssize_t keywordCount = PyTuple_GET_SIZE(call.keywords);
  const LaunchParameter *const parameters = call.list().data();
  const size_t count = call.list().size();
  for (Py_ssize_t k = 0; k < keywordCount; ++k) {
    // The usual keywords are constants: parameters after the positional arguments, by their interned names.
    PyObject *name = PyTuple_GET_ITEM(call.keywords, k);
    size_t at = call.count;
    while (at < count && parameters[at].name != name)
      ++at;
    if (at == count)
      return bindOptions(call, k);
    if (call.bound[at])
      return false;
    call.bound[at] = call.args[call.count + k];
  }
  return true;
}

bool LaunchCall::reserve() {
  const size_t count = list().size();
  if (count > LaunchKey::maxArguments)
    return false;
  if (count > std::size(few)) {
    many = std::make_unique<PyObject *[]>(count);
    bound = many.get();
    key.reserve(count);
  }
  return true;
}

/// Adds the argument of one parameter to the key.
static bool addToKey(LaunchCall &call, size_t index) {
  PyObject *const argument = call.bound[index];
  if (call.list()[index].isConstexpr)
    return call.key.addConstant(argument);
  if (call.isWarmup && index < call.count && isTorchDtype(argument))
    return call.key.addStandIn(argument);
  return call.key.addArgument(index, argument);
}

bool bindGiven(LaunchCall &call) {
  const size_t count = call.list().size();
  if (call.count > count || !call.reserve())
    return false;
  std::copy_n(call.args, call.count, call.bound);
  std::fill(call.bound + call.count, call.bound + count, nullptr);
  return !call.keywords || bindKeywords(call);
}

bool bindCall(LaunchCall &call) {
  if (!bindGiven(call))
    return false;
  for (size_t i = 0; i < call.list().size(); ++i) {
    if (!call.bound[i])
      call.bound[i] = call.list()[i].defaultValue;
    if (!call.bound[i] || !addToKey(call, i))
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
static PyObject *callGrid(PyObject *function, const LaunchCall &call) {
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

static FastPath evaluateGrid(PyObject *gridValue, const LaunchCall &call, runtime::Grid &grid) {
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

static bool packArguments(const LoadedKernel &kernel, const LaunchKey &key, char *block) {
  if (kernel.takesWholeArguments() && key.isFlat()) {
    for (const PackedParam &param : kernel.params())
      if (jit::pack(param, key.flatLeafFor(param), block) != PackResult::Packed)
        return false;
    return true;
  }
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
[[gnu::noinline]] static void notePeers(const LaunchKey &key, const LoadedKernel &kernel) {
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

/// Whether a kernel that stays on its GPU can access all arrays.
static bool reachesArrays(const LaunchKey &key, const LoadedKernel &kernel) {
  return key.areOn(kernel.ordinal()) || std::ranges::all_of(key.arrays(), [&](const auto &array) {
           return array.ordinal == kernel.ordinal() || kernel.gpu().canAccess(array.address);
         });
}

/// The stream of the launch; Fallback where Python has to determine it, or the device.
static FastPath chooseStream(const LaunchCall &call, LoadedKernel &kernel, bool isFrozen, void *&stream) {
  if (kernel.device() == DeviceKind::Cpu)
    return call.stream ? FastPath::Fallback : FastPath::Ok;
  const LaunchKey &key = call.key;
  if (!(isFrozen ? reachesArrays(key, kernel) : runsOnItsDevice(key, kernel)))
    return FastPath::Fallback;
  if (!key.areOn(kernel.ordinal()))
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

FastPath launchTarget(const LaunchTarget &target, PyObject *gridValue, const LaunchCall &call, PyObject *&result) {
  nb::object compiled = nb::borrow(target.compiled), owner = nb::borrow(target.kernel);
  LoadedKernel &loaded = *target.loaded;
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
  if (FastPath outcome = chooseStream(call, kernel, target.isFrozen, stream); outcome != FastPath::Ok)
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

/// Whether the kernel can be launched from the key's leaves alone.
bool fits(const LoadedKernel &kernel, const LaunchCall &call) {
  if (runtime::checksMemory(kernel.artifact()))
    return false;
  for (const PackedParam &param : kernel.params())
    if (param.position >= call.list().size() || call.list()[param.position].isConstexpr || !call.key.leafFor(param))
      return false;
  return call.key.device() == DeviceKind::Unknown || call.key.device() == kernel.device();
}

//--- The path through Python -------------------------------------------------------------------

static std::atomic<const LaunchRuntime *> knownRuntime{nullptr};

const LaunchRuntime *launchRuntime() { return knownRuntime.load(std::memory_order_acquire); }

void setLaunchRuntime(nb::object run, nb::object driver, nb::object futureClass) {
  // Never freed, since a launch on another thread may use it.
  knownRuntime.store(new LaunchRuntime{run.release().ptr(), driver.release().ptr(), futureClass.release().ptr()},
                     std::memory_order_release);
}

/// Whether a subclass defines `run`, or somebody has replaced that of JITFunction: then every launch goes through it.
static bool hasOtherRun(PyObject *function) {
  static PyObject *runName = PyUnicode_InternFromString("run");
  const LaunchRuntime *runtime = launchRuntime();
  return !runtime || _PyType_Lookup(Py_TYPE(function), runName) != runtime->run;
}

bool goesThroughPython(PyObject *function, const JitState &state) {
  return hasOtherRun(function) || state.slow || state.takesRest || slowLaunch.load(std::memory_order_acquire) ||
         !state.watchHolds();
}

PyObject *callThroughPython(PyObject *object, PyObject *method, PyObject *const *args, size_t count, PyObject *keywords,
                            std::initializer_list<std::pair<PyObject *, PyObject *>> more) {
  const Py_ssize_t keywordCount = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  std::vector<PyObject *> stack{object};
  stack.insert(stack.end(), args, args + count + keywordCount);
  std::vector<PyObject *> all;
  for (Py_ssize_t k = 0; k < keywordCount; ++k)
    all.push_back(PyTuple_GET_ITEM(keywords, k));
  for (const auto &[name, value] : more) {
    if (std::ranges::any_of(all, [&](PyObject *given) { return PyUnicode_Compare(given, name) == 0; }))
      continue; // the caller's own value
    stack.push_back(value);
    all.push_back(name);
  }
  // No nb::object: Python ends daemon threads inside of the call, and unwinds this frame without the GIL.
  PyObject *names = PyTuple_New(static_cast<Py_ssize_t>(all.size()));
  if (!names)
    return nullptr;
  for (size_t k = 0; k < all.size(); ++k)
    PyTuple_SET_ITEM(names, static_cast<Py_ssize_t>(k), Py_NewRef(all[k]));
  PyObject *result = PyObject_VectorcallMethod(method, stack.data(), count + 1, names);
  Py_DECREF(names);
  if (!result)
    hideOwnFrames();
  return result;
}

} // namespace nereid::python
