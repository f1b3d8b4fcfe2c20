// `tuner[grid](...)` for an autotuner of a kernel: from the arguments of the call to the chosen configuration, and to
// the kernel that earlier launches took with it.
// SPDX-License-Identifier: MIT
//
// What is known under a key is a key of `tuner.cache` and the configuration found there. The dict is asked again at
// each launch, so that a program may change it. Everything else goes through `Autotuner.run`: choices, hooks of
// configurations, and kernels below other decorators.
#include "python/bindings/LaunchCall.h"

#include <atomic>
#include <cstddef>
#include <structmember.h>

namespace nereid::python {

namespace {
/// What launches with one key have chosen. The objects are owned.
struct TunedEntry {
  nb::object cacheKey;           ///< in `tuner.cache`; None where there is one configuration only
  nb::object config, kwargs;     ///< the configuration, and its dict of arguments
  nb::object values;             ///< owner of `taken`
  std::vector<PyObject *> taken; ///< by parameter: the configuration's value, or null
  LaunchEntry launch;
};
using TunedTable = jit::LaunchTable<TunedEntry>;

struct TunedState {
  uint64_t epoch = 0;
  std::shared_ptr<const LaunchParameters> parameters; ///< of the function; others when it forgets its launches
  std::unique_ptr<TunedTable> table;
  std::vector<size_t> keyIndices; ///< the parameters in the tuner's key
  nb::object keys;                ///< the list that they were read from
  uint64_t lastThread = 0;        ///< the thread that has set `best_config` last, and to what
  nb::object lastConfig;
};

struct TunedCallsObject {
  PyObject_HEAD TunedState *state;
};

struct TunedLauncherObject {
  PyObject_HEAD vectorcallfunc call;
  PyObject *tuner, *calls, *grid;
};

/// A native launch in progress: `tuner.nargs` during the calls of its grid function.
struct TunedFrame {
  TunedFrame(PyObject *calls, const LaunchCall &call);
  ~TunedFrame();
  PyObject *const calls;
  const LaunchCall &call;
  nb::object assigned; ///< what a program has set `nargs` to meanwhile
  TunedFrame *const outer;
};

/// The class Autotuner and the methods of it that a launch may leave out.
struct TunerClass {
  PyTypeObject *type;
  std::vector<std::pair<PyObject *, PyObject *>> methods; ///< names and functions
};

struct TunerNames {
  PyObject *run, *keyOf, *configFor, *fn, *cache, *configs, *keys, *bestConfig, *chosen, *argNames, *grid, *warmup;
};
} // namespace

static thread_local TunedFrame *innermost = nullptr;
static std::atomic<const TunerClass *> tunerClass{nullptr};
static PyTypeObject *tunedCallsType = nullptr; // owned by the module

TunedFrame::TunedFrame(PyObject *calls, const LaunchCall &call) : calls(calls), call(call), outer(innermost) {
  innermost = this;
}
TunedFrame::~TunedFrame() { innermost = outer; }

static const TunerNames &names() {
  const auto intern = PyUnicode_InternFromString;
  static const TunerNames known{intern("run"),     intern("_key_of"),   intern("_config_for"), intern("fn"),
                                intern("cache"),   intern("configs"),   intern("keys"),        intern("best_config"),
                                intern("_chosen"), intern("arg_names"), intern("grid"),        intern("warmup")};
  return known;
}

static TunedState &stateOfCalls(PyObject *calls) { return *reinterpret_cast<TunedCallsObject *>(calls)->state; }

//--- What the tuner is now ---------------------------------------------------------------------

/// The attributes of a tuner that a launch needs, borrowed from its dict.
namespace {
struct TunerView {
  nb::object attributes;
  PyObject *fn = nullptr, *cache = nullptr, *configs = nullptr, *keys = nullptr;

  bool hasOneConfig() const { return PyList_GET_SIZE(configs) == 1; }
};
} // namespace

static PyObject *itemOf(const nb::object &dict, PyObject *name) { return PyDict_GetItemWithError(dict.ptr(), name); }

/// False for a tuner of another class or with other methods, and where an attribute is of another type.
static bool readTuner(PyObject *tuner, TunerView &view) {
  const TunerClass *known = tunerClass.load(std::memory_order_acquire);
  if (!known || Py_TYPE(tuner) != known->type)
    return false;
  for (const auto &[name, function] : known->methods)
    if (_PyType_Lookup(known->type, name) != function)
      return false;
  view.attributes = nb::steal(PyObject_GenericGetDict(tuner, nullptr));
  if (!view.attributes.is_valid() || itemOf(view.attributes, names().run))
    return false;
  view.fn = itemOf(view.attributes, names().fn);
  view.cache = itemOf(view.attributes, names().cache);
  view.configs = itemOf(view.attributes, names().configs);
  view.keys = itemOf(view.attributes, names().keys);
  return view.fn && view.cache && view.configs && view.keys && jitStateOf(view.fn) && PyDict_CheckExact(view.cache) &&
         PyList_CheckExact(view.configs);
}

/// Whether the tuner would choose the entry's configuration now, and it is what it was.
static bool isChosen(const TunedEntry &entry, const TunerView &view, const LaunchCall &call) {
  PyObject *chosen = nullptr;
  if (view.hasOneConfig() && entry.cacheKey.is_none())
    chosen = PyList_GET_ITEM(view.configs, 0);
  else if (!view.hasOneConfig() && !entry.cacheKey.is_none())
    chosen = PyDict_GetItemWithError(view.cache, entry.cacheKey.ptr());
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
static TunedTable &currentTable(TunedState &state, const JitState &function) {
  const uint64_t now = launchEpoch.load(std::memory_order_acquire);
  if (!state.table || state.epoch != now || state.parameters != function.parameters ||
      state.table->size() >= maxLaunchKeys) {
    state.table = std::make_unique<TunedTable>();
    state.epoch = now;
    state.parameters = function.parameters;
    state.keys = {};
  }
  return *state.table;
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
  if (PyObject_SetAttr(tuner, names().bestConfig, config) != 0)
    return false;
  state.lastThread = thread;
  state.lastConfig = nb::borrow(config);
  return true;
}

static FastPath launchTuned(const TunedLauncherObject &launcher, const TunerView &view, JitState &function,
                            LaunchCall &call, PyObject *&result) {
  TunedState &state = stateOfCalls(launcher.calls);
  if (goesThroughPython(view.fn, function))
    return FastPath::Fallback;
  const TunedTable &table = currentTable(state, function);
  if (!readKeys(state, view.keys, call) || !bindOpen(call, state))
    return PyErr_Occurred() ? FastPath::Failed : FastPath::Fallback;
  const TunedEntry *entry = table.find(call.key.text());
  if (!entry)
    return FastPath::Miss;
  if (!isChosen(*entry, view, call)) {
    const auto outdated = std::move(state.table); // its destruction may run Python code
    return PyErr_Occurred() ? FastPath::Failed : FastPath::Miss;
  }
  if (!entry->launch.loaded || !close(call, *entry))
    return FastPath::Fallback;
  const nb::object values = entry->values; // the entry may be dropped while Python code runs
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
  currentTable(stateOfCalls(launcher.calls), function).insert(call.key.text(), std::move(entry));
}

static nb::object chosenFor(const TunedLauncherObject &launcher, const LaunchCall &call) {
  return nb::steal(callThroughPython(launcher.tuner, names().chosen, call.args, call.count, call.keywords, {}));
}

static PyObject *callTuned(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  const auto &launcher = *reinterpret_cast<TunedLauncherObject *>(self);
  LaunchCall call(args, static_cast<size_t>(PyVectorcall_NARGS(flags)), keywords);
  const uint64_t epoch = launchEpoch.load(std::memory_order_acquire);
  PyObject *result = nullptr;
  TunerView view;
  FastPath outcome = FastPath::Fallback;
  const bool isPlain = readTuner(launcher.tuner, view);
  JitState *function = isPlain ? jitStateOf(view.fn) : nullptr;
  if (!isPlain && PyErr_Occurred())
    return nullptr;
  const nb::object keptFunction = isPlain ? nb::borrow(view.fn) : nb::object();
  if (isPlain) {
    NEREID_BEGIN_STATE(launcher.calls);
    if (!function->readParameters(view.fn)) {
      outcome = FastPath::Failed;
    } else {
      call.parameters = function->parameters;
      outcome = launchTuned(launcher, view, *function, call, result);
    }
    NEREID_END_STATE();
  }
  if (outcome == FastPath::Ok || outcome == FastPath::Failed)
    return result;
  result = callThroughPython(launcher.tuner, names().run, args, call.count, keywords,
                             {{names().grid, launcher.grid}, {names().warmup, Py_False}});
  if (!result || outcome != FastPath::Miss)
    return result;
  if (const nb::object chosen = chosenFor(launcher, call); chosen.is_valid()) {
    NEREID_BEGIN_STATE(launcher.calls);
    rememberTuned(launcher, *function, call, chosen, epoch);
    NEREID_END_STATE();
  }
  PyErr_Clear(); // the launch itself has succeeded
  return result;
}

//--- TunedCalls: the state ---------------------------------------------------------------------

static PyObject *newTunedCalls(PyTypeObject *type, PyObject *, PyObject *) {
  PyObject *self = type->tp_alloc(type, 0);
  if (self)
    reinterpret_cast<TunedCallsObject *>(self)->state = new TunedState;
  return self;
}

static int traverseTunedCalls(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  const TunedState *state = reinterpret_cast<TunedCallsObject *>(self)->state;
  if (!state)
    return 0;
  Py_VISIT(state->keys.ptr());
  Py_VISIT(state->lastConfig.ptr());
  int stopped = 0;
  const auto visitEntry = [&](const TunedEntry &entry) -> int {
    for (const nb::object *object : {&entry.cacheKey, &entry.config, &entry.kwargs, &entry.values})
      Py_VISIT(object->ptr());
    Py_VISIT(entry.launch.compiled);
    Py_VISIT(entry.launch.kernel);
    for (PyObject *object : entry.launch.identities)
      Py_VISIT(object);
    return 0;
  };
  if (state->table)
    state->table->forEach([&](std::string_view, const TunedEntry &entry) {
      if (!stopped)
        stopped = visitEntry(entry);
    });
  return stopped;
}

static int clearTunedCalls(PyObject *self) {
  if (TunedState *state = reinterpret_cast<TunedCallsObject *>(self)->state) {
    const auto table = std::move(state->table); // its destruction may run Python code
    const nb::object keys = std::move(state->keys), config = std::move(state->lastConfig);
  }
  return 0;
}

static void destroyTunedCalls(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  delete std::exchange(reinterpret_cast<TunedCallsObject *>(self)->state, nullptr);
  type->tp_free(self);
  Py_DECREF(type);
}

/// The frame of this thread's innermost launch, if it is one of these calls.
static TunedFrame *frameOf(PyObject *self) { return innermost && innermost->calls == self ? innermost : nullptr; }

/// `nargs(tuner, otherwise)`
static PyObject *nargs(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  if (count != 2)
    return PyErr_SetString(PyExc_TypeError, "nargs takes a tuner and a value"), nullptr;
  const TunedFrame *frame = frameOf(self);
  if (!frame)
    return Py_NewRef(args[1]);
  if (frame->assigned.is_valid())
    return Py_NewRef(frame->assigned.ptr());
  const nb::object argNames = nb::steal(PyObject_GetAttr(args[0], names().argNames));
  const nb::object list = argNames.is_valid() ? nb::steal(PySequence_List(argNames.ptr())) : nb::object();
  PyObject *dict = list.is_valid() ? PyDict_New() : nullptr;
  for (Py_ssize_t i = 0; dict && i < PyList_GET_SIZE(list.ptr()) && static_cast<size_t>(i) < frame->call.count; ++i)
    if (PyDict_SetItem(dict, PyList_GET_ITEM(list.ptr(), i), frame->call.args[i]) != 0)
      Py_CLEAR(dict);
  return dict;
}

static PyObject *setNargs(PyObject *self, PyObject *value) {
  TunedFrame *frame = frameOf(self);
  if (frame)
    frame->assigned = nb::borrow(value);
  return PyBool_FromLong(frame != nullptr);
}

static PyObject *forgetBest(PyObject *self, PyObject *) {
  stateOfCalls(self).lastThread = 0;
  Py_RETURN_NONE;
}

static PyObject *reduceTunedCalls(PyObject *self, PyObject *) {
  return Py_BuildValue("O()", Py_TYPE(self)); // a copy knows nothing
}

static PyMethodDef tunedCallsMethods[] = {
    {"nargs", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(nargs)), METH_FASTCALL,
     "The positional arguments, by name, of the launch that this thread is in; outside of one the second argument."},
    {"set_nargs", setNargs, METH_O, "Replaces what `nargs` gives in the launch; False outside of one."},
    {"forget_best", forgetBest, METH_NOARGS, "The next launch sets `best_config`."},
    {"__reduce__", reduceTunedCalls, METH_NOARGS, nullptr},
    {},
};
static PyType_Slot tunedCallsSlots[] = {
    {Py_tp_doc, const_cast<char *>("What launches of one autotuner have chosen so far.")},
    {Py_tp_new, reinterpret_cast<void *>(newTunedCalls)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroyTunedCalls)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseTunedCalls)},
    {Py_tp_clear, reinterpret_cast<void *>(clearTunedCalls)},
    {Py_tp_methods, tunedCallsMethods},
    {},
};
static PyType_Spec tunedCallsSpec = {"triton._C.libtriton.TunedCalls", sizeof(TunedCallsObject), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, tunedCallsSlots};

//--- TunedLauncher -----------------------------------------------------------------------------

static PyObject *createTunedLauncher(PyObject *type, PyObject *const *args, size_t flags, PyObject *keywords) {
  if (PyVectorcall_NARGS(flags) != 3 || keywords || Py_TYPE(args[1]) != tunedCallsType)
    return PyErr_SetString(PyExc_TypeError, "TunedLauncher takes an autotuner, its TunedCalls and a grid"), nullptr;
  auto *self = PyObject_GC_New(TunedLauncherObject, reinterpret_cast<PyTypeObject *>(type));
  if (!self)
    return nullptr;
  self->call = callTuned;
  self->tuner = Py_NewRef(args[0]);
  self->calls = Py_NewRef(args[1]);
  self->grid = Py_NewRef(args[2]);
  PyObject_GC_Track(self);
  return reinterpret_cast<PyObject *>(self);
}

static PyObject *newTunedLauncher(PyTypeObject *type, PyObject *args, PyObject *) {
  return createTunedLauncher(reinterpret_cast<PyObject *>(type), reinterpret_cast<PyTupleObject *>(args)->ob_item,
                             PyTuple_GET_SIZE(args), nullptr);
}

static int traverseTunedLauncher(PyObject *self, visitproc visit, void *arg) {
  auto *launcher = reinterpret_cast<TunedLauncherObject *>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(launcher->tuner);
  Py_VISIT(launcher->calls);
  Py_VISIT(launcher->grid);
  return 0;
}

static void destroyTunedLauncher(PyObject *self) {
  auto *launcher = reinterpret_cast<TunedLauncherObject *>(self);
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF(launcher->tuner);
  Py_DECREF(launcher->calls);
  Py_DECREF(launcher->grid);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static PyMemberDef tunedLauncherMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(TunedLauncherObject, call), READONLY, nullptr},
    {"fn", T_OBJECT, offsetof(TunedLauncherObject, tuner), READONLY, "The autotuner."},
    {"grid", T_OBJECT, offsetof(TunedLauncherObject, grid), READONLY, "The grid as given."},
    {},
};
static PyType_Slot tunedLauncherSlots[] = {
    {Py_tp_doc, const_cast<char *>("`tuner[grid]`: call it with the kernel's arguments.")},
    {Py_tp_new, reinterpret_cast<void *>(newTunedLauncher)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_dealloc, reinterpret_cast<void *>(destroyTunedLauncher)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverseTunedLauncher)},
    {Py_tp_members, tunedLauncherMembers},
    {},
};
static PyType_Spec tunedLauncherSpec = {"triton._C.libtriton.TunedLauncher", sizeof(TunedLauncherObject), 0,
                                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                                        tunedLauncherSlots};

/// Launches leave out these methods of the class as long as they are what they are now.
static void setTunerClass(nb::handle object) {
  auto *type = reinterpret_cast<PyTypeObject *>(object.inc_ref().ptr());
  auto known = std::make_unique<TunerClass>(TunerClass{type, {}});
  for (PyObject *name : {names().run, names().keyOf, names().configFor})
    known->methods.push_back({name, Py_XNewRef(_PyType_Lookup(type, name))});
  tunerClass.store(known.release(), std::memory_order_release); // never freed
}

void bindTunedLaunch(nb::module_ &module) {
  nb::object calls = checked(PyType_FromSpec(&tunedCallsSpec));
  tunedCallsType = reinterpret_cast<PyTypeObject *>(calls.ptr());
  module.attr("TunedCalls") = calls;
  calls.release(); // never freed: tunedCallsType points to it
  nb::object launcher = checked(PyType_FromSpec(&tunedLauncherSpec));
  reinterpret_cast<PyTypeObject *>(launcher.ptr())->tp_vectorcall = createTunedLauncher;
  module.attr("TunedLauncher") = launcher;
  module.def("set_tuner_class", &setTunerClass, nb::arg("type"),
             "The class Autotuner, of whose launches the native ones may leave out the methods in Python.");
}

} // namespace nereid::python
