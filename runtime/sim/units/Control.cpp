// Branches, the end of threads, and instructions that only hint.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Report.h"
#include "runtime/sim/units/Opcodes.h"

using namespace nereid::sim;

static Step jump(Warp &warp, const Instruction &instruction) {
  return branch(warp, warp.mask, uint32_t(instruction.immediate));
}
/// slots: index. `list` has the index of the label.
static Step jumpIf(Warp &warp, const Instruction &instruction) {
  const auto *index = warp.at<uint32_t>(instruction.slots[0]);
  uint32_t taken = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    taken |= uint32_t{warp.isActive(lane) && index[lane] == instruction.list[0]} << lane;
  return taken ? branch(warp, taken, uint32_t(instruction.immediate)) : Step::Next;
}
static Step leave(Warp &warp, const Instruction &) { return exitLanes(warp, warp.mask); }
static Step trap(Warp &warp, const Instruction &instruction) {
  return fail(warp, instruction, "sim-trap", "the kernel stops itself", std::countr_zero(warp.mask));
}
static Step nothing(Warp &, const Instruction &) { return Step::Next; }
static Step yieldTurn(Warp &, const Instruction &) { return Step::Yield; }

static void decodeBranch(Decoder &decoder) {
  decoder.take("uni");
  decoder.emitJump(decoder.emit(&jump), decoder.operand(0).name);
}
/// One conditional jump for each target.
static void decodeIndexedBranch(Decoder &decoder) {
  decoder.take("idx"), decoder.take("uni");
  const Statement *targets = decoder.findBranchTargets(decoder.operand(1).name);
  if (!targets)
    return decoder.fail("there is no list of targets `" + decoder.operand(1).name + "`");
  const uint32_t slot = decoder.source(decoder.operand(0), 4);
  for (uint32_t index = 0; index + 1 < targets->operands.size(); ++index) {
    Instruction &jump = decoder.emit(&jumpIf);
    jump.slots[0] = slot;
    jump.list = {index};
    decoder.emitJump(jump, targets->operands[index + 1].name);
  }
}
static void decodeReturn(Decoder &decoder) {
  decoder.take("uni");
  if (const std::string label = decoder.returnLabel(); !label.empty())
    decoder.emitJump(decoder.emit(&jump), label);
  else
    decoder.emit(&leave);
}
static void decodeExit(Decoder &decoder) { decoder.emit(&leave); }
static void decodeTrap(Decoder &decoder) { decoder.emit(&trap); }
static void decodeSleep(Decoder &decoder) {
  decoder.take("u32");
  decoder.emit(&yieldTurn);
}
/// Fences order accesses that are in order here; the others are hints.
static void decodeNothing(Decoder &decoder) {
  decoder.dropAll();
  decoder.emit(&nothing);
}

void nereid::sim::addControlOpcodes(OpcodeTable &table) {
  table.add("bra", decodeBranch, Kind::Control);
  table.add("brx", decodeIndexedBranch, Kind::Control);
  table.add("ret", decodeReturn, Kind::Control);
  table.add("exit", decodeExit, Kind::Control);
  table.add("trap", decodeTrap);
  table.add("brkpt setmaxnreg griddepcontrol prefetch prefetchu discard applypriority pmevent", decodeNothing);
  table.add("nanosleep", decodeSleep);
}
