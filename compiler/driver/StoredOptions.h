// The options of a compilation as a kernel's metadata: written by name, and read to derive a stage again.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "compiler/support/Options.h"

namespace nereid::driver {

/// Writes the options that Options.def has stored to `artifact.options`.
void storeOptions(artifact::Artifact &artifact, const support::Options &options);

/// The options that the artifact was compiled with, as far as they matter after TTIR.
support::Options storedOptions(const artifact::Artifact &artifact);

} // namespace nereid::driver
