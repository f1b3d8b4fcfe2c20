// Whether Python wants long work to end: a signal has come whose handler raises, as Ctrl-C does.
// SPDX-License-Identifier: MIT
#pragma once

namespace nereid::python {

/// A question for work that runs without the GIL: true once a signal's handler has raised an exception, which then
/// is set. Null on threads other than the main one, where Python runs no handlers.
bool (*signalCheck())();

/// Lets launches on the CPU ask.
void watchSignalsInLaunches();

} // namespace nereid::python
