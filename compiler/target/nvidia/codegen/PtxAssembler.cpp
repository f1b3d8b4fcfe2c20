// Chooses the tool that assembles PTX, and parses its output.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/codegen/PtxAssembler.h"

#include "compiler/target/nvidia/codegen/PtxAssemblerTools.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace nereid;
using namespace nereid::nvidia;
using llvm::StringRef;

/// The number right before `unit`; 0 where there is none.
static uint32_t numberBefore(StringRef text, StringRef unit) {
  const size_t end = text.find(unit);
  if (end == StringRef::npos)
    return 0;
  StringRef before = text.take_front(end).rtrim();
  StringRef digits = before.drop_front(before.find_last_not_of("0123456789") + 1);
  uint32_t value = 0;
  return digits.getAsInteger(10, value) ? 0 : value;
}

void nvidia::readResources(StringRef log, Assembled &result) {
  llvm::SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    // "8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads"; "Used 14 registers, ..."
    result.stackBytes = std::max(result.stackBytes, numberBefore(line, " bytes stack frame"));
    result.spillBytes = std::max(result.spillBytes, numberBefore(line, " bytes spill stores"));
    // "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to ..."
    if (const size_t note = line.find("(C75"); note != StringRef::npos && result.serialisationNote.empty())
      result.serialisationNote = line.drop_front(note).trim().str();
    if (line.contains("Used "))
      result.registers = std::max(result.registers, numberBefore(line, " registers"));
  }
}

AssemblyError nvidia::readError(StringRef log) {
  AssemblyError error;
  llvm::SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    // "ptxas kernel.ptx, line 8; error   : Modifier ..." or "ptxas fatal   : ..."
    const size_t at = line.find("error"), fatal = line.find("fatal");
    if (at == StringRef::npos && fatal == StringRef::npos)
      continue;
    StringRef rest = line.drop_front(at != StringRef::npos ? at : fatal);
    error.message = rest.substr(rest.find(':') + 1).trim().str();
    if (const size_t position = line.find(", line "); position != StringRef::npos)
      (void)line.drop_front(position + 7).consumeInteger(10, error.line);
    return error;
  }
  error.message = log.trim().str();
  return error;
}

bool nvidia::isTooOld(StringRef log) {
  return log.contains("is not defined for option 'gpu-name'") || log.contains("Unsupported .version");
}

static std::vector<std::string> wordsOf(StringRef text) {
  llvm::SmallVector<StringRef> words;
  llvm::SplitString(text, words);
  return {words.begin(), words.end()};
}

std::optional<Assembled> nvidia::assemble(StringRef ptx, const Arch &arch, const Tools &tools, StringRef options,
                                          AssemblyError &error, FirstTool first) {
  const std::vector<std::string> words = wordsOf(options);
  Assembled result;
  std::string log;
  ToolOutcome outcome = ToolOutcome::Absent;
  auto run = [&](auto tool, const std::string &path) {
    if (arch.hasToolchain && outcome == ToolOutcome::Absent && !path.empty())
      outcome = tool(ptx, arch, words, tools, result, log);
  };
  // nvJitLink compiles for a link, where setmaxnreg has no effect.
  const bool prefersPtxas = first == FirstTool::Ptxas || !words.empty() || ptx.contains("setmaxnreg") ||
                            (!tools.nvJitLink.empty() && nvJitLinkInitialisesCuda());
  if (prefersPtxas)
    run(runPtxas, tools.ptxas);
  run(runNvJitLink, tools.nvJitLink);
  if (!prefersPtxas)
    run(runPtxas, tools.ptxas);
  switch (outcome) {
  case ToolOutcome::Done:
    readResources(log, result);
    return result;
  case ToolOutcome::Refused:
    error = readError(log);
    return std::nullopt;
  case ToolOutcome::Late:
    error.isLate = true;
    return std::nullopt;
  case ToolOutcome::Absent:
    if (words.empty())
      return Assembled{.cubin = "", .tool = "driver", .toolVersion = "", .serialisationNote = ""};
    error.isRefusal = false;
    return std::nullopt;
  }
  llvm_unreachable("all outcomes are listed");
}
