// Polls Python for signals from threads that have released the GIL.
// SPDX-License-Identifier: MIT
#include "python/bindings/Signals.h"

#include "python/bindings/Python.h"
#include "runtime/cpu/CpuDevice.h"

#include <sys/syscall.h>
#include <unistd.h>

using namespace nereid;

static bool isMainThread() { return syscall(SYS_gettid) == getpid(); }

/// Runs the handlers of pending signals.
static bool hasRaised() {
  const python::GilAcquire acquire;
  return PyErr_CheckSignals() != 0;
}

bool (*python::signalCheck())() { return isMainThread() ? hasRaised : nullptr; }

void python::watchSignalsInLaunches() {
  runtime::setCpuStopCheck([] { return isMainThread() && hasRaised(); });
}
