// Assembles PTX to a cubin, without spills where a lower occupancy avoids them.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/CudaTarget.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/asm/AssemblyLines.h"
#include "compiler/target/nvidia/Diagnostics.h"
#include "compiler/target/nvidia/arch/Occupancy.h"

#include <chrono>

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

/// Whether ptxas spills although it leaves registers for a second CTA: without an occupancy hint it sometimes gives
/// large kernels 32 registers. Users' own limits are kept.
static bool spillsForOccupancy(const Assembled &assembled, const CudaKernel &kernel) {
  return assembled.spillBytes > 0 && !StringRef(kernel.ptx).contains(".maxnreg") &&
         residentCtas(kernel.arch, {assembled.registers, kernel.threadsPerBlock(), /*sharedBytes=*/0}).count() > 1 &&
         assembled.registers < maxThreadRegisters;
}

/// Some 50,000 instructions: ptxas then takes more than 10 s with all optimisations.
static constexpr size_t kLongPtxBytes = 3 << 19;

/// Whether ptxas would take long: kernels of long code, or of values that take a multiple of a thread's registers.
static bool isLong(const CudaKernel &kernel) { return kernel.isExcessive || kernel.ptx.size() > kLongPtxBytes; }
static constexpr llvm::StringLiteral kFastAssembly = "-O1";

/// Where ptxas can meet a .minnctapersm hint only with spills, finds the largest one without; where there is none, the
/// one that leaves a thread all registers, or for a kernel that runs once, no hint.
static std::optional<Assembled> assembleWithoutSpills(CudaKernel &kernel, AssemblyError &error) {
  const bool isFast =
      isLong(kernel) && kernel.options.ptxOptions.empty() && kernel.arch.hasToolchain && !kernel.tools.ptxas.empty();
  const StringRef options = isFast ? StringRef(kFastAssembly) : StringRef(kernel.options.ptxOptions);
  const auto assembleText = [&](StringRef ptx, uint32_t blocks) {
    const auto first = kernel.runsOnce && blocks == 0 ? FirstTool::Ptxas : FirstTool::NvJitLink;
    std::optional<Assembled> assembled = assemble(ptx, kernel.arch, kernel.tools, options, error, first);
    if (assembled || !isFast || error.isRefusal || error.isLate)
      return assembled;
    return assemble(ptx, kernel.arch, kernel.tools, /*options=*/"", error, first); // no tool has such options
  };
  const auto assembleWith = [&](uint32_t blocks) { return assembleText(withMinCtasPerSm(kernel.ptx, blocks), blocks); };
  const auto keep = [&](uint32_t blocks) {
    kernel.residentCtas = blocks;
    kernel.ptx = withMinCtasPerSm(kernel.ptx, blocks);
    kernel.isPtxReproducible = false;
  };
  std::optional<Assembled> best = assembleText(kernel.ptx, kernel.residentCtas);
  if (kernel.isSpecialized())
    return best;
  if (!best && !error.isLate && kernel.residentCtas > 0) {
    keep(0); // some instructions need more registers than the hint leaves
    return assembleWith(0);
  }
  if (isLong(kernel)) // one run is long enough; values in excess spill at any occupancy
    return best;
  if (best && kernel.residentCtas == 0 && options.empty() && spillsForOccupancy(*best, kernel)) {
    std::optional<Assembled> alone = assembleWith(1);
    if (!alone || alone->spillBytes >= best->spillBytes)
      return best;
    keep(1);
    return alone;
  }
  if (best && best->spillBytes > 0 && kernel.safeCtas > 0 && kernel.safeCtas < kernel.residentCtas) {
    keep(kernel.safeCtas);
    best = assembleWith(kernel.safeCtas);
  }
  const auto residentWith = [&](uint32_t registers) {
    return residentCtas(kernel.arch, {registers, kernel.threadsPerBlock(), kernel.shared.bytes}).count();
  };
  uint32_t enough = residentWith(maxThreadRegisters);
  if (!best || best->spillBytes == 0 || enough >= kernel.residentCtas)
    return best;
  uint32_t relaxedHint = kernel.runsOnce ? 0 : enough;
  std::optional<Assembled> relaxed = assembleWith(relaxedHint);
  if (!relaxed || relaxed->spillBytes >= best->spillBytes)
    return best;
  best = std::move(relaxed);
  if (kernel.runsOnce)
    enough = std::max(enough, residentWith(best->registers));
  for (uint32_t tooMany = kernel.residentCtas; best->spillBytes == 0 && tooMany - enough > 1;) {
    const uint32_t blocks = enough + (tooMany - enough) / 2;
    std::optional<Assembled> assembled = assembleWith(blocks);
    if (assembled && assembled->spillBytes == 0) {
      best = std::move(assembled);
      enough = relaxedHint = blocks;
    } else {
      tooMany = blocks;
    }
  }
  keep(relaxedHint);
  return best;
}

/// Assembly that takes longer is reported by a remark.
static constexpr std::chrono::seconds kSlowAssembly{15};

LogicalResult nvidia::makeCubin(CudaKernel &kernel) {
  tt::FuncOp function = kernel.function;
  const auto began = std::chrono::steady_clock::now();
  AssemblyError error;
  std::optional<Assembled> assembled = assembleWithoutSpills(kernel, error);
  if (!assembled && !error.isRefusal)
    return tt::report(function.getLoc(), diag::AssemblerMissing, kernel.options.ptxOptions, kernel.arch.cpu);
  if (!assembled && error.isLate)
    return tt::report(function.getLoc(), diag::AssemblerTimeout, function.getSymName(), kernel.tools.secondsLimit);
  if (!assembled && !kernel.replacedBy.empty())
    return tt::report(function.getLoc(), diag::OverrideRefused, kernel.replacedBy, lowering::atLine(error.line),
                      error.message);
  if (!assembled)
    return tt::report(lowering::locationOfLine(kernel.ptx, error.line, function.getLoc()), diag::AssemblerRefused,
                      error.message);
  if (const auto took = std::chrono::steady_clock::now() - began; took > kSlowAssembly)
    tt::report(function.getLoc(), diag::SlowAssembly, std::chrono::round<std::chrono::seconds>(took).count(),
               function.getSymName(), assembled->registers, assembled->spillBytes);
  if (!assembled->serialisationNote.empty())
    tt::report(function.getLoc(), diag::WgmmaSerialised, assembled->serialisationNote);
  kernel.assembled = std::move(*assembled);
  return success();
}
