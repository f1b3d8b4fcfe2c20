// The default device and stream of a launch: those that torch currently uses.
// SPDX-License-Identifier: MIT
//
// torch is queried only if the program has imported it already, and for GPUs that it is built for. Without it the
// device is the one of the thread's CUDA context and the stream is the default one.
#pragma once

#include "python/bindings/Python.h"

#include <cstdint>

namespace nereid::python {

enum class DeviceKind : uint8_t { Unknown, Cpu, Cuda, Rocm, Other };

/// As in DLPack's exchange table: 0 and a stream, or a Python exception.
using StreamQuery = int (*)(int32_t deviceType, int32_t deviceId, void **stream);

/// The stream that work on GPU `ordinal` of that kind currently goes to. Leaves no Python exception set.
void *currentStream(DeviceKind kind, int32_t ordinal);

/// The GPU of that kind that work currently goes to.
int32_t currentDevice(DeviceKind kind);

/// The kind of GPU that libraries in this process call "cuda": builds of torch for ROCm use the name for AMD's. Torch
/// decides where it is built for one kind, else the active driver, else which library of a driver is there.
DeviceKind kindOfCuda();

/// Tells the kind of the active driver's devices.
void setActiveKind(DeviceKind kind);

/// A stream given by a user: an address, torch's Stream (`cuda_stream`), cupy's (`ptr`) or None, which is the default
/// stream. False where it is none of these.
bool readStream(PyObject *object, void *&stream);

/// Whether the array protocols' stream number means the default stream.
inline bool isDefaultStream(uint64_t stream) { return stream <= 1; }

} // namespace nereid::python
