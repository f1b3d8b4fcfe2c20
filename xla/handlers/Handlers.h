// The interface of libtriton_xla.so: handlers of custom calls that run Triton kernels.
// SPDX-License-Identifier: MIT
//
// Typed handlers read the payload from the attribute `opaque`. One binary serves every XLA whose interface is of a
// version from 0.1 to 0.5: jaxlib 0.10 to 0.12, PyTorch/XLA 2.8 and 2.9.
#pragma once

#include <cstddef>

#define NEREID_XLA_API extern "C" __attribute__((visibility("default")))

/// Typed handlers (XLA_FFI_Handler): of the CPU, of NVIDIA's GPUs, and of GPUs for payloads whose kernels must be timed
/// first, which a graph cannot record.
NEREID_XLA_API void *nereid_xla_cpu(void *frame);
NEREID_XLA_API void *nereid_xla_cuda(void *frame);
NEREID_XLA_API void *nereid_xla_cuda_autotuned(void *frame);

/// The untyped handler of GPUs, version 2 (API_VERSION_STATUS_RETURNING): `buffers` are the operands, then the
/// results. `status` is XLA's own; the function that sets it is found in the process.
NEREID_XLA_API void nereid_xla_cuda_untyped(void *stream, void **buffers, const char *opaque, size_t size,
                                            void *status);

/// Registers a typed handler through XLA's own table of functions (XLA_FFI_Api), for programs that have no other way.
/// Returns null, or an error text that is valid until the thread's next call.
NEREID_XLA_API const char *nereid_xla_register(const void *api, const char *name, const char *platform,
                                               void *(*handler)(void *frame));

/// Finds a function of a module of this process that the module does not export, by its name in the symbol table of the
/// module's file. Null where it is not found; `problem` then points to the reason, valid until the thread's next call.
NEREID_XLA_API void *nereid_xla_find_function(const char *path, const char *name, const char **problem);
