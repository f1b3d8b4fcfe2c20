// The shadow of memory and registers: which of their values somebody has written.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Observer.h"

#include <map>

namespace nereid::sim {

/// Where an undefined value comes from.
struct Undefined {
  const Instruction *instruction = nullptr; ///< reads it first
  std::string text;
};

/// Registers of one warp.
struct ShadowRegisters {
  std::vector<uint32_t> undefined; ///< lanes, by slot
  std::vector<bool> constant;      ///< by slot
  std::vector<uint32_t> origins;   ///< by slot: an index into the origins of the check, 0: none yet
  std::vector<uint8_t> local;      ///< of the local memory: the bytes that are defined
};

/// Reports uses of values that nobody has written: in addresses, predicates, and what goes to global memory or to the
/// tensor cores from shared memory.
class UninitCheck final : public Observer {
public:
  explicit UninitCheck(Cluster &cluster) : cluster(cluster) {}
  bool onAccess(Warp &warp, const MemoryAccess &access) override;
  void onIssue(Warp &warp, const Instruction &instruction) override;
  void onWaveProduct(Wave &wave, const Instruction &instruction, const WaveProduct &product) override;

private:
  ShadowRegisters &shadowOf(const Warp &warp);
  /// Bytes of the shadow of a lane's memory; null for memory that counts as written.
  uint8_t *shadowOf(Warp &warp, const MemoryAccess &access, unsigned lane);
  uint32_t addOrigin(const Instruction &instruction, std::string text);
  /// False after a report. `use` ends a sentence: "its value is used as an address".
  bool checkUse(Warp &warp, const Instruction &instruction, uint32_t slot, uint32_t lanes, const char *use);
  void load(Warp &warp, const MemoryAccess &access);
  void loadMatrices(Warp &warp, const MemoryAccess &access);
  void store(Warp &warp, const MemoryAccess &access);
  bool readWhole(Warp &warp, const MemoryAccess &access, const char *how);
  void set(ShadowRegisters &shadow, uint32_t slot, uint32_t lanes, uint32_t undefined, uint32_t origin);
  void flow(Warp &warp, const Instruction &instruction, ShadowRegisters &shadow);
  void multiply(const Instruction &instruction, ShadowRegisters &shadow);

  Cluster &cluster;
  std::map<const Warp *, ShadowRegisters> registers;
  std::map<const Cta *, std::vector<uint8_t>> shared;
  std::vector<Undefined> origins{1};
  bool hasFailed = false;
};

} // namespace nereid::sim
