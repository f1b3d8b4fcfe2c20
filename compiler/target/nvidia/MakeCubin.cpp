// The last phase: machine code from PTX, without spills where fewer resident blocks avoid them.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/CudaTarget.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/target/nvidia/Diagnostics.h"
#include "compiler/target/nvidia/Occupancy.h"
#include "compiler/target/nvidia/PtxLines.h"

#include <chrono>

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

/// Whether the assembler spills although it leaves registers for a second block: where there is no promise at all it gives
/// large kernels 32 registers at times. Users' own limits stay.
static bool spillsForCompany(const Assembled &made, const CudaKernel &kernel) {
  return made.spillBytes > 0 && !StringRef(kernel.ptx).contains(".maxnreg") &&
         residentBlocks(kernel.arch, {made.registers, kernel.threadsPerBlock(), /*sharedBytes=*/0}) > 1 &&
         made.registers < mostRegisters;
}

/// A promise of occupancy that the assembler can only keep with spills gives way to the largest one without; where there
/// is none, to the one that leaves a thread all registers.
static std::optional<Assembled> assembleWithoutSpills(CudaKernel &kernel, AssemblyError &error) {
  const StringRef options = kernel.options.ptxOptions;
  const auto promising = [&](uint32_t blocks) {
    return assemble(withResidentBlocks(kernel.ptx, blocks), kernel.arch, kernel.tools, options, error);
  };
  const auto keep = [&](uint32_t blocks) {
    kernel.residentBlocks = blocks;
    kernel.ptx = withResidentBlocks(kernel.ptx, blocks);
    kernel.isPtxReproducible = false;
  };
  std::optional<Assembled> best = assemble(kernel.ptx, kernel.arch, kernel.tools, options, error);
  if (!best && !error.isLate && kernel.residentBlocks > 0) {
    keep(0); // some instructions need more registers than a promise may leave
    return promising(0);
  }
  if (best && kernel.residentBlocks == 0 && options.empty() && spillsForCompany(*best, kernel)) {
    std::optional<Assembled> alone = promising(1);
    if (!alone || alone->spillBytes >= best->spillBytes)
      return best;
    keep(1);
    return alone;
  }
  uint32_t enough = residentBlocks(kernel.arch, {mostRegisters, kernel.threadsPerBlock(), kernel.shared.bytes});
  if (!best || best->spillBytes == 0 || enough >= kernel.residentBlocks)
    return best;
  std::optional<Assembled> roomy = promising(enough);
  if (!roomy || roomy->spillBytes >= best->spillBytes)
    return best;
  best = std::move(roomy);
  for (uint32_t tooMany = kernel.residentBlocks; best->spillBytes == 0 && tooMany - enough > 1;) {
    const uint32_t blocks = enough + (tooMany - enough) / 2;
    std::optional<Assembled> made = promising(blocks);
    if (made && made->spillBytes == 0) {
      best = std::move(made);
      enough = blocks;
    } else {
      tooMany = blocks;
    }
  }
  keep(enough);
  return best;
}

/// A remark says so where machine code took longer.
static constexpr std::chrono::seconds kSlowAssembly{15};

LogicalResult nvidia::makeCubin(CudaKernel &kernel) {
  tt::FuncOp function = kernel.function;
  const auto began = std::chrono::steady_clock::now();
  AssemblyError error;
  std::optional<Assembled> made = assembleWithoutSpills(kernel, error);
  if (!made && !error.isRefusal)
    return function.emitError() << error.message;
  if (!made && error.isLate)
    return tt::report(function.getLoc(), diag::AssemblerTimeout, function.getSymName(), kernel.tools.secondsLimit);
  if (!made)
    return tt::report(locationOfLine(kernel.ptx, error.line, function.getLoc()), diag::AssemblerRefused, error.message);
  if (const auto took = std::chrono::steady_clock::now() - began; took > kSlowAssembly)
    tt::report(function.getLoc(), diag::SlowAssembly, std::chrono::round<std::chrono::seconds>(took).count(),
               function.getSymName(), made->registers, made->spillBytes);
  if (!made->waits.empty())
    function.emitRemark() << "the assembler lets products by warp groups wait for each other: " << made->waits;
  kernel.assembled = std::move(*made);
  return success();
}
