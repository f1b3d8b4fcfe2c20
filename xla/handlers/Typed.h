// What the typed handlers share: reading a call frame, answering questions, reporting failures.
// SPDX-License-Identifier: MIT
#pragma once

#include "xla/CallCache.h"
#include "xla/handlers/FfiAbi.h"

namespace nereid::xla::ffi {

/// Answers XLA's question what the handler is: with null, or with a failure where this XLA is too new. Nothing where
/// the frame asks for a run.
std::optional<Failure *> answerMetadata(Frame &frame, uint32_t traits);

/// Null for success.
Failure *report(const Frame &frame, const Error &error);

/// Runs the payload of the frame on that device.
Expected<void> runFrame(const Frame &frame, runtime::Device &device, void *stream);

} // namespace nereid::xla::ffi
