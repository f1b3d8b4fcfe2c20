// The functions that the driver provides to kernels: vprintf and __assertfail.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/units/Opcodes.h"

#include <algorithm>
#include <cstdio>

using namespace nereid::sim;

namespace {
/// Reads the arguments of one lane, each at its own alignment, and formats them.
class Formatter {
public:
  Formatter(Warp &warp, const Instruction &instruction, unsigned lane, uint64_t arguments)
      : warp(warp), instruction(instruction), lane(lane), arguments(arguments) {}
  bool format(uint64_t text, std::string &out);

private:
  bool conversion(const std::string &spec, bool isLong, char kind, std::string &out);
  template <typename T> bool next(T &value) {
    arguments = (arguments + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    const char *at = translate(warp, instruction, Space::Generic, arguments, lane, sizeof(T));
    arguments += sizeof(T);
    return at && (std::memcpy(&value, at, sizeof(T)), true);
  }
  template <typename T> void append(const std::string &spec, T value, std::string &out) {
    const int length = std::snprintf(nullptr, 0, spec.c_str(), value);
    std::vector<char> buffer(size_t(std::max(length, 0)) + 1);
    std::snprintf(buffer.data(), buffer.size(), spec.c_str(), value);
    out += buffer.data();
  }

  Warp &warp;
  const Instruction &instruction;
  unsigned lane;
  uint64_t arguments;
};
} // namespace

bool Formatter::conversion(const std::string &spec, bool isLong, char kind, std::string &out) {
  const std::string flags = "%" + spec;
  if (kind == '%')
    return out += '%', true;
  if (kind == 's') {
    uint64_t text = 0;
    const char *at = next(text) ? translate(warp, instruction, Space::Generic, text, lane, 1) : nullptr;
    return at && (out += at, true);
  }
  if (std::string_view("feEgGaA").find(kind) != std::string_view::npos) {
    double value = 0;
    return next(value) && (append(flags + kind, value, out), true);
  }
  if (isLong || kind == 'p') {
    uint64_t value = 0;
    return next(value) && (append(flags + "ll" + (kind == 'p' ? 'x' : kind), value, out), true);
  }
  uint32_t value = 0;
  return next(value) && (append(flags + kind, value, out), true);
}

bool Formatter::format(uint64_t text, std::string &out) {
  const char *at = translate(warp, instruction, Space::Generic, text, lane, 1);
  for (; at && *at; ++at) {
    if (*at != '%') {
      out += *at;
      continue;
    }
    std::string spec;
    bool isLong = false;
    for (++at; *at && std::string_view("-+ #0123456789.lhjzt").find(*at) != std::string_view::npos; ++at)
      *at == 'l' || *at == 'j' || *at == 'z' || *at == 't' ? void(isLong = true)
      : *at == 'h'                                         ? void()
                                                           : void(spec += *at);
    if (!*at || !conversion(spec, isLong, *at, out))
      return *at == 0;
  }
  return at;
}

/// Argument of the call; `list` has the offsets of the variables that hold them.
static uint64_t argument(Warp &warp, const Instruction &instruction, unsigned lane, size_t index) {
  const char *at = translate(warp, instruction, Space::Local, instruction.list[index], lane, 4);
  uint64_t value = 0;
  if (at)
    std::memcpy(&value, at, instruction.list[index] + 8 <= warp.local.size() / kLanes ? 8 : 4);
  return value;
}

static Step print(Warp &warp, const Instruction &instruction) {
  std::string out;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (warp.isActive(lane) && !Formatter(warp, instruction, lane, argument(warp, instruction, lane, 1))
                                    .format(argument(warp, instruction, lane, 0), out))
      return fail(warp, instruction, "sim-fault", "vprintf has a format or arguments that cannot be read");
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fflush(stdout);
  return Step::Next;
}

static Step assertFails(Warp &warp, const Instruction &instruction) {
  const unsigned lane = unsigned(std::countr_zero(warp.mask));
  const auto text = [&](size_t index) {
    const char *at = translate(warp, instruction, Space::Generic, argument(warp, instruction, lane, index), lane, 1);
    return std::string(at ? at : "");
  };
  const std::string line = std::to_string(uint32_t(argument(warp, instruction, lane, 2)));
  return fail(warp, instruction, "sim-assert", text(1) + ":" + line + ": device-side assertion failed: " + text(0),
              int(lane));
}

static void decodeHostCall(Decoder &decoder) {
  Instruction instruction;
  const bool isPrint = decoder.calledFunction() == "vprintf";
  for (const Operand &part : decoder.operands().back().parts) {
    const Symbol *symbol = decoder.findSymbol(part.name);
    if (!symbol || symbol->space != Space::Local)
      return decoder.fail("`" + part.name + "` is no variable");
    instruction.list.push_back(uint32_t(symbol->address));
  }
  if (instruction.list.size() != (isPrint ? 2 : 5))
    return decoder.fail("the call has another number of arguments");
  instruction.execute = isPrint ? &print : &assertFails;
  decoder.add(std::move(instruction));
}

void nereid::sim::addHostCallOpcodes(OpcodeTable &table) { table.add("vprintf __assertfail", decodeHostCall); }
