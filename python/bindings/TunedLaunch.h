// The launches of autotuned kernels: what is known of their choices, and the objects that Python holds.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/LaunchCall.h"

namespace nereid::python {

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
  SharedParameters parameters;       ///< of the function; others when it forgets its launches
  std::shared_ptr<TunedTable> table; ///< a launch has its own share: it may run code that drops the table
  std::vector<size_t> keyIndices;    ///< the parameters in the tuner's key
  nb::object keys;                   ///< the list that they were read from
  uint64_t lastThread = 0;           ///< the thread that has set `best_config` last, and to what
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

/// Names of attributes, interned.
struct TunerNames {
  PyObject *run, *keyOf, *configFor, *fn, *cache, *configs, *keys, *bestConfig, *chosen, *argNames, *grid, *warmup;
};
const TunerNames &tunerNames();

/// The class Autotuner: launches leave out methods of it as long as they are what they are now.
void setTunerClass(nb::handle object);

/// The native launch of this thread that is the innermost one; null outside of launches.
TunedFrame *innermostFrame();

/// A call of a TunedLauncher.
PyObject *callTuned(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords);

} // namespace nereid::python
