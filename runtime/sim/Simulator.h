// Runs PTX on the CPU: parses and decodes a module, then executes the grids of its kernels.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/counters/Counters.h"
#include "runtime/sim/ptx/Launch.h"

#include <string_view>

namespace nereid::sim {

/// Parsed and decoded PTX; immutable, so that any number of launches may share it.
class Module;

/// Code `sim-ptx`: the text is no PTX, or has an instruction that the simulator does not know; the message names the
/// line.
Expected<std::shared_ptr<const Module>> parse(std::string_view ptx);

std::vector<Entry> entriesOf(const Module &module);

/// Whether it has variables in global or constant memory.
bool hasVariables(const Module &module);

/// The set of artifact::Sanitizer of a comma list of words; nothing where one of them is unknown.
std::optional<uint32_t> checksOf(std::string_view words);

/// Runs every CTA of the grid. Codes: `sim-launch` (no such entry, a block or memory that no GPU has), `sim-fault` (an
/// access to no memory, misuse of an instruction), `sim-trap`, `sim-assert`, `sim-deadlock`, `sim-limit`,
/// `launch-interrupted`. A message names the line of the PTX.
Expected<Counters> run(const Module &module, const Launch &launch);

struct Request {
  const Module &module;
  const Launch &launch;
};
struct Outcome {
  std::vector<Counters> counters; ///< of each request; empty after an error
  std::optional<Error> error;
  size_t failed = 0; ///< the request with the error
};
/// Runs grids on several simulated GPUs at the same time, those of one GPU in order. All addresses are the host's, so
/// each GPU can access what the others do.
Outcome runTogether(std::span<const Request> requests);

} // namespace nereid::sim
