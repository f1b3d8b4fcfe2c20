// The launcher that ahead-of-time packages contain next to a kernel's shared object.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "compiler/support/TargetSpec.h"

#include <optional>
#include <string>

namespace nereid::cpu {

/// A shared object with
///   extern "C" void run_from_nativert(uint32_t gx, uint32_t gy, uint32_t gz, int threads, void **args, void *kernel);
/// as AOTInductor calls it: `args` has one slot for each parameter of the
/// source, constants included (null); a pointer is passed by value, an integer
/// as `int64_t *`, a bool as `bool *`, a float of any width as `float *`.
/// Nullopt where the object cannot be made.
std::optional<std::string> compileAotLauncher(const artifact::Artifact &artifact, const support::TargetSpec &target);

} // namespace nereid::cpu
