// Starts a program by vfork, since posix_spawn cannot set PR_SET_PDEATHSIG.
// SPDX-License-Identifier: MIT
//
// It kills the child when the thread that started it ends. That thread waits for the child, so that only the end of the
// process ends it earlier. A limit of CPU time covers programs that start another one, which inherits it.
#include "compiler/target/nvidia/codegen/ToolProcess.h"

#include "compiler/support/FatalGuard.h"

#include "llvm/ADT/SmallVector.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::nvidia;
using std::chrono::steady_clock;

static constexpr int kAskMs = 20;
/// Multiplies the time limit to a CPU-time limit, since a program may have several threads.
static constexpr uint32_t kThreadsCounted = 4;

namespace {
/// All data of the child, prepared before vfork, since the child may only make system calls.
struct Command {
  char *const *arguments;
  llvm::ArrayRef<Redirection> files;
  uint32_t secondsLimit;
  pid_t parent;
};
} // namespace

/// Resets signal handlers, which must not run on this process's memory in the child.
static void dropHandlers() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL)
      continue;
    action.sa_handler = SIG_DFL;
    action.sa_flags = 0;
    sigaction(number, &action, nullptr);
  }
}

[[noreturn]] static void becomeTool(const Command &command) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != command.parent) // the parent ended before prctl
    _exit(127);
  setpgid(0, 0);
  dropHandlers();
  for (const Redirection &file : command.files)
    dup2(file.from, file.to);
  if (command.secondsLimit) {
    const rlim_t seconds = rlim_t{command.secondsLimit} * kThreadsCounted;
    const rlimit limit = {seconds, seconds + 1};
    setrlimit(RLIMIT_CPU, &limit);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  char *environment[] = {nullptr};
  execve(command.arguments[0], command.arguments, environment);
  _exit(127);
}

/// Returns the child, which already runs the tool; -1 where it could not start.
static pid_t start(const Command &command) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = vfork(); // NOLINT: the child makes system calls alone
  if (child == 0)
    becomeTool(command);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return child;
}

/// Sleeps until the child ends, or for a moment. Kernels before 5.3 have no file descriptors of processes.
static void sleepBeside(int childFile) {
  if (childFile >= 0) {
    pollfd watched = {childFile, POLLIN, 0};
    poll(&watched, 1, kAskMs);
  } else {
    usleep(1000);
  }
}

static ToolEnd endOf(int status) {
  if (WIFSIGNALED(status))
    return {ToolEnd::Kind::Killed, WTERMSIG(status)};
  const int number = WEXITSTATUS(status);
  return {number == 127 ? ToolEnd::Kind::NotStarted : ToolEnd::Kind::Exited, number};
}

static ToolEnd waitFor(pid_t child, int childFile, uint32_t secondsLimit) {
  const auto deadline = steady_clock::now() + std::chrono::seconds(secondsLimit);
  for (int status = 0;; sleepBeside(childFile)) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child)
      return endOf(status);
    if (ended < 0 && errno != EINTR) // the host reaps every child, so the status is lost
      return {ToolEnd::Kind::NotStarted, 0};
    const bool isLate = secondsLimit && steady_clock::now() > deadline;
    if (!isLate && !support::isCancelled())
      continue;
    kill(-child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
      ;
    return {ToolEnd::Kind::Late, 0};
  }
}

ToolEnd nvidia::runTool(llvm::ArrayRef<const char *> arguments, llvm::ArrayRef<Redirection> files,
                        uint32_t secondsLimit) {
  llvm::SmallVector<char *> texts;
  for (const char *argument : arguments)
    texts.push_back(const_cast<char *>(argument));
  texts.push_back(nullptr);
  const pid_t child = start({texts.data(), files, secondsLimit, getpid()});
  if (child < 0)
    return {};
  const int childFile = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  const ToolEnd end = waitFor(child, childFile, secondsLimit);
  if (childFile >= 0)
    close(childFile);
  return end;
}
