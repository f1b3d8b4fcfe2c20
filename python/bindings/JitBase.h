// The native part of a JITFunction: its parameters, and the kernels that its launches have chosen so far.
// SPDX-License-Identifier: MIT
#pragma once

#include "jit/LaunchTable.h"
#include "python/bindings/Kernel.h"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace nereid::python {

/// A parameter as far as launching needs it; what it refers to is owned by LaunchParameters.
struct LaunchParameter {
  PyObject *name; ///< interned
  bool isConstexpr;
  PyObject *defaultValue; ///< null where there is none
};

/// All of a function. A call holds them while it binds its arguments: what it asks of those may run Python code
/// that makes the function forget them.
struct LaunchParameters {
  LaunchParameters() = default;
  LaunchParameters(const LaunchParameters &) = delete;
  LaunchParameters &operator=(const LaunchParameters &) = delete;
  ~LaunchParameters();
  std::vector<LaunchParameter> list;
};

/// What one launch key leads to.
class LaunchEntry {
public:
  /// Takes its own references. `identities` are the objects whose addresses are in the key.
  LaunchEntry(PyObject *compiled, PyObject *kernel, LoadedKernel *loaded, const std::vector<PyObject *> &identities);
  LaunchEntry(LaunchEntry &&other) noexcept;
  ~LaunchEntry();

  PyObject *compiled; ///< what the launch returns
  PyObject *kernel;   ///< the object that owns `loaded`
  LoadedKernel *loaded;
  std::vector<PyObject *> identities;
};
using Launches = jit::LaunchTable<LaunchEntry>;

/// Beyond this many keys a table is emptied: something in the key never repeats.
inline constexpr size_t maxLaunchKeys = 1 << 14;

struct JitState {
  ~JitState();
  std::shared_ptr<const LaunchParameters> parameters; ///< null while unknown
  bool takesRest = false;                             ///< has a `*args`, which Python binds
  bool slow = false;
  PyObject *watch = nullptr; ///< tuple of (dict, name, value), or null
  uint64_t epoch = 0;
  std::unique_ptr<Launches> launches;

  /// Reads `params` once; false with a Python exception.
  bool readParameters(PyObject *function);
  /// The table of this epoch.
  Launches &currentLaunches();
  /// Whether every watched global still is what it was.
  bool watchHolds() const;
};

struct JitBaseObject {
  PyObject_HEAD JitState *state;
};

/// The state of a JITFunction; null for any other object.
JitState *jitStateOf(PyObject *object);

// Holds a function's state for one thread where Python has no lock of its own; nothing where it has.
#if defined(Py_GIL_DISABLED)
#define NEREID_BEGIN_STATE(object) Py_BEGIN_CRITICAL_SECTION(object)
#define NEREID_END_STATE() Py_END_CRITICAL_SECTION()
#else
#define NEREID_BEGIN_STATE(object) {
#define NEREID_END_STATE() }
#endif

/// Every launch goes through Python while this is set (launch hooks, always_compile).
extern std::atomic<bool> slowLaunch;
/// Where the user has an allocator: called with (bytes, alignment) for each block of a kernel's scratch, the same of a
/// profile's, the number of blocks and the stream, it gives (address, address, what keeps them). Else null. Guarded by
/// the GIL.
extern PyObject *scratchProvider;
/// A table of an older epoch is dropped when it is next looked at.
extern std::atomic<uint64_t> launchEpoch;

PyTypeObject *makeLauncherType(nb::module_ &module);

} // namespace nereid::python
