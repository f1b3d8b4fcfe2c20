// Decodes an entry: scopes, registers, labels and calls.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Decode.h"

#include <algorithm>

using namespace nereid::sim;

//--- opcodes -------------------------------------------------------------------------------

std::vector<std::string> nereid::sim::wordsOf(std::string_view text, char separator) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin)
      words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

void OpcodeTable::add(std::string_view opcodes, Decode decode, Kind kind, ValueFlow flow) {
  for (std::string &opcode : wordsOf(opcodes, ' '))
    entries.emplace(std::move(opcode), OpcodeEntry{decode, kind, flow});
}

const OpcodeEntry *OpcodeTable::find(std::string_view opcode) const {
  const auto entry = entries.find(opcode);
  return entry == entries.end() ? nullptr : &entry->second;
}

//--- statements ----------------------------------------------------------------------------

std::optional<Error> Decoder::run(Code &result) {
  code = &result;
  code->name = entry.name;
  code->text = &module.text;
  code->waveLanes = module.text.waveLanes;
  code->sharedBanks = module.text.sharedBanks;
  scopes.emplace_back().isFunction = true;
  uint64_t offset = 0;
  for (const Variable &param : entry.params) {
    offset = (offset + param.align - 1) / param.align * param.align;
    scopes.back().symbols[param.name] = {Space::Param, offset};
    offset += param.bytes;
  }
  code->paramBytes = uint32_t(offset);
  code->staticSharedBytes = module.staticSharedBytes;
  scopes.back().returnLabel = "";
  decodeBody(entry.body);
  finish();
  return problem;
}

void Decoder::finish() {
  closeScope();
  static const Statement end = [] {
    Statement statement;
    statement.opcode = "ret";
    return statement;
  }();
  scopes.emplace_back();
  decodeStatement(end);
  scopes.pop_back();
}

void Decoder::decodeBody(const Body &body) {
  for (size_t index = 0; index < body.statements.size() && !problem; ++index) {
    statement = &body.statements[index];
    if (statement->opcode == ".reg")
      declare(body.registers.at(index));
    else if (statement->opcode == ".var")
      declare(body.variables.at(index)[0]);
    else if (statement->opcode == ".{")
      scopes.emplace_back();
    else if (statement->opcode == ".}")
      closeScope();
    else if (statement->opcode == ".branchtargets")
      branchTargets[statement->operands[0].name] = statement;
    else if (statement->opcode.empty())
      label(statement->operands[0].name);
    else
      decodeStatement(*statement);
  }
}

void Decoder::decodeStatement(const Statement &current) {
  statement = &current;
  modifiers = current.modifiers;
  order = Order::Weak;
  memoryScope = Scope::None;
  flow.reset();
  if (current.opcode == "call")
    return call();
  const bool isAmd = current.opcode == "amd" && !modifiers.empty();
  const OpcodeEntry *entry = opcodes.find(isAmd ? "amd." + modifiers[0] : current.opcode);
  if (!entry)
    return fail("this instruction is not known");
  const size_t before = code->instructions.size();
  entry->decode(*this);
  if (problem)
    return;
  code->profiles.resize(code->instructions.size());
  if (code->instructions.size() > before)
    code->profiles.back() = profileOf(current, entry->kind); // those before it convert operands
  if (!modifiers.empty())
    return fail("the modifier `." + modifiers[0] + "` is not known here");
  // Operands that were named after the instruction was added.
  if (code->instructions.size() > before) {
    OperandSlots &last = code->operands.back();
    last.flow = flow.value_or(entry->flow); // instructions before it convert operands
    last.sources.insert(last.sources.end(), operandSlots.sources.begin(), operandSlots.sources.end());
    last.destinations.insert(last.destinations.end(), operandSlots.destinations.begin(),
                             operandSlots.destinations.end());
  }
  operandSlots = {};
  if (current.guard.empty())
    return;
  std::optional<Register> guard = findRegister(current.guard);
  if (!guard || guard->bytes)
    return fail("`" + current.guard + "` is no predicate");
  for (size_t index = before; index < code->instructions.size(); ++index) {
    code->instructions[index].guard = int32_t(guard->slot);
    code->instructions[index].isGuardNegated = current.isGuardNegated;
  }
}

void Decoder::fail(std::string message) {
  if (problem)
    return;
  const uint32_t line = statement ? statement->line : 0;
  std::string text = line && line <= module.text.lines.size() ? module.text.lines[line - 1] : "";
  text.erase(0, text.find_first_not_of(" \t"));
  problem = Error{"sim-ptx", "line " + std::to_string(line) + " of the PTX: " + message + ": " + text};
}

Instruction &Decoder::add(Instruction instruction) {
  instruction.line = statement->line;
  instruction.order = order;
  instruction.scope = memoryScope;
  code->operands.push_back(std::exchange(operandSlots, {}));
  return code->instructions.emplace_back(std::move(instruction));
}

void Decoder::addOfWave(Instruction instruction) {
  if (!statement->guard.empty())
    return fail("an instruction of a wave has no predicate");
  instruction.isOfWave = true;
  code->hasWaves = true;
  add(std::move(instruction));
}

Instruction &Decoder::emit(Execute execute) {
  Instruction instruction;
  instruction.execute = execute;
  return add(std::move(instruction));
}

Instruction &Decoder::emit(Execute execute, std::initializer_list<unsigned> laneBytes) {
  Instruction instruction;
  instruction.execute = execute;
  for (unsigned index = 1; index < laneBytes.size(); ++index)
    instruction.slots[index] = source(operand(index), laneBytes.begin()[index]);
  instruction.slots[0] = destination(operand(0), *laneBytes.begin());
  return add(std::move(instruction));
}

//--- scopes --------------------------------------------------------------------------------

void Decoder::declare(const std::vector<RegisterRange> &ranges) {
  for (const RegisterRange &range : ranges) {
    const unsigned width = bytesOfType(range.type);
    if (!width && range.type != "pred")
      return fail("`." + range.type + "` is no type of registers");
    const unsigned bytes = width && width < 4 ? 4 : width;
    if (!range.count)
      scopes.back().registers[range.name] = {allocate(bytes), bytes};
    for (uint32_t index = 0; index < range.count; ++index)
      scopes.back().registers[range.name + std::to_string(index)] = {allocate(bytes), bytes};
  }
}

uint32_t Decoder::localVariable(uint64_t bytes, uint32_t align) {
  const uint32_t at = (code->localBytes + align - 1) / align * align;
  code->localBytes = uint32_t(at + bytes);
  return at;
}

void Decoder::declare(const Variable &variable) {
  Symbol symbol{Space::Local, 0};
  if (variable.space == "shared") {
    module.staticSharedBytes = (module.staticSharedBytes + variable.align - 1) / variable.align * variable.align;
    symbol = {Space::Shared, module.staticSharedBytes};
    module.staticSharedBytes += variable.bytes;
    code->staticSharedBytes = module.staticSharedBytes;
  } else {
    symbol.address = localVariable(variable.bytes, variable.align);
  }
  scopes.back().symbols[variable.name] = symbol;
}

const Statement *Decoder::findBranchTargets(const std::string &name) const {
  auto found = branchTargets.find(name);
  return found == branchTargets.end() ? nullptr : found->second;
}

void Decoder::label(const std::string &name) { scopes.back().labels[name] = uint32_t(code->instructions.size()); }

void Decoder::emitJump(Instruction &jump, const std::string &target) {
  scopes.back().jumps.emplace_back(&jump - code->instructions.data(), target);
}

/// Resolves the jumps to labels of the scope; the others belong to an enclosing one.
void Decoder::closeScope() {
  NameScope scope = std::move(scopes.back());
  scopes.pop_back();
  for (auto &[index, target] : scope.jumps)
    if (auto found = scope.labels.find(target); found != scope.labels.end())
      code->instructions[index].immediate = found->second;
    else if (!scope.isFunction && !scopes.empty())
      scopes.back().jumps.emplace_back(index, target);
    else
      fail("there is no label `" + target + "`");
}

//--- calls ---------------------------------------------------------------------------------

/// `call (result), function, (arguments)`: the body is decoded here, with its parameters as variables of the thread.
void Decoder::call() {
  modifiers.clear();
  std::vector<const Operand *> lists;
  std::string name;
  for (const Operand &operand : operands())
    operand.kind == OperandKind::Vector ? lists.push_back(&operand) : void(name.empty() ? name = operand.name : name);
  const bool hasResult = operands().size() && operands()[0].kind == OperandKind::Vector;
  const Operand none(OperandKind::Vector);
  const Operand &results = hasResult ? *lists[0] : none;
  const Operand &arguments = lists.size() > hasResult ? *lists[hasResult] : none;
  called = name;
  if (name == "vprintf" || name == "__assertfail")
    return opcodes.find(name)->decode(*this);
  const Function *callee = nullptr;
  for (const Function &function : module.text.functions)
    if (function.name == name && function.hasBody)
      callee = &function;
  if (!callee)
    return fail("the function `" + name + "` has no body");
  if (std::find(callStack.begin(), callStack.end(), callee) != callStack.end())
    return fail("recursion is not supported");
  if (!statement->guard.empty())
    return fail("a guarded call is not supported");
  NameScope scope;
  scope.isFunction = true;
  scope.returnLabel = " return" + std::to_string(++labelCount);
  for (auto [list, values] : {std::pair(&callee->results, &results), std::pair(&callee->params, &arguments)})
    for (size_t index = 0; index < list->size() && index < values->parts.size(); ++index) {
      const std::string &value = values->parts[index].name, &formal = (*list)[index].name;
      if (const Symbol *symbol = findSymbol(value))
        scope.symbols[formal] = *symbol;
      else if (std::optional<Register> reg = findRegister(value))
        scope.registers[formal] = *reg;
      else
        return fail("`" + value + "` is no variable");
    }
  callStack.push_back(callee);
  scopes.push_back(std::move(scope));
  const std::string returnLabel = scopes.back().returnLabel;
  decodeBody(callee->body);
  label(returnLabel);
  closeScope();
  callStack.pop_back();
}

//--- modifiers -----------------------------------------------------------------------------

const Operand &Decoder::operand(size_t index) const {
  static const Operand none;
  return index < statement->operands.size() ? statement->operands[index] : none;
}

bool Decoder::take(std::string_view modifier) {
  auto found = std::find(modifiers.begin(), modifiers.end(), modifier);
  if (found == modifiers.end())
    return false;
  modifiers.erase(found);
  return true;
}

std::string Decoder::takeOf(std::initializer_list<const char *> choices) {
  for (auto modifier = modifiers.begin(); modifier != modifiers.end(); ++modifier)
    if (std::find(choices.begin(), choices.end(), *modifier) != choices.end()) {
      std::string result = *modifier;
      modifiers.erase(modifier);
      return result;
    }
  return {};
}

std::string Decoder::takeType() {
  for (auto modifier = modifiers.begin(); modifier != modifiers.end(); ++modifier)
    if (bytesOfType(*modifier) || *modifier == "pred") {
      std::string result = *modifier;
      modifiers.erase(modifier);
      return result;
    }
  return {};
}

void Decoder::dropCacheHints() {
  std::erase_if(modifiers, [](const std::string &modifier) {
    static const char *const hints[] = {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"};
    return std::find(std::begin(hints), std::end(hints), modifier) != std::end(hints) || modifier.starts_with("L1::") ||
           modifier.starts_with("L2::");
  });
}

void Decoder::takeOrder(Order defaultOrder, Scope defaultScope) {
  dropCacheHints();
  static constexpr std::pair<std::string_view, Order> orders[] = {
      {"weak", Order::Weak},       {"relaxed", Order::Relaxed}, {"volatile", Order::Relaxed},
      {"acquire", Order::Acquire}, {"release", Order::Release}, {"acq_rel", Order::AcqRel}};
  const bool isVolatile = has("volatile");
  order = takeNamed(orders).value_or(defaultOrder);
  take("mmio");
  memoryScope = takeScope().value_or(defaultScope);
  if (isVolatile)
    memoryScope = Scope::Sys;
}

std::optional<Scope> Decoder::takeScope() {
  static constexpr std::pair<std::string_view, Scope> names[] = {
      {"cta", Scope::Cta}, {"cluster", Scope::Cluster}, {"gpu", Scope::Gpu}, {"gl", Scope::Gpu}, {"sys", Scope::Sys}};
  return takeNamed(names);
}

Space Decoder::takeSpace(Space otherwise) {
  static constexpr std::pair<std::string_view, Space> spaces[] = {
      {"global", Space::Global}, {"const", Space::Global},       {"local", Space::Local},
      {"param", Space::Param},   {"param::entry", Space::Param}, {"param::func", Space::Param},
      {"shared", Space::Shared}, {"shared::cta", Space::Shared}, {"shared::cluster", Space::Shared}};
  return takeNamed(spaces).value_or(otherwise);
}

std::string Decoder::returnLabel() const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (scope->isFunction)
      return scope->returnLabel;
  return {};
}

bool Decoder::hasIntegerType() const {
  for (const std::string &modifier : modifiers)
    if (bytesOfType(modifier))
      return modifier[0] == 's' || modifier[0] == 'u' || (modifier[0] == 'b' && modifier[1] != 'f');
  return false;
}

Instruction &Decoder::lastInstruction() { return code->instructions.back(); }

bool Decoder::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

std::string Decoder::takeShape(std::string_view prefix) {
  for (const std::string &modifier : modifiers)
    if (modifier.starts_with(prefix)) {
      const std::string result = modifier;
      take(result);
      return result;
    }
  return {};
}
