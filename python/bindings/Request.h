// A compilation request from Python, in the compiler's terms.
// SPDX-License-Identifier: MIT
#pragma once

#include "jit/Session.h"
#include "python/bindings/PyHost.h"

namespace nereid::python {

/// The arguments of `compile` and `make_ir` that describe a kernel.
struct KernelDescription {
  nb::handle function;
  nb::dict signature;  ///< name -> text of the type
  nb::dict constants;  ///< path -> value
  nb::dict attributes; ///< path -> list of [name, number]
  nb::handle target;   ///< has backend, arch
  nb::dict options;
  std::string name = {};       ///< of the symbol; the function's own where empty
  bool takesAnyTarget = false; ///< also one whose compiler is another package's
};

/// One compilation with its host. Created and destroyed with the GIL held.
struct Compilation {
  explicit Compilation(const KernelDescription &description);
  Compilation(const Compilation &) = delete;
  Compilation &operator=(const Compilation &) = delete;

  PyHost host;
  jit::Job job;
};

support::Options optionsOf(nb::dict options);
/// The file of `ir_override`. Raises a Python exception where it cannot be read.
std::optional<driver::Request::Replacement> replacementOf(const support::Options &options);
/// Sets the tools that the caller found for compiling PTX to machine code.
void readTools(jit::Job &job, nb::dict options);
/// `takesAny`: a target that this compiler does not know gives a spec with its names.
support::TargetSpec targetOf(nb::handle target, bool takesAny = false);
/// A boolean entry of the options.
bool flagOf(nb::dict options, const char *name, bool otherwise);

} // namespace nereid::python
