// Turns a statement of PTX into instructions of the simulator; each unit has a function per opcode.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Lanes.h"
#include "runtime/sim/ptx/Ptx.h"

#include <initializer_list>
#include <map>

namespace nereid::sim {

/// Type of a register as decoding needs it: bytes of a lane, 0 for a predicate.
struct Register {
  uint32_t slot = 0;
  unsigned bytes = 0;
};

struct Symbol {
  Space space = Space::Global;
  uint64_t address = 0;
};

struct ModuleState;
class Decoder;

/// Decodes the current statement of the decoder.
using Decode = void (*)(Decoder &);
struct OpcodeEntry {
  Decode decode;
  Kind kind = Kind::Other;         ///< or kByType
  ValueFlow flow = ValueFlow::Any; ///< of forms that set none
};
/// Arithmetic: the kind depends on the type.
inline constexpr Kind kByType = Kind::None;

class OpcodeTable {
public:
  /// One row for all of `opcodes`, which blanks separate. Those of AMD's GPUs are "amd." and the first modifier.
  void add(std::string_view opcodes, Decode decode, Kind kind = Kind::Other, ValueFlow flow = ValueFlow::Any);
  /// Null where there is none.
  const OpcodeEntry *find(std::string_view opcode) const;

private:
  std::map<std::string, OpcodeEntry, std::less<>> entries;
};

/// The words of a text between separators.
std::vector<std::string> wordsOf(std::string_view text, char separator);

/// Decodes one entry with the functions that it calls, which are inlined.
class Decoder {
public:
  Decoder(ModuleState &module, const Function &entry, const OpcodeTable &opcodes)
      : module(module), entry(entry), opcodes(opcodes) {}
  std::optional<Error> run(Code &code);

  //--- the current statement -----------------------------------------------------------------
  const std::string &opcode() const { return statement->opcode; }
  const std::vector<Operand> &operands() const { return statement->operands; }
  const Operand &operand(size_t index) const;
  bool has(std::string_view modifier) const;
  /// Consumes a modifier.
  bool take(std::string_view modifier);
  /// Consumes the first of these that is there; else empty.
  std::string takeOf(std::initializer_list<const char *> modifiers);
  /// Consumes the first modifier that has a row; its value.
  template <typename T, size_t N> std::optional<T> takeNamed(const std::pair<std::string_view, T> (&rows)[N]) {
    for (auto modifier = modifiers.begin(); modifier != modifiers.end(); ++modifier)
      for (const auto &[name, value] : rows)
        if (*modifier == name)
          return modifiers.erase(modifier), value;
    return std::nullopt;
  }
  /// Consumes the first modifier that is a type; else empty.
  std::string takeType();
  /// Consumes the modifier that begins with `prefix`; else empty.
  std::string takeShape(std::string_view prefix);
  /// Whether the type is not a floating-point one.
  bool hasIntegerType() const;
  /// Consumes the modifiers of caches, which have no effect here.
  void dropCacheHints();
  /// Consumes the modifiers of memory order, scope and caches; the instructions of the statement get order and scope.
  void takeOrder(Order defaultOrder = Order::Weak, Scope defaultScope = Scope::None);
  /// Consumes a scope (`gl` of membar is `gpu`).
  std::optional<Scope> takeScope();
  void dropAll() { modifiers.clear(); }
  /// How definedness passes through the statement, where its opcode does not tell.
  void setFlow(ValueFlow value) { flow = value; }
  /// The label behind a call of the function that is decoded; empty in an entry.
  std::string returnLabel() const;
  const std::string &calledFunction() const { return called; }
  Space takeSpace(Space otherwise);
  uint32_t waveLanes() const { return code->waveLanes; }

  /// The statement has no known form; the message says why.
  void fail(std::string message);
  bool hasFailed() const { return problem.has_value(); }

  //--- slots ---------------------------------------------------------------------------------
  uint32_t allocate(unsigned bytesPerLane);
  uint32_t constant(uint64_t value, unsigned bytes);
  /// A source operand with lanes of `bytes` bytes (at least 4), 0: a predicate. A register of another width is
  /// converted first.
  uint32_t source(const Operand &operand, unsigned bytes, bool isFloat = false);
  /// A destination; `_` gets a slot of its own.
  uint32_t destination(const Operand &operand, unsigned bytes);
  std::optional<Register> findRegister(const std::string &name) const;
  /// Bytes of a lane of the register that an operand names; 4 for `_`.
  unsigned widthOf(const Operand &operand) const;
  /// The base of an address, as 64-bit lanes; the offset goes to `offset`.
  uint32_t address(const Operand &operand, uint64_t &offset);
  uint32_t localVariable(uint64_t bytes, uint32_t align);
  const Symbol *findSymbol(const std::string &name) const;
  /// The statement that lists the targets of an indexed branch.
  const Statement *findBranchTargets(const std::string &name) const;

  /// The slots of the result and of the predicate that may be beside it: `%r1|%p1`.
  std::pair<uint32_t, std::optional<uint32_t>> resultAndPredicate(unsigned bytes);

  //--- instructions --------------------------------------------------------------------------
  Instruction &emit(Execute execute);
  /// An instruction with the operands of the statement in its slots: a result, then sources, by the bytes of a lane (0:
  /// a predicate).
  Instruction &emit(Execute execute, std::initializer_list<unsigned> laneBytes);
  Instruction &add(Instruction instruction);
  /// The lanes of a wave execute the instruction together.
  void addOfWave(Instruction instruction);
  Instruction &lastInstruction();
  void emitJump(Instruction &jump, const std::string &label);

  /// An instruction whose operands are those of the function of one lane.
  template <auto Function> void lanes() { lanesOf(Lanes<Function>(), Function); }

private:
  template <typename L, typename R, typename... A> void lanesOf(L, R (*)(A...)) {
    if (operands().size() != sizeof...(A) + 1)
      return fail("expects " + std::to_string(sizeof...(A) + 1) + " operands");
    Instruction instruction;
    size_t index = 1;
    ((instruction.slots[index] = source(operand(index), slotBytes<A>(), std::is_floating_point_v<A>), ++index), ...);
    instruction.slots[0] = destination(operand(0), slotBytes<R>());
    instruction.execute = &L::run;
    add(std::move(instruction));
  }
  template <typename T> static constexpr unsigned slotBytes() {
    return std::is_same_v<T, bool> ? 0 : sizeof(T) < 4 ? 4 : sizeof(T);
  }

  struct NameScope {
    std::map<std::string, Register, std::less<>> registers;
    std::map<std::string, Symbol, std::less<>> symbols;
    std::map<std::string, uint32_t, std::less<>> labels;
    std::vector<std::pair<size_t, std::string>> jumps;
    bool isFunction = false;
    std::string returnLabel;
  };
  void decodeBody(const Body &body);
  void decodeStatement(const Statement &statement);
  void declare(const std::vector<RegisterRange> &ranges);
  void declare(const Variable &variable);
  void closeScope();
  void label(const std::string &name);
  void call();
  void finish();
  bool special(const std::string &name, Register &result);
  uint32_t sourceSlot(const Operand &operand, unsigned bytes, bool isFloat);
  uint32_t convert(Execute execute, uint32_t from, unsigned bytes);

  ModuleState &module;
  const Function &entry;
  const OpcodeTable &opcodes;
  Code *code = nullptr;
  std::vector<NameScope> scopes;
  std::map<std::pair<uint64_t, unsigned>, uint32_t> constants;
  std::map<std::string, Register, std::less<>> specials;
  const Statement *statement = nullptr;
  std::vector<std::string> modifiers; ///< not consumed yet
  OperandSlots operandSlots;          ///< of the instruction that is added next
  Order order = Order::Weak;          ///< of the current statement
  Scope memoryScope = Scope::None;
  std::optional<ValueFlow> flow; ///< of the current statement
  std::optional<Error> problem;
  std::vector<const Function *> callStack;
  std::map<std::string, const Statement *, std::less<>> branchTargets;
  uint32_t labelCount = 0;
  std::string called; ///< by the current statement
};

/// A parsed module with its decoded entries and its variables in the host's memory.
struct ModuleState {
  Text text;
  std::map<std::string, Code, std::less<>> entries;
  std::map<std::string, Symbol, std::less<>> symbols;
  std::deque<std::vector<uint64_t>> variables;
  uint32_t staticSharedBytes = 0;
  std::string externShared;
};

} // namespace nereid::sim
