// Parses the statements of PTX; decoding gives them a meaning.
// SPDX-License-Identifier: MIT
#include "runtime/sim/ptx/Lexer.h"
#include "runtime/sim/ptx/Ptx.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

using namespace nereid::sim;

namespace {
constexpr uint32_t kMaxRegisters = 1 << 20;

class Parser {
public:
  explicit Parser(std::string_view ptx) : tokens(tokensOf(ptx)) {}
  Expected<Text> run();

private:
  const Token &peek(size_t ahead = 0) const { return tokens[std::min(pos + ahead, tokens.size() - 1)]; }
  const Token &next() {
    const Token &token = peek();
    pos += token.kind != TokenKind::End;
    return token;
  }
  bool is(std::string_view text) const { return peek().text == text && peek().kind != TokenKind::String; }
  bool take(std::string_view text) { return is(text) && (++pos, true); }
  void expect(std::string_view text) {
    if (!take(text))
      fail("expected `" + std::string(text) + "`, found `" + std::string(peek().text) + "`");
  }
  void fail(std::string message) {
    if (!problem)
      problem = Error{"sim-ptx", "line " + std::to_string(peek().line) + " of the PTX: " + message};
    pos = tokens.size() - 1;
  }
  bool atEnd() const { return peek().kind == TokenKind::End; }
  void skipLine();
  void skipBraces();
  void pragma();

  void topLevel();
  void function(bool isEntry);
  void extents(uint32_t (&to)[3]);
  std::vector<Variable> parameters();
  Variable variable(bool isExtern, std::string space);
  void initialiser(Variable &variable);
  void body(Body &body);
  void statement(Body &body);
  void declareRegisters(Body &body);
  void branchTargets(Body &body);
  void instruction(Body &body);
  Operand operand();
  Operand simpleOperand();
  Operand addressOperand();

  std::vector<Token> tokens;
  size_t pos = 0;
  Text text;
  std::optional<Error> problem;
};
} // namespace

unsigned nereid::sim::bytesOfType(std::string_view type) {
  static const std::map<std::string_view, unsigned> special = {{"bf16", 2},  {"bf16x2", 4}, {"f16x2", 4}, {"tf32", 4},
                                                               {"b128", 16}, {"s16x2", 4},  {"u16x2", 4}, {"f32x2", 8}};
  if (auto found = special.find(type); found != special.end())
    return found->second;
  if (type.size() < 2 || !std::strchr("busf", type[0]))
    return 0;
  const std::string_view digits = type.substr(1);
  return digits == "8" ? 1 : digits == "16" ? 2 : digits == "32" ? 4 : digits == "64" ? 8 : 0;
}

void Parser::skipLine() {
  for (const uint32_t line = peek().line; !atEnd() && peek().line == line;)
    ++pos;
}

/// `.pragma "wave 64";`; what is not known has no effect.
void Parser::pragma() {
  const std::string_view words = peek(1).text;
  const uint32_t number = uint32_t(std::atoi(std::string(words.substr(words.find_last_of(' ') + 1)).c_str()));
  if (words.starts_with("wave ")) {
    if (number != 32 && number != 64)
      return fail("a wave has 32 or 64 lanes");
    text.waveLanes = number;
  } else if (words.starts_with("banks ")) {
    if (number != 32 && number != 64)
      return fail("shared memory has 32 or 64 banks");
    text.sharedBanks = number;
  }
  skipLine();
}

void Parser::skipBraces() {
  while (!atEnd() && !is("{"))
    ++pos;
  int depth = 0;
  do {
    depth += is("{");
    depth -= is("}");
    ++pos;
  } while (!atEnd() && depth);
}

/// `.align 16 .b8 name[64] = {..}`; the space has been read.
Variable Parser::variable(bool isExtern, std::string space) {
  Variable result;
  result.isExtern = isExtern;
  result.space = std::move(space);
  uint32_t vectorLength = 1;
  while (peek().kind == TokenKind::Word && peek().text.starts_with(".")) {
    const std::string_view word = next().text;
    if (word == ".align")
      result.align = uint32_t(next().bits);
    else if (word == ".v2" || word == ".v4")
      vectorLength = word[2] - '0';
    else if (word == ".ptr" || word == ".global" || word == ".shared" || word == ".const" || word == ".local")
      continue;
    else
      result.type = word.substr(1);
    // `.ptr .global .align 16` describes what a pointer points to, not the parameter.
    if (word == ".ptr") {
      while (is(".global") || is(".shared") || is(".const") || is(".local"))
        ++pos;
      if (take(".align"))
        ++pos;
    }
  }
  result.name = next().text;
  if (!bytesOfType(result.type) && result.type != "pred")
    fail("`" + result.name + "` has no type that is known");
  result.bytes = bytesOfType(result.type) * vectorLength;
  result.align = std::max<uint32_t>(result.align, std::max<uint64_t>(result.bytes, 1));
  while (take("[")) {
    result.bytes *= peek().kind == TokenKind::Integer ? next().bits : 0;
    expect("]");
  }
  if (take("="))
    initialiser(result);
  return result;
}

void Parser::initialiser(Variable &variable) {
  const unsigned width = bytesOfType(variable.type);
  for (; !atEnd() && !is(";"); ++pos) {
    if (peek().kind == TokenKind::Word)
      return fail("an address as initial value is not supported");
    const bool isNegative = tokens[pos - 1].text == "-";
    if (peek().kind == TokenKind::Integer || peek().kind == TokenKind::Float32 || peek().kind == TokenKind::Float64) {
      const uint64_t bits = isNegative ? -peek().bits : peek().bits;
      const auto *bytes = reinterpret_cast<const uint8_t *>(&bits);
      variable.initial.insert(variable.initial.end(), bytes, bytes + width);
    }
  }
}

std::vector<Variable> Parser::parameters() {
  std::vector<Variable> result;
  expect("(");
  while (!atEnd() && !take(")")) {
    if (!take(".param") && !take(".reg"))
      return fail("expected a parameter"), result;
    result.push_back(variable(false, "param"));
    take(",");
  }
  return result;
}

void Parser::function(bool isEntry) {
  Function result;
  result.isEntry = isEntry;
  if (is("("))
    result.results = parameters();
  result.name = next().text;
  if (is("("))
    result.params = parameters();
  while (!atEnd() && !is("{") && !is(";"))
    if (take(".reqntid"))
      extents(result.block);
    else if (take(".reqnctapercluster"))
      extents(result.cluster);
    else if (take(".maxnreg"))
      result.maxRegisters = uint32_t(next().bits);
    else if (take(".minnctapersm"))
      result.minCtas = uint32_t(next().bits);
    else
      ++pos; // .maxntid, .noreturn
  if (!take(";")) {
    result.hasBody = true;
    expect("{");
    body(result.body);
  }
  text.functions.push_back(std::move(result));
}

/// `128, 1, 1`: missing ones are 1.
void Parser::extents(uint32_t (&to)[3]) {
  std::fill(std::begin(to), std::end(to), 1);
  for (unsigned index = 0; index < 3 && peek().kind == TokenKind::Integer; ++index) {
    to[index] = uint32_t(next().bits);
    if (!take(","))
      return;
  }
}

void Parser::topLevel() {
  bool isExtern = false;
  while (is(".visible") || is(".extern") || is(".weak") || is(".common"))
    isExtern |= next().text == ".extern";
  if (take(".entry"))
    return function(true);
  if (take(".func"))
    return function(false);
  for (const char *space : {".global", ".shared", ".const"})
    if (take(space)) {
      text.variables.push_back(variable(isExtern, space + 1));
      return expect(";");
    }
  if (is(".pragma"))
    return pragma();
  if (is(".section"))
    return skipBraces();
  if (is(".version") || is(".target") || is(".address_size") || is(".file") || is(".alias"))
    return skipLine();
  fail("unexpected `" + std::string(peek().text) + "`");
}

void Parser::body(Body &body) {
  for (int depth = 1; !atEnd() && depth;) {
    const uint32_t line = peek().line;
    if (take("{")) {
      ++depth;
      body.statements.push_back({".{", {}, {}, false, {}, line});
    } else if (take("}")) {
      if (--depth)
        body.statements.push_back({".}", {}, {}, false, {}, line});
    } else {
      statement(body);
    }
  }
}

void Parser::statement(Body &body) {
  const uint32_t line = peek().line;
  if (take(";"))
    return;
  if (is(".loc"))
    return skipLine();
  if (is(".pragma")) {
    while (!atEnd() && !take(";"))
      ++pos;
    return;
  }
  if (take(".reg"))
    return declareRegisters(body);
  for (const char *space : {".param", ".local", ".shared", ".global", ".const"})
    if (take(space)) {
      body.variables[body.statements.size()].push_back(variable(false, space + 1));
      body.statements.push_back({".var", {}, {}, false, {}, line});
      return expect(";");
    }
  if (peek().kind == TokenKind::Word && peek(1).text == ":") {
    Statement label;
    label.operands.emplace_back(OperandKind::Name, std::string(peek().text));
    label.line = line;
    body.statements.push_back(std::move(label));
    pos += 2;
    if (take(".branchtargets"))
      branchTargets(body);
    return;
  }
  instruction(body);
}

/// `ts: .branchtargets L0, L1;`: a statement whose operands are the list's name, then the labels. The name has been
/// read as a label.
void Parser::branchTargets(Body &body) {
  Statement &list = body.statements.back();
  list.opcode = ".branchtargets";
  while (!atEnd() && !is(";")) {
    list.operands.emplace_back(OperandKind::Name, std::string(next().text));
    if (!take(","))
      break;
  }
  expect(";");
}

void Parser::declareRegisters(Body &body) {
  const size_t index = body.statements.size();
  body.statements.push_back({".reg", {}, {}, false, {}, peek().line});
  std::string type;
  while (peek().text.starts_with("."))
    type = next().text.substr(1);
  do {
    RegisterRange range{type, std::string(next().text), 0};
    if (take("<")) {
      range.count = uint32_t(next().bits);
      expect(">");
    }
    if (range.count > kMaxRegisters)
      return fail("a function has at most " + std::to_string(kMaxRegisters) + " registers of a name");
    body.registers[index].push_back(std::move(range));
  } while (take(","));
  expect(";");
}

void Parser::instruction(Body &body) {
  Statement result;
  result.line = peek().line;
  if (take("@")) {
    result.isGuardNegated = take("!");
    result.guard = next().text;
  }
  if (peek().kind != TokenKind::Word || peek().text.starts_with("."))
    return fail("unexpected `" + std::string(peek().text) + "`");
  std::string_view opcode = next().text;
  for (size_t begin = 0; begin < opcode.size();) {
    const size_t dot = std::min(opcode.find('.', begin), opcode.size());
    const std::string part(opcode.substr(begin, dot - begin));
    begin == 0 ? void(result.opcode = part) : result.modifiers.push_back(part);
    begin = dot + 1;
  }
  while (!atEnd() && !is(";")) {
    result.operands.push_back(operand());
    if (!take(","))
      break;
  }
  expect(";");
  body.statements.push_back(std::move(result));
}

Operand Parser::operand() {
  Operand first = simpleOperand();
  if (!take("|"))
    return first;
  Operand pair(OperandKind::Vector, "|");
  pair.parts.push_back(std::move(first));
  pair.parts.push_back(simpleOperand());
  return pair;
}

Operand Parser::simpleOperand() {
  if (take("[")) {
    Operand address = addressOperand();
    expect("]");
    return address;
  }
  if (is("{") || is("(")) {
    const bool isList = is("(");
    ++pos;
    Operand vector(OperandKind::Vector, isList ? "(" : "");
    while (!atEnd() && !is("}") && !is(")")) {
      vector.parts.push_back(operand());
      take(",");
    }
    ++pos;
    return vector;
  }
  Operand result;
  if (take("!"))
    result.isNegated = true;
  const bool isMinus = take("-");
  const Token &token = peek();
  if (token.kind == TokenKind::End || token.kind == TokenKind::Punctuation || token.kind == TokenKind::String)
    return fail("unexpected `" + std::string(token.text) + "`"), result;
  ++pos;
  result.name = token.text;
  if (token.kind == TokenKind::Word)
    result.kind = token.text == "_" ? OperandKind::Sink : OperandKind::Name;
  else
    result.kind = token.kind == TokenKind::Integer   ? OperandKind::Integer
                  : token.kind == TokenKind::Float32 ? OperandKind::Float32
                                                     : OperandKind::Float64;
  result.bits = token.bits;
  if (isMinus && result.kind == OperandKind::Integer)
    result.bits = -result.bits;
  else if (isMinus)
    result.bits ^= result.kind == OperandKind::Float32 ? uint64_t{1} << 31 : uint64_t{1} << 63;
  if (result.kind == OperandKind::Name && (is("+") || is("-")) && peek(1).kind == TokenKind::Integer) {
    const bool isMinusOffset = is("-");
    result.bits = isMinusOffset ? -peek(1).bits : peek(1).bits; // mov.u64 %rd1, symbol+8
    pos += 2;
  }
  return result;
}

/// `[%rd1+16]`, `[symbol]`, `[%rd1, {%r1, %r2}]`.
Operand Parser::addressOperand() {
  Operand address(OperandKind::Address);
  address.parts.push_back(simpleOperand());
  address.bits = address.parts[0].kind == OperandKind::Name ? address.parts[0].bits : 0;
  address.parts[0].bits = address.parts[0].kind == OperandKind::Name ? 0 : address.parts[0].bits;
  if (take("+")) {
    const bool isMinus = take("-");
    address.bits = isMinus ? -peek().bits : peek().bits;
    ++pos;
  }
  while (take(","))
    address.parts.push_back(simpleOperand());
  return address;
}

Expected<Text> Parser::run() {
  while (!atEnd())
    topLevel();
  if (problem)
    return *problem;
  return std::move(text);
}

Expected<Text> nereid::sim::parseText(std::string_view ptx) {
  Expected<Text> text = Parser(ptx).run();
  if (!text)
    return text;
  for (size_t begin = 0; begin <= ptx.size();) {
    const size_t end = std::min(ptx.find('\n', begin), ptx.size());
    text->lines.emplace_back(ptx.substr(begin, end - begin));
    begin = end + 1;
  }
  text->table = LineTable(text->lines);
  return text;
}
