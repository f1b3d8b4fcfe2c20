// Liveness of the virtual registers of PTX: sweeps from the last statement to the first until no label changes.
// SPDX-License-Identifier: MIT
#include "runtime/sim/ptx/Liveness.h"

#include <algorithm>

using namespace nereid::sim;

namespace {
/// A set of registers and the 32-bit words that they have.
class LiveSet {
public:
  explicit LiveSet(const std::vector<uint8_t> &words) : wordsOf(&words), members(words.size()) {}

  void insert(uint32_t number) {
    count += members[number] ? 0 : (*wordsOf)[number];
    members[number] = 1;
  }
  void erase(uint32_t number) {
    count -= members[number] ? (*wordsOf)[number] : 0;
    members[number] = 0;
  }
  /// Whether a member is new.
  bool insertAll(const LiveSet &other) {
    bool hasNew = false;
    for (uint32_t number = 0; number < members.size(); ++number)
      if (other.members[number] && !members[number]) {
        insert(number);
        hasNew = true;
      }
    return hasNew;
  }
  uint32_t words() const { return count; }

private:
  const std::vector<uint8_t> *wordsOf;
  std::vector<uint8_t> members;
  uint32_t count = 0;
};

class Liveness {
public:
  explicit Liveness(const Body &body) : body(body) {}
  uint32_t run();

private:
  void declare();
  /// Calls `f(number)` for each register of an operand.
  template <typename F> void registers(const Operand &operand, F f) const;
  void step(const Statement &statement, LiveSet &live);
  /// Whether a label has new registers.
  bool sweep();

  const Body &body;
  std::map<std::string, uint32_t, std::less<>> numbers;
  std::vector<uint8_t> words; ///< of 32 bits, by register
  std::map<std::string, LiveSet, std::less<>> atLabels;
  uint32_t most = 0;
};
} // namespace

void Liveness::declare() {
  const auto add = [this](const std::string &name, const std::string &type) {
    numbers[name] = uint32_t(words.size());
    words.push_back(uint8_t((bytesOfType(type) + 3) / 4));
  };
  for (const auto &[index, ranges] : body.registers)
    for (const RegisterRange &range : ranges) {
      if (!range.count)
        add(range.name, range.type);
      for (uint32_t number = 0; number < range.count; ++number)
        add(range.name + std::to_string(number), range.type);
    }
}

template <typename F> void Liveness::registers(const Operand &operand, F f) const {
  if (const auto found = numbers.find(operand.name); found != numbers.end())
    f(found->second);
  for (const Operand &part : operand.parts)
    registers(part, f);
}

/// The first operand is the result, except of instructions that have none. wgmma's is read, too.
static bool definesFirst(const Statement &statement) {
  static const char *const without[] = {"st",      "red",   "bra",    "ret",      "exit",     "bar",
                                        "barrier", "cp",    "trap",   "call",     "stmatrix", "prefetch",
                                        "wgmma",   "fence", "membar", "mbarrier", "nanosleep"};
  return !statement.operands.empty() && statement.operands[0].kind != OperandKind::Address &&
         std::find(std::begin(without), std::end(without), statement.opcode) == std::end(without);
}

void Liveness::step(const Statement &statement, LiveSet &live) {
  const std::string &opcode = statement.opcode;
  const bool isGuarded = !statement.guard.empty();
  if (!isGuarded && (opcode == "bra" || opcode == "ret" || opcode == "exit"))
    live = LiveSet(words);
  if (opcode == "bra")
    if (const auto target = atLabels.find(statement.operands[0].name); target != atLabels.end())
      live.insertAll(target->second);
  const bool defines = definesFirst(statement);
  if (defines && !isGuarded) // under a guard the old value stays
    registers(statement.operands[0], [&](uint32_t number) { live.erase(number); });
  for (size_t index = defines; index < statement.operands.size(); ++index)
    registers(statement.operands[index], [&](uint32_t number) { live.insert(number); });
  if (const auto guard = numbers.find(statement.guard); guard != numbers.end())
    live.insert(guard->second);
  most = std::max(most, live.words());
}

bool Liveness::sweep() {
  LiveSet live(words);
  bool hasChanged = false;
  for (size_t index = body.statements.size(); index-- > 0;) {
    const Statement &statement = body.statements[index];
    if (statement.opcode.empty())
      hasChanged |= atLabels.try_emplace(statement.operands[0].name, words).first->second.insertAll(live);
    else if (statement.opcode[0] != '.')
      step(statement, live);
  }
  return hasChanged;
}

uint32_t Liveness::run() {
  declare();
  while (sweep())
    ;
  return most;
}

uint32_t nereid::sim::liveRegisters(const Function &function) { return Liveness(function.body).run(); }
