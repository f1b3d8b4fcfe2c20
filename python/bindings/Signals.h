// Tests whether Python must interrupt long work: a signal has arrived whose handler raises, as Ctrl-C does.
// SPDX-License-Identifier: MIT
#pragma once

namespace nereid::python {

/// A callback for work that runs without the GIL: true once a signal's handler has raised an exception, which then is
/// set. Null on threads other than the main one, where Python runs no handlers.
bool (*signalCheck())();

/// Installs the check for launches on the CPU.
void watchSignalsInLaunches();

} // namespace nereid::python
