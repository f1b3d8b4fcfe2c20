// Text for the simulated GPU from the LLVM IR of an AMD kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/AmdGpus.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <string>

namespace nereid::sim {

/// A feature that the simulated GPU lacks, and its line in the kernel's source; 0 where that is not known.
struct Unsupported : llvm::ErrorInfo<Unsupported> {
  Unsupported(std::string what, unsigned line, unsigned column) : what(std::move(what)), line(line), column(column) {}
  void log(llvm::raw_ostream &stream) const override { stream << "the simulated GPU does not know " << what; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  std::string what;
  unsigned line, column;
  static char ID;
};

/// PTX with instructions `amd.*` for what only AMD's GPUs have (runtime/sim/amd/Instructions.h). The module is one
/// after the optimisation passes, its kernels have the calling convention `amdgpu_kernel`; it is not changed. An
/// intrinsic or assembly that is not known is the error `Unsupported`.
llvm::Expected<std::string> emitPtx(const llvm::Module &module, const artifact::AmdArch &arch);

} // namespace nereid::sim
