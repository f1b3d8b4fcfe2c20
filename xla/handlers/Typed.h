// Shared by the typed handlers: reading a call frame, answering metadata queries, reporting failures.
// SPDX-License-Identifier: MIT
#pragma once

#include "xla/CallCache.h"
#include "xla/handlers/FfiAbi.h"

namespace nereid::xla::ffi {

/// Answers XLA's metadata query: with null, or with a failure where this XLA is too new. Nullopt where the frame is a
/// run.
std::optional<Failure *> answerMetadata(Frame &frame, uint32_t traits);

/// Null for success.
Failure *report(const Frame &frame, const Error &error);

/// Runs the payload of the frame on that device.
Expected<void> runFrame(const Frame &frame, runtime::Device &device, void *stream);

} // namespace nereid::xla::ffi
