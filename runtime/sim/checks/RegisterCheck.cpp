// Registers of wgmma: a fence after other instructions have written them, a wait before they are used.
// SPDX-License-Identifier: MIT
#include "runtime/sim/checks/Checks.h"
#include "runtime/sim/ptx/Ptx.h"

#include <unordered_map>

using namespace nereid::sim;

namespace {
class RegisterCheck final : public Observer {
public:
  explicit RegisterCheck(const Cluster &cluster) : numSlots(cluster.code->fileBytes / kSlotUnit + 1) {}

  void onSync(Warp &warp, const SyncEvent &event) override;
  void onIssue(Warp &warp, const Instruction &instruction) override;

private:
  /// Results of a wgmma that is not waited for.
  struct Product {
    uint32_t group;
    const Instruction *instruction;
  };
  struct Registers {
    uint32_t committed = 0;
    std::unordered_map<uint32_t, Product> pending; ///< by slot
    /// Since the last wgmma.fence, by slot over its unit; null: not.
    std::vector<const Instruction *> written, read;
    bool hasFenced = false;
  };
  void atProduct(Warp &warp, Registers &registers, const Instruction &instruction);
  void atUse(Warp &warp, const Registers &registers, const Instruction &instruction, uint32_t slot);

  const size_t numSlots;
  std::unordered_map<const Warp *, Registers> warps;
  const Instruction *product = nullptr; ///< the wgmma that is being issued
};
} // namespace

static std::vector<Note> noteOf(const Instruction *instruction, const char *text) {
  return {{instruction, std::string(text) + " (line " + std::to_string(instruction->line) + " of the PTX)"}};
}

void RegisterCheck::onSync(Warp &warp, const SyncEvent &event) {
  if (event.kind == SyncKind::RegisterFence) {
    Registers &fenced = warps[&warp];
    fenced.written.assign(numSlots, nullptr);
    fenced.read.assign(numSlots, nullptr);
    fenced.hasFenced = true;
    return;
  }
  if (event.async != AsyncKind::Wgmma)
    return;
  Registers &registers = warps[&warp];
  if (event.kind == SyncKind::AsyncIssue)
    atProduct(warp, registers, *event.instruction);
  else if (event.kind == SyncKind::AsyncCommit)
    ++registers.committed;
  else if (event.kind == SyncKind::AsyncWait)
    std::erase_if(registers.pending,
                  [&](const auto &each) { return each.second.group + event.count < registers.committed; });
}

/// The list has the results and the words of the left matrix. A fence is needed before the first wgmma, too (PTX ISA,
/// wgmma.fence).
void RegisterCheck::atProduct(Warp &warp, Registers &registers, const Instruction &instruction) {
  product = &instruction;
  const auto lacksFence = [&](const Instruction *other, const char *how, const char *note) {
    fail(warp, instruction, "sanitize-sync",
         std::string("wgmma uses a register that was ") + how + " without a `wgmma.fence` after it", -1,
         noteOf(other, note));
  };
  if (!registers.written.empty())
    for (uint32_t slot : instruction.list)
      if (const Instruction *writer = registers.written[slot / kSlotUnit])
        return lacksFence(writer, "written", "written here");
  if (!registers.hasFenced)
    return void(
        fail(warp, instruction, "sanitize-sync", "the first wgmma of a warp without a `wgmma.fence` before it"));
  for (uint32_t slot : operandsOf(warp, instruction).destinations) {
    if (const Instruction *reader = registers.read[slot / kSlotUnit])
      return lacksFence(reader, "read", "read here");
    registers.pending[slot] = {registers.committed, &instruction};
  }
}

void RegisterCheck::atUse(Warp &warp, const Registers &registers, const Instruction &instruction, uint32_t slot) {
  if (auto found = registers.pending.find(slot); found != registers.pending.end())
    fail(warp, instruction, "sanitize-sync",
         "a register is used that a wgmma may still write: a "
         "`wgmma.wait_group` is missing",
         -1, noteOf(found->second.instruction, "written by this wgmma"));
}

void RegisterCheck::onIssue(Warp &warp, const Instruction &instruction) {
  if (&instruction == product) {
    product = nullptr;
    return;
  }
  if (!warp.mask)
    return;
  Registers &registers = warps[&warp];
  const OperandSlots &operands = operandsOf(warp, instruction);
  if (!registers.pending.empty()) {
    for (uint32_t slot : operands.sources)
      atUse(warp, registers, instruction, slot);
    for (uint32_t slot : operands.destinations)
      atUse(warp, registers, instruction, slot);
  }
  registers.written.resize(numSlots);
  registers.read.resize(numSlots);
  for (uint32_t slot : operands.sources)
    registers.read[slot / kSlotUnit] = &instruction;
  for (uint32_t slot : operands.destinations)
    registers.written[slot / kSlotUnit] = &instruction;
}

std::shared_ptr<Observer> nereid::sim::makeRegisterCheck(Cluster &cluster) {
  for (const std::string &line : cluster.code->text->lines)
    if (line.find("wgmma.mma_async") != std::string::npos)
      return std::make_shared<RegisterCheck>(cluster);
  return nullptr;
}
