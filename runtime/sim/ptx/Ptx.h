// The text of a PTX module as data: functions, variables, statements with their operands.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Expected.h"
#include "runtime/sim/ptx/LineTable.h"

#include <map>
#include <string>
#include <vector>

namespace nereid::sim {

using artifact::Error;
using artifact::Expected;

enum class OperandKind : uint8_t { Name, Integer, Float32, Float64, Address, Vector, Sink };

struct Operand {
  explicit Operand(OperandKind kind = OperandKind::Sink, std::string name = {}) : kind(kind), name(std::move(name)) {}

  OperandKind kind;
  bool isNegated = false;     ///< `!%p1`, `-%r1`
  std::string name;           ///< of a register, a special register, a variable or a label
  uint64_t bits = 0;          ///< of a number, or the offset of an address
  std::vector<Operand> parts; ///< of a vector; of an address: the base, then coordinates; `%p1|%p2`: a vector with `|`
};

/// The elements of a vector operand; any other operand is its only element.
inline std::vector<Operand> elementsOf(const Operand &operand) {
  return operand.kind == OperandKind::Vector ? operand.parts : std::vector<Operand>{operand};
}

struct Statement {
  std::string opcode; ///< empty for a label; ".reg", ".{", ".}" for scopes and declarations
  std::vector<std::string> modifiers;
  std::string guard;
  bool isGuardNegated = false;
  std::vector<Operand> operands;
  uint32_t line = 0;
};

/// A variable or parameter: `.shared .align 16 .b8 name[64]`.
struct Variable {
  std::string name, type;
  uint32_t align = 1;
  uint64_t bytes = 0;
  bool isExtern = false;
  std::string space; ///< "param", "shared", "global", "const", "local"
  std::vector<uint8_t> initial;
};

/// `.reg .b32 %r<5>` gives five registers; count 0: one register of that name.
struct RegisterRange {
  std::string type, name;
  uint32_t count = 0;
};

struct Body {
  std::vector<Statement> statements;
  /// Declarations by index into `statements` of their ".reg" or ".var" statements.
  std::map<size_t, std::vector<RegisterRange>> registers;
  std::map<size_t, std::vector<Variable>> variables;
};

struct Function {
  std::string name;
  bool isEntry = false, hasBody = false;
  std::vector<Variable> results, params;
  uint32_t block[3] = {}, cluster[3] = {}; ///< .reqntid and .reqnctapercluster; 0: not said
  uint32_t maxRegisters = 0, minCtas = 0;  ///< .maxnreg and .minnctapersm; 0: not said
  Body body;
};

struct Text {
  std::vector<Function> functions;
  std::vector<Variable> variables;
  std::vector<std::string> lines;
  LineTable table;
  /// Of AMD's GPUs: `.pragma "wave 64";` and `.pragma "banks 64";`.
  uint32_t waveLanes = 32, sharedBanks = 32;
};

Expected<Text> parseText(std::string_view ptx);

/// Bytes of a type such as "u32" or "bf16x2"; 0 for "pred" and what is unknown.
unsigned bytesOfType(std::string_view type);

} // namespace nereid::sim
