// The native part of a JITFunction: its parameters, and the kernels that its launches have chosen so far.
// SPDX-License-Identifier: MIT
#pragma once

#include "jit/LaunchTable.h"
#include "python/bindings/Kernel.h"

#include "llvm/ADT/IntrusiveRefCntPtr.h"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace nereid::python {

/// The properties of a parameter that launching needs; its objects are owned by LaunchParameters.
struct LaunchParameter {
  PyObject *name; ///< interned
  bool isConstexpr;
  PyObject *defaultValue; ///< null where there is none
};

#if defined(Py_GIL_DISABLED)
template <typename T> using RefCounted = llvm::ThreadSafeRefCountedBase<T>;
#else
template <typename T> using RefCounted = llvm::RefCountedBase<T>;
#endif

/// All parameters of a function. A call shares them while it binds its arguments: binding may run Python code that
/// makes the function drop them.
struct LaunchParameters : RefCounted<LaunchParameters> {
  LaunchParameters() = default;
  LaunchParameters(const LaunchParameters &) = delete;
  LaunchParameters &operator=(const LaunchParameters &) = delete;
  ~LaunchParameters();
  std::vector<LaunchParameter> list;
};
using SharedParameters = llvm::IntrusiveRefCntPtr<const LaunchParameters>;

/// The kernel for one launch key.
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

/// A table with more keys is cleared: something in the key never repeats.
inline constexpr size_t maxLaunchKeys = 1 << 14;

struct JitState {
  ~JitState();
  SharedParameters parameters; ///< null while unknown
  bool takesRest = false;      ///< has a `*args`, which Python binds
  bool slow = false;
  PyObject *watch = nullptr; ///< tuple of (dict, name, value), or null
  uint64_t epoch = 0;
  std::unique_ptr<Launches> launches;

  /// Reads `params` once; false with a Python exception.
  bool readParameters(PyObject *function);
  /// The launch table of the current epoch.
  Launches &currentLaunches();
  /// Whether every watched global still has its value.
  bool watchHolds() const;
};

struct JitBaseObject {
  PyObject_HEAD JitState *state;
};

/// The state of a JITFunction; null for any other object.
JitState *jitStateOf(PyObject *object);

// Locks a function's state for one thread in free-threaded Python; empty where the GIL protects it.
#if defined(Py_GIL_DISABLED)
#define NEREID_BEGIN_STATE(object) Py_BEGIN_CRITICAL_SECTION(object)
#define NEREID_END_STATE() Py_END_CRITICAL_SECTION()
#else
#define NEREID_BEGIN_STATE(object) {
#define NEREID_END_STATE() }
#endif

/// While this is set, every launch goes through Python (launch hooks, always_compile).
extern std::atomic<bool> slowLaunch;
/// Whether the sizes of host arrays' storages are in launch keys, as those of AMD's GPUs always are: the arrays of a
/// simulated one are the host's.
extern std::atomic<bool> keysStorageOfHost;
/// The user's allocator, or null: called with (bytes, alignment) of each CTA's scratch, the same of its profile
/// scratch, the number of CTAs and the stream; returns (address, address, owner of both).
extern std::atomic<PyObject *> scratchProvider;
/// The provider with a reference of its own, which another thread may not drop.
nb::object currentScratchProvider();
/// A table of an older epoch is dropped at its next use.
extern std::atomic<uint64_t> launchEpoch;

PyTypeObject *makeLauncherType(nb::module_ &module);
/// `function[grid]`: a Launcher.
PyObject *makeLauncher(PyObject *function, PyObject *grid);

} // namespace nereid::python
