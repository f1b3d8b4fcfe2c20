// Computes how many registers a block may take and writes the promise into PTX.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/RegisterSlack.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::nvidia;

static constexpr uint32_t registerFile = 65536; // of one multiprocessor, in 32-bit registers
static constexpr uint32_t registerGranule = 8;  // of a thread
static constexpr uint32_t mostRegisters = 255;  // of a thread
static constexpr uint32_t reservedShared = 1024; // of a block, for the system
/// Below so many registers occupancy is high enough to hide latency, and with fewer gained nothing changes.
static constexpr uint32_t fewRegisters = 48, leastGain = 8;

uint32_t nvidia::residentBlocks(const Arch &arch, const BlockFootprint &block) {
  const uint32_t registers = std::max<uint32_t>(llvm::alignTo(block.registers, registerGranule), registerGranule);
  const uint32_t byRegisters = registerFile / (registers * block.threads);
  const uint32_t byThreads = arch.residentThreads / block.threads;
  const uint32_t byShared = (arch.maxSharedBytes + reservedShared) / (block.sharedBytes + reservedShared);
  return std::min({byRegisters, byThreads, byShared});
}

uint32_t nvidia::blocksWithSlack(const Arch &arch, const BlockFootprint &block) {
  if (block.registers < fewRegisters)
    return 0;
  const uint32_t blocks = residentBlocks(arch, block);
  if (blocks == 0)
    return 0;
  const uint32_t share = llvm::alignDown(registerFile / (blocks * block.threads), registerGranule);
  return std::min(share, mostRegisters) >= block.registers + leastGain ? blocks : 0;
}

std::string nvidia::withResidentBlocks(const std::string &ptx, uint32_t blocks) {
  const size_t at = ptx.find("\n.reqntid ");
  if (at == std::string::npos || ptx.find("\n.maxnreg ") != std::string::npos)
    return ptx;
  std::string text = ptx;
  return text.insert(at, "\n.minnctapersm " + std::to_string(blocks));
}
