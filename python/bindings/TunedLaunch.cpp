// `tuner[grid](...)` for an autotuner of a kernel: from the arguments of the call to the chosen configuration, and to
// the kernel that earlier launches took with it.
// SPDX-License-Identifier: MIT
//
// What is known under a key is a key of `tuner.cache` and the configuration found there. The dict is asked again at
// each launch, so that a program may change it. Everything else goes through `Autotuner.run`: choices, hooks of
// configurations, and kernels below other decorators.
#include "python/bindings/TunedLaunch.h"

#include <atomic>

namespace nereid::python {

namespace {
/// The class Autotuner and the methods of it that a launch may leave out.
struct TunerClass {
  PyTypeObject *type;
  std::vector<std::pair<PyObject *, PyObject *>> methods; ///< names and functions
};
} // namespace

static thread_local TunedFrame *innermost = nullptr;
static std::atomic<const TunerClass *> tunerClass{nullptr};

TunedFrame::TunedFrame(PyObject *calls, const LaunchCall &call) : calls(calls), call(call), outer(innermost) {
  innermost = this;
}
TunedFrame::~TunedFrame() { innermost = outer; }

TunedFrame *innermostFrame() { return innermost; }

const TunerNames &tunerNames() {
  const auto intern = PyUnicode_InternFromString;
  static const TunerNames known{intern("run"),     intern("_key_of"),   intern("_config_for"), intern("fn"),
                                intern("cache"),   intern("configs"),   intern("keys"),        intern("best_config"),
                                intern("_chosen"), intern("arg_names"), intern("grid"),        intern("warmup")};
  return known;
}

static TunedState &stateOfCalls(PyObject *calls) { return *reinterpret_cast<TunedCallsObject *>(calls)->state; }

//--- What the tuner is now ---------------------------------------------------------------------

/// The attributes of a tuner that a launch needs.
namespace {
struct TunerView {
  nb::object fn, cache, configs, keys;

  bool hasOneConfig() const { return PyList_GET_SIZE(configs.ptr()) == 1; }
};
} // namespace

/// A null object where the dict does not have the name.
static nb::object itemOf(const nb::object &dict, PyObject *name) {
  return nb::borrow(PyDict_GetItemWithError(dict.ptr(), name));
}

/// False for a tuner of another class or with other methods, and where an attribute is of another type.
static bool readTuner(PyObject *tuner, TunerView &view) {
  const TunerClass *known = tunerClass.load(std::memory_order_acquire);
  if (!known || Py_TYPE(tuner) != known->type)
    return false;
  for (const auto &[name, function] : known->methods)
    if (_PyType_Lookup(known->type, name) != function)
      return false;
  const nb::object attributes = nb::steal(PyObject_GenericGetDict(tuner, nullptr));
  if (!attributes.is_valid() || itemOf(attributes, tunerNames().run).is_valid())
    return false;
  view.fn = itemOf(attributes, tunerNames().fn);
  view.cache = itemOf(attributes, tunerNames().cache);
  view.configs = itemOf(attributes, tunerNames().configs);
  view.keys = itemOf(attributes, tunerNames().keys);
  return view.fn.is_valid() && view.cache.is_valid() && view.configs.is_valid() && view.keys.is_valid() &&
         jitStateOf(view.fn.ptr()) && PyDict_CheckExact(view.cache.ptr()) && PyList_CheckExact(view.configs.ptr());
}

/// Whether the tuner would choose the entry's configuration now, and it is what it was.
static bool isChosen(const TunedEntry &entry, const TunerView &view, const LaunchCall &call) {
  PyObject *chosen = nullptr;
  if (view.hasOneConfig() && entry.cacheKey.is_none())
    chosen = PyList_GET_ITEM(view.configs.ptr(), 0);
  else if (!view.hasOneConfig() && !entry.cacheKey.is_none())
    chosen = PyDict_GetItemWithError(view.cache.ptr(), entry.cacheKey.ptr());
  if (chosen != entry.config.ptr())
    return false;
  size_t count = 0;
  for (size_t i = 0; i < entry.taken.size(); ++i) {
    if (!entry.taken[i])
      continue;
    PyObject *now = PyDict_GetItemWithError(entry.kwargs.ptr(), call.list()[i].name);
    count += now != nullptr;
    if (now && now != entry.taken[i])
      return false;
  }
  return static_cast<size_t>(PyDict_GET_SIZE(entry.kwargs.ptr())) == count;
}

//--- Launching ---------------------------------------------------------------------------------

/// The table for the kernels that launches of the function choose at present.
static const std::shared_ptr<TunedTable> &currentTable(TunedState &state, const JitState &function) {
  const uint64_t now = launchEpoch.load(std::memory_order_acquire);
  if (!state.table || state.epoch != now || state.parameters != function.parameters ||
      state.table->size() >= maxLaunchKeys) {
    state.table = std::make_shared<TunedTable>();
    state.epoch = now;
    state.parameters = function.parameters;
    state.keys = {};
  }
  return state.table;
}

/// Finds the parameters that the tuner's key names. A name that is none is left out, as by Python.
static bool readKeys(TunedState &state, PyObject *keys, const LaunchCall &call) {
  if (state.keys.is_valid() && state.keys.ptr() == keys)
    return true;
  nb::object list = nb::steal(PySequence_List(keys));
  if (!list.is_valid())
    return false;
  state.keyIndices.clear();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list.ptr()); ++i) {
    PyObject *name = PyList_GET_ITEM(list.ptr(), i);
    if (!PyUnicode_Check(name))
      return false;
    if (const size_t at = findParameter(call.list(), name); at < call.list().size())
      state.keyIndices.push_back(at);
  }
  state.keys = nb::borrow(keys);
  return true;
}

/// Whether a tuner's key has the value of the object, which no other equal value replaces.
static bool isPlainValue(PyObject *object) {
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object) || object == Py_None;
}

/// Adds an argument, and the class of an array: class and elements tell the text of its `dtype`, which is in the
/// tuner's key.
static bool addRuntime(LaunchCall &call, size_t index) {
  PyObject *const argument = call.bound[index];
  return call.key.addArgument(index, argument) && (isPlainValue(argument) || call.key.addTypeOf(argument));
}

/// Fills `bound` and the key for a call in which the tuner's arguments are open.
static bool bindOpen(LaunchCall &call, const TunedState &state) {
  if (!bindGiven(call))
    return false;
  for (const size_t index : state.keyIndices) {
    PyObject *const value = call.bound[index];
    if (!value || call.list()[index].isConstexpr)
      continue;
    if (!isPlainValue(value) || !call.key.addConstant(value))
      return false;
  }
  for (size_t i = 0; i < call.list().size(); ++i) {
    const LaunchParameter &parameter = call.list()[i];
    const bool isGiven = call.bound[i] != nullptr;
    if (!isGiven && parameter.isConstexpr) {
      if (!call.key.addSuffix('?'))
        return false;
      continue;
    }
    if (!isGiven)
      call.bound[i] = parameter.defaultValue;
    if (!call.bound[i])
      return false;
    if (!(parameter.isConstexpr ? call.key.addConstant(call.bound[i]) : addRuntime(call, i)))
      return false;
  }
  return true;
}

/// Sets the parameters that the call has left open.
static bool close(LaunchCall &call, const TunedEntry &entry) {
  for (size_t i = 0; i < call.list().size(); ++i) {
    if (!call.bound[i])
      call.bound[i] = entry.taken[i] ? entry.taken[i] : call.list()[i].defaultValue;
    if (!call.bound[i])
      return false;
  }
  return true;
}

/// Sets `tuner.best_config`, unless this thread has set it to the same last.
static bool setBestConfig(PyObject *tuner, TunedState &state, PyObject *config) {
  static std::atomic<uint64_t> threads{0};
  static thread_local const uint64_t thread = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  if (state.lastThread == thread && state.lastConfig.ptr() == config)
    return true;
  if (PyObject_SetAttr(tuner, tunerNames().bestConfig, config) != 0)
    return false;
  state.lastThread = thread;
  state.lastConfig = nb::borrow(config);
  return true;
}

static FastPath launchTuned(const TunedLauncherObject &launcher, const TunerView &view, JitState &function,
                            LaunchCall &call, PyObject *&result) {
  TunedState &state = stateOfCalls(launcher.calls);
  if (goesThroughPython(view.fn.ptr(), function))
    return FastPath::Fallback;
  const std::shared_ptr<TunedTable> table = currentTable(state, function);
  if (!readKeys(state, view.keys.ptr(), call) || !bindOpen(call, state))
    return PyErr_Occurred() ? FastPath::Failed : FastPath::Fallback;
  const TunedEntry *entry = table->find(call.key.text());
  if (!entry)
    return FastPath::Miss;
  if (!isChosen(*entry, view, call)) {
    if (state.table == table)
      state.table.reset();
    return PyErr_Occurred() ? FastPath::Failed : FastPath::Miss;
  }
  if (!entry->launch.loaded || !close(call, *entry))
    return FastPath::Fallback;
  const LaunchTarget target{entry->launch.compiled, entry->launch.kernel, entry->launch.loaded};
  const nb::object compiled = nb::borrow(target.compiled), kernel = nb::borrow(target.kernel);
  if (!setBestConfig(launcher.tuner, state, entry->config.ptr()))
    return FastPath::Failed;
  const TunedFrame frame(launcher.calls, call);
  return launchTarget(target, launcher.grid, call, result);
}

//--- Remembering -------------------------------------------------------------------------------

/// The kernel that a launch of the function takes with the arguments of the call and `more`, a dict; null where none is
/// known.
static const LaunchEntry *findLaunch(JitState &function, const LaunchCall &call, PyObject *more) {
  const Py_ssize_t given = call.keywords ? PyTuple_GET_SIZE(call.keywords) : 0;
  std::vector<PyObject *> values(call.args, call.args + call.count + given);
  nb::object all = nb::steal(PyTuple_New(given + PyDict_GET_SIZE(more)));
  if (!all.is_valid())
    return nullptr;
  for (Py_ssize_t i = 0; i < given; ++i)
    PyTuple_SET_ITEM(all.ptr(), i, Py_NewRef(PyTuple_GET_ITEM(call.keywords, i)));
  PyObject *name = nullptr, *value = nullptr;
  Py_ssize_t next = given;
  for (Py_ssize_t at = 0; PyDict_Next(more, &at, &name, &value);) {
    PyTuple_SET_ITEM(all.ptr(), next++, Py_NewRef(name));
    values.push_back(value);
  }
  LaunchCall full(values.data(), call.count, all.ptr());
  full.parameters = call.parameters;
  return bindCall(full) ? function.currentLaunches().find(full.key.text()) : nullptr;
}

/// Sets what the configuration gives each parameter; false where it sets one that is no constant.
static bool readTaken(TunedEntry &entry, const LaunchCall &call) {
  entry.taken.assign(call.list().size(), nullptr);
  for (size_t i = 0; i < call.list().size(); ++i) {
    entry.taken[i] = PyDict_GetItemWithError(entry.values.ptr(), call.list()[i].name);
    if (entry.taken[i] && !call.list()[i].isConstexpr)
      return false;
  }
  return true;
}

/// The objects that a key names by their addresses.
static std::vector<PyObject *> objectsIn(const LaunchCall &call) {
  std::vector<PyObject *> objects = call.key.identities();
  for (size_t i = 0; i < call.list().size(); ++i)
    if (call.bound[i])
      objects.push_back(reinterpret_cast<PyObject *>(Py_TYPE(call.bound[i])));
  return objects;
}

/// Stores what the launch that has gone through Python has chosen. `chosen` is (key, configuration, its arguments,
/// these with its options, whether it has no hook), or None.
static void rememberTuned(const TunedLauncherObject &launcher, JitState &function, const LaunchCall &call,
                          nb::handle chosen, uint64_t epoch) {
  if (!PyTuple_Check(chosen.ptr()) || PyTuple_GET_SIZE(chosen.ptr()) != 5 ||
      epoch != launchEpoch.load(std::memory_order_acquire) || function.parameters != call.parameters)
    return;
  const auto part = [&](Py_ssize_t at) { return nb::borrow(PyTuple_GET_ITEM(chosen.ptr(), at)); };
  const nb::object kwargs = part(2), all = part(3);
  if (!PyDict_CheckExact(kwargs.ptr()) || !PyDict_CheckExact(all.ptr()))
    return;
  // An entry without a kernel: such launches go through Python.
  const LaunchEntry *known = part(4).is(nb::bool_(true)) ? findLaunch(function, call, all.ptr()) : nullptr;
  TunedEntry entry{part(0),
                   part(1),
                   kwargs,
                   all,
                   {},
                   known ? LaunchEntry(known->compiled, known->kernel, known->loaded, objectsIn(call))
                         : LaunchEntry(Py_None, Py_None, nullptr, objectsIn(call))};
  if (!readTaken(entry, call))
    entry.launch.loaded = nullptr;
  currentTable(stateOfCalls(launcher.calls), function)->insert(call.key.text(), std::move(entry));
}

static FastPath launchKnown(const TunedLauncherObject &launcher, const TunerView &view, LaunchCall &call,
                            PyObject *&result) {
  JitState *function = jitStateOf(view.fn.ptr());
  FastPath outcome = FastPath::Failed;
  NEREID_BEGIN_STATE(launcher.calls);
  NEREID_BEGIN_STATE(view.fn.ptr());
  if (function->readParameters(view.fn.ptr())) {
    call.parameters = function->parameters;
    outcome = launchTuned(launcher, view, *function, call, result);
  }
  NEREID_END_STATE();
  NEREID_END_STATE();
  return outcome;
}

/// Asks the tuner what the launch has chosen, and stores it.
static void learn(const TunedLauncherObject &launcher, const TunerView &view, const LaunchCall &call, uint64_t epoch) {
  const nb::object chosen =
      nb::steal(callThroughPython(launcher.tuner, tunerNames().chosen, call.args, call.count, call.keywords, {}));
  if (chosen.is_valid()) {
    NEREID_BEGIN_STATE(launcher.calls);
    NEREID_BEGIN_STATE(view.fn.ptr());
    rememberTuned(launcher, *jitStateOf(view.fn.ptr()), call, chosen, epoch);
    NEREID_END_STATE();
    NEREID_END_STATE();
  }
  PyErr_Clear(); // the launch itself has succeeded
}

PyObject *callTuned(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  const auto &launcher = *reinterpret_cast<TunedLauncherObject *>(self);
  LaunchCall call(args, static_cast<size_t>(PyVectorcall_NARGS(flags)), keywords);
  const uint64_t epoch = launchEpoch.load(std::memory_order_acquire);
  PyObject *result = nullptr;
  TunerView view;
  FastPath outcome = FastPath::Fallback;
  if (readTuner(launcher.tuner, view))
    outcome = launchKnown(launcher, view, call, result);
  else if (PyErr_Occurred())
    outcome = FastPath::Failed;
  if (outcome == FastPath::Ok || outcome == FastPath::Failed)
    return result;
  result = callThroughPython(launcher.tuner, tunerNames().run, args, call.count, keywords,
                             {{tunerNames().grid, launcher.grid}, {tunerNames().warmup, Py_False}});
  if (result && outcome == FastPath::Miss)
    learn(launcher, view, call, epoch);
  return result;
}

//--- The class of autotuners ---------------------------------------------------------------------

/// Launches leave out these methods of the class as long as they are what they are now.
void setTunerClass(nb::handle object) {
  auto *type = reinterpret_cast<PyTypeObject *>(object.inc_ref().ptr());
  auto known = std::make_unique<TunerClass>(TunerClass{type, {}});
  for (PyObject *name : {tunerNames().run, tunerNames().keyOf, tunerNames().configFor})
    known->methods.push_back({name, Py_XNewRef(_PyType_Lookup(type, name))});
  tunerClass.store(known.release(), std::memory_order_release); // never freed
}

} // namespace nereid::python
