// From a module of `tt` (or `ttg`) ops to code for an NVIDIA GPU: the target's one entry.
// SPDX-License-Identifier: MIT
//
// The code has one kernel of that name in the ABI `plain`: the parameters in order at their natural alignment, then a
// pointer to global scratch memory and one to profiling's; 32 * numWarps threads a block along x; `sharedBytes` of
// dynamic shared memory.
#pragma once

#include "compiler/lowering/Kernel.h"
#include "compiler/support/Options.h"
#include "compiler/support/TargetSpec.h"
#include "compiler/target/nvidia/Assemble.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::nvidia {

/// A stage that the user has written in place of the one that is made.
struct WrittenStage {
  std::string stage; ///< "llir" or "ptx"; of others the module is the user's own already
  std::string text;
  std::string path;
};

/// Which texts to keep besides the binary; those before `stopAfter` are made in any case.
struct Emit {
  bool plan = false; ///< layouts, turns of loops, the map of shared memory
  bool ttgir = false;
  bool llir = false;
  bool ptx = false;
  bool cubin = true;
  std::string stopAfter; ///< "ttgir", "llir", "ptx" or "cubin"; the last where empty
  WrittenStage written;  ///< empty: none
};

struct CudaCode {
  std::string plan;
  std::string ttgir;
  std::string llir; ///< LLVM IR, optimised
  std::string ptx;
  bool isReproducible = true; ///< false: `ptx` is not what the same module gives without assembling
  std::string cubin; ///< empty where the tool is "driver": the PTX, which is kept then, is the binary
  std::string tool;
  std::string toolVersion;
  std::vector<lowering::Param> params; ///< the scratch pointers excluded
  uint32_t sharedBytes = 0;
  uint32_t registers = 0;
  uint32_t spills = 0; ///< bytes stored by spills
  uint32_t stackBytes = 0;
  uint32_t numWarps = 0;
  uint32_t threadsPerBlock = 0;
  uint32_t promisedBlocks = 0; ///< resident on a multiprocessor; 0: the assembler chooses registers
  uint64_t globalScratchBytes = 0;
  uint32_t globalScratchAlign = 1;
};

/// Adds the passes that give descriptors to the copy engine, where the target has one and its PTX may make maps.
/// `wherePossible`: not only where it pays. `hostMaps`: those of the host come as maps.
void addDescriptorPasses(mlir::OpPassManager &passes, const support::TargetSpec &target, const support::Options &options,
                         bool wherePossible, bool hostMaps);

/// Compiles the module's one public function. A failure is a diagnostic at the op's location, or at the line that the
/// PTX refused by a tool was made for. The module becomes `ttg`.
mlir::FailureOr<CudaCode> compile(mlir::ModuleOp module, const support::Options &options,
                                  const support::TargetSpec &target, const Tools &tools, const Emit &emit);

} // namespace nereid::nvidia
