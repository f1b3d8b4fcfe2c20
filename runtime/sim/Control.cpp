// Branches, the end of threads, and instructions that only hint.
// SPDX-License-Identifier: MIT
#include "runtime/sim/Decode.h"
#include "runtime/sim/Report.h"

using namespace nereid::sim;

static Step jump(Warp &warp, const Instruction &instruction) {
  return branch(warp, warp.mask, uint32_t(instruction.immediate));
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

std::span<const OpcodeEntry> nereid::sim::controlOpcodes() {
  static const OpcodeEntry entries[] = {
      {"bra", decodeBranch},         {"ret", decodeReturn},
      {"exit", decodeExit},          {"trap", decodeTrap},
      {"brkpt", decodeNothing},      {"nanosleep", decodeSleep},
      {"fence", decodeNothing},      {"membar", decodeNothing},
      {"setmaxnreg", decodeNothing}, {"griddepcontrol", decodeNothing},
      {"prefetch", decodeNothing},   {"prefetchu", decodeNothing},
      {"discard", decodeNothing},    {"applypriority", decodeNothing},
      {"pmevent", decodeNothing},
  };
  return entries;
}
