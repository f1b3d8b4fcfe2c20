// A compilation request from Python, in the compiler's terms.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "compiler/driver/Compiler.h"
#include "compiler/sema/Sema.h"
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

/// One compilation with everything that must outlive it. Made and destroyed with the GIL held.
struct Compilation {
  explicit Compilation(const KernelDescription &description);

  PyHost host;
  sema::KernelRequest request;
  std::vector<artifact::Parameter> parameters; ///< the run-time ones
  std::string signature;                       ///< as the command line spells it
  std::string sourceKey; ///< of the function, its callees, the arguments' classes and the Python values that sema reads
};

/// The tools that the caller found for compiling PTX to machine code; empty where there are none.
struct NativeTools {
  std::string ptxas;
  std::string nvJitLink;
  uint32_t secondsLimit = 0; ///< for one run of either; 0: no limit
  std::string key;           ///< identifies the tools: other tools may produce other code
};

support::Options optionsOf(nb::dict options);
/// The file of `ir_override`; its last suffix is the stage. Raises a Python exception where it cannot be read.
std::optional<driver::Request::Replacement> replacementOf(const support::Options &options);
NativeTools toolsOf(nb::dict options);
/// `takesAny`: a target that this compiler does not know gives a spec with its names.
support::TargetSpec targetOf(nb::handle target, bool takesAny = false);
/// A boolean entry of the options.
bool flagOf(nb::dict options, const char *name, bool otherwise);

} // namespace nereid::python
