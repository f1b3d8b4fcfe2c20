// Which device and which stream a launch goes to where nobody says so: those that torch works with.
// SPDX-License-Identifier: MIT
//
// torch is asked only where the program has imported it already. Without it the device is the one of the thread's
// CUDA context and the stream is the default one.
#pragma once

#include "python/bindings/Python.h"

#include <cstdint>

namespace nereid::python {

/// As in DLPack's exchange table: 0 and a stream, or a Python exception.
using StreamQuery = int (*)(int32_t deviceType, int32_t deviceId, void **stream);

/// The stream that work on GPU `ordinal` goes to now. Leaves no Python exception behind.
void *currentStream(int32_t ordinal);

/// The GPU that work goes to now.
int32_t currentDevice();

/// A stream given by a user: an address, torch's Stream (`cuda_stream`), cupy's (`ptr`) or None, which is the default
/// stream. False where it is none of these.
bool readStream(PyObject *object, void *&stream);

/// The number by which the array protocols call the default stream, too.
inline bool isDefaultStream(uint64_t stream) { return stream <= 1; }

} // namespace nereid::python
