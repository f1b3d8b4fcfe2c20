// Runs ptxas as a process whose files lie in memory.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/AssembleTools.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::nvidia;

namespace {

/// A file that lives in memory and goes with its owner. Its number is above those that a child's files get.
class MemoryFile {
public:
  MemoryFile() {
    const int made = memfd_create("nereid", MFD_CLOEXEC);
    fd = made < 0 ? -1 : fcntl(made, F_DUPFD_CLOEXEC, 16);
    if (made >= 0)
      close(made);
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

/// Files of the child, by their numbers there.
struct Redirection {
  int from, to;
};

} // namespace

/// The exit status of `arguments`, run with an empty environment; -1 where it could not be started or was killed.
static int run(llvm::ArrayRef<const char *> arguments, llvm::ArrayRef<Redirection> files) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const Redirection &file : files)
    posix_spawn_file_actions_adddup2(&actions, file.from, file.to);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none; // the threads that compile have all signals blocked
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  llvm::SmallVector<char *> texts;
  for (const char *argument : arguments)
    texts.push_back(const_cast<char *>(argument));
  texts.push_back(nullptr);
  char *environment[] = {nullptr};
  pid_t child = -1;
  const int failure = posix_spawn(&child, texts.front(), &actions, &attributes, texts.data(), environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// "13.0" of a ptxas; asked once.
static std::string versionOf(const std::string &program) {
  static std::mutex guard;
  static llvm::StringMap<std::string> known;
  const std::lock_guard lock(guard);
  auto [place, isNew] = known.try_emplace(program);
  if (!isNew)
    return place->second;
  const MemoryFile text;
  run({program.c_str(), "--version"}, {{text.number(), 1}});
  const std::string answer = text.contents();
  // "Cuda compilation tools, release 13.0, V13.0.88"
  llvm::StringRef release = llvm::StringRef(answer).split("release ").second;
  place->second = release.take_until([](char c) { return c == ','; }).str();
  return place->second;
}

ToolOutcome nvidia::runPtxas(llvm::StringRef ptx, const Arch &arch, llvm::ArrayRef<std::string> options,
                             const std::string &program, Assembled &result, std::string &log) {
  const MemoryFile input, output, messages;
  if (output.number() < 0 || messages.number() < 0 || !input.write(ptx))
    return ToolOutcome::Absent;
  const std::string target = std::string("--gpu-name=") + arch.cpu;
  llvm::SmallVector<const char *> arguments = {program.c_str(), "-lineinfo", "-v", target.c_str(), "/proc/self/fd/3",
                                               "-o", "/proc/self/fd/4"};
  for (const std::string &word : options)
    arguments.push_back(word.c_str());
  const int status = run(arguments,
                         {{input.number(), 3}, {output.number(), 4}, {messages.number(), 1}, {messages.number(), 2}});
  log = messages.contents();
  if ((status == -1 && log.empty()) || isTooOld(log))
    return ToolOutcome::Absent;
  if (status != 0)
    return ToolOutcome::Refused;
  result.cubin = output.contents();
  result.tool = "ptxas";
  result.toolVersion = versionOf(program);
  return result.cubin.empty() ? ToolOutcome::Absent : ToolOutcome::Done;
}
