// Leaves a guarded thread from inside LLVM's fatal error handler by a jump to its start.
// SPDX-License-Identifier: MIT
#include "compiler/support/FatalGuard.h"

#include "llvm/Support/ErrorHandling.h"

#include <csetjmp>
#include <csignal>
#include <mutex>
#include <pthread.h>

using namespace nereid;

// Code generation recurses over expressions; untouched pages cost nothing.
static constexpr size_t stackBytes = size_t{256} << 20;

namespace {
struct Guard {
  llvm::function_ref<void()> work;
  std::jmp_buf start;
  std::string reason;
  bool failed = false;
};
} // namespace

static thread_local Guard *activeGuard = nullptr;

static void onFatalError(void *, const char *reason, bool) {
  Guard *guard = activeGuard;
  if (!guard)
    return; // not ours: LLVM goes on to end the process
  guard->reason = reason ? reason : "unknown fatal error";
  guard->failed = true;
  std::longjmp(guard->start, 1);
}

static void *runOnThread(void *opaque) {
  auto *guard = static_cast<Guard *>(opaque);
  activeGuard = guard;
  if (setjmp(guard->start) == 0)
    guard->work();
  activeGuard = nullptr;
  return nullptr;
}

std::optional<std::string> support::runGuarded(llvm::function_ref<void()> work) {
  static std::once_flag installed;
  std::call_once(installed, [] {
    llvm::install_fatal_error_handler(onFatalError);
    llvm::install_bad_alloc_error_handler(onFatalError);
  });

  Guard guard{work, {}, {}, false};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stackBytes);
  // Signals are for the threads of the host, which knows what to do with them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int failure = pthread_create(&thread, &attributes, runOnThread, &guard);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (failure != 0) // no thread to be had: the work is still wanted
    runOnThread(&guard);
  else
    pthread_join(thread, nullptr);
  if (guard.failed)
    return guard.reason;
  return std::nullopt;
}
