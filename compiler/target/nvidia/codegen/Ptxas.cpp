// Runs ptxas as a process with its files in memory.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/codegen/PtxAssemblerTools.h"

#include "compiler/target/nvidia/codegen/ToolProcess.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::nvidia;

namespace {

/// A file in memory that is closed with its owner. Its descriptor is above those that a child's files get.
class MemoryFile {
public:
  MemoryFile() {
    const int low = memfd_create("nereid", MFD_CLOEXEC);
    fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 16);
    if (low >= 0)
      close(low);
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  ~MemoryFile() {
    if (fd >= 0)
      close(fd);
  }

  int number() const { return fd; }
  bool write(llvm::StringRef text) const {
    while (!text.empty()) {
      const ssize_t done = ::write(fd, text.data(), text.size());
      if (done <= 0)
        return false;
      text = text.drop_front(static_cast<size_t>(done));
    }
    return fd >= 0;
  }
  std::string contents() const {
    const off_t size = lseek(fd, 0, SEEK_END);
    std::string bytes(size > 0 ? static_cast<size_t>(size) : 0, '\0');
    const ssize_t got = pread(fd, bytes.data(), bytes.size(), 0);
    return got == static_cast<ssize_t>(bytes.size()) ? bytes : std::string();
  }

private:
  int fd = -1;
};

} // namespace

static constexpr uint32_t kVersionSeconds = 20;

/// The version of a ptxas, as "13.0"; cached.
static std::string versionOf(const std::string &program) {
  static std::mutex guard;
  static llvm::StringMap<std::string> known;
  const std::lock_guard lock(guard);
  auto [entry, isNew] = known.try_emplace(program);
  if (!isNew)
    return entry->second;
  const MemoryFile text;
  runTool({program.c_str(), "--version"}, {{text.number(), 1}}, kVersionSeconds);
  const std::string answer = text.contents();
  // "Cuda compilation tools, release 13.0, V13.0.88"
  llvm::StringRef release = llvm::StringRef(answer).split("release ").second;
  entry->second = release.take_until([](char c) { return c == ','; }).str();
  return entry->second;
}

ToolOutcome nvidia::runPtxas(llvm::StringRef ptx, const Arch &arch, llvm::ArrayRef<std::string> options,
                             const Tools &tools, Assembled &result, std::string &log) {
  const MemoryFile input, output, messages;
  if (output.number() < 0 || messages.number() < 0 || !input.write(ptx))
    return ToolOutcome::Absent;
  const std::string target = std::string("--gpu-name=") + arch.cpu;
  llvm::SmallVector<const char *> arguments = {
      tools.ptxas.c_str(), "-lineinfo", "-v", target.c_str(), "/proc/self/fd/3", "-o", "/proc/self/fd/4"};
  for (const std::string &word : options)
    arguments.push_back(word.c_str());
  const ToolEnd end =
      runTool(arguments, {{input.number(), 3}, {output.number(), 4}, {messages.number(), 1}, {messages.number(), 2}},
              tools.secondsLimit);
  log = messages.contents();
  if (end.kind == ToolEnd::Kind::Late)
    return ToolOutcome::Late;
  if (end.kind == ToolEnd::Kind::Killed) {
    log += "fatal: `" + tools.ptxas + "` was ended by signal " + std::to_string(end.number) + "\n";
    return ToolOutcome::Refused;
  }
  if ((end.kind == ToolEnd::Kind::NotStarted && log.empty()) || isTooOld(log))
    return ToolOutcome::Absent;
  if (end.number != 0)
    return ToolOutcome::Refused;
  result.cubin = output.contents();
  result.tool = "ptxas";
  result.toolVersion = versionOf(tools.ptxas);
  return result.cubin.empty() ? ToolOutcome::Absent : ToolOutcome::Done;
}
