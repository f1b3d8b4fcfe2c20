// Computes occupancy and writes the hint .minnctapersm into PTX.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/arch/Occupancy.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::nvidia;

/// Addresses, indices and partial results beside the tiles.
static constexpr uint32_t otherRegisters = 16;
/// What ptxas needs beside the values of straight-line code.
static constexpr uint32_t unnamedRegisters = 6;
/// Bytes of loads in flight that saturate memory, per multiprocessor: about twice latency times bandwidth of an H100
/// over its 132 multiprocessors, since not all CTAs load at the same time.
static constexpr uint32_t bytesInFlightPerSm = 64 * 1024;
/// One CTA computes while another waits at a barrier.
static constexpr uint32_t minResidentCtas = 2;
/// Warps that hide the latency of arithmetic. With 16 instead, a tanh of 64 elements per thread took 1.2 times as long
/// on an H100, with 8, 1.5 times.
static constexpr uint32_t busyWarps = 24;
static constexpr uint32_t threadsPerWarp = 32;

/// The least of them that straight loops over a row need.
static constexpr uint32_t fewOtherRegisters = 8;

/// The CTAs whose loads saturate memory.
static uint32_t busyCtas(const KernelResources &resources) {
  return llvm::divideCeil(bytesInFlightPerSm, resources.loadedBytes * resources.threads);
}

static uint32_t chooseSafely(const Arch &arch, const KernelResources &resources) {
  const uint32_t registers = resources.tileRegisters + otherRegisters;
  if (registers > maxThreadRegisters)
    return 0;
  const uint32_t fitting = residentCtas(arch, {registers, resources.threads, resources.sharedBytes}).count();
  if (resources.runsOnce)
    return fitting * resources.threads < busyWarps * threadsPerWarp ? 0 : fitting;
  if (resources.loadedBytes == 0)
    return fitting;
  return std::min(fitting, std::max(busyCtas(resources), minResidentCtas));
}

/// Chooses for a kernel with loops: more CTAs than fit safely where its loads are far from saturating memory with
/// those. Where they nearly do, registers for loads in flight are worth more than CTAs.
static uint32_t chooseForLoop(const Arch &arch, const KernelResources &resources, uint32_t safe) {
  if (resources.loadedBytes == 0 || busyCtas(resources) < 2 * safe)
    return safe;
  const uint32_t registers = resources.tileRegisters + fewOtherRegisters;
  const uint32_t fitting = residentCtas(arch, {registers, resources.threads, resources.sharedBytes}).count();
  return std::max(safe, std::min(fitting, busyCtas(resources)));
}

/// Chooses for a kernel without loops: a hint for all threads that a multiprocessor can hold, or none. With any other
/// ptxas takes the registers that it leaves, which are more than it takes without a hint, and starts loads later.
static MinCtasPerSm chooseForStraightCode(const Arch &arch, const KernelResources &resources, uint32_t safe) {
  const uint32_t registers = resources.valueRegisters + unnamedRegisters;
  const bool isKnown = safe > 0 && resources.valueRegisters > 0;
  const uint32_t fitting =
      isKnown ? residentCtas(arch, {registers, resources.threads, resources.sharedBytes}).count() : uint32_t(0);
  const uint32_t full = arch.residentThreads / resources.threads;
  return {.tight = std::max(safe, fitting) == full ? full : 0, .safe = safe == full ? full : 0};
}

MinCtasPerSm nvidia::chooseMinCtasPerSm(const Arch &arch, const KernelResources &resources) {
  const uint32_t safe = chooseSafely(arch, resources);
  if (resources.runsOnce)
    return chooseForStraightCode(arch, resources, safe);
  return {.tight = safe > 0 ? chooseForLoop(arch, resources, safe) : 0, .safe = safe};
}

std::string nvidia::withMinCtasPerSm(const std::string &ptx, uint32_t blocks) {
  static constexpr char directive[] = "\n.minnctapersm ";
  std::string text = ptx;
  if (const size_t old = text.find(directive); old != std::string::npos)
    text.erase(old, text.find('\n', old + 1) - old);
  const size_t at = text.find("\n.reqntid ");
  if (blocks == 0 || at == std::string::npos || text.find("\n.maxnreg ") != std::string::npos)
    return text;
  return text.insert(at, directive + std::to_string(blocks));
}
