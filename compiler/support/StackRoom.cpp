// Measures a thread's stack and starts threads with large ones.
// SPDX-License-Identifier: MIT
#include "compiler/support/StackRoom.h"

#include "process/AddressSpace.h"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <pthread.h>

using namespace nereid;

// Code generation recurses over expressions; untouched pages cost nothing.
static constexpr size_t stackBytes = size_t{256} << 20;
/// The stack where the address space is limited; deep expressions are an error of the front end.
static constexpr size_t smallStackBytes = size_t{16} << 20;
/// A text of the deepest nesting that the parsers accept needs less than half of it.
static constexpr size_t roomBytes = size_t{4} << 20;

/// The lowest address of this thread's stack; 0 where it cannot be determined.
static uintptr_t stackEnd() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return 0;
  void *lowest = nullptr;
  size_t bytes = 0;
  const int failure = pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_destroy(&attributes);
  return failure ? 0 : reinterpret_cast<uintptr_t>(lowest);
}

bool support::hasStackRoom() {
  thread_local const uintptr_t end = stackEnd();
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - end >= roomBytes;
}

bool support::startThread(pthread_t &thread, void *(*run)(void *), void *argument) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, process::hasAddressSpace(2 * stackBytes) ? stackBytes : smallStackBytes);
  // Signals are handled by the threads of the host, but a fault by its own: blocked, it would end the process before a
  // handler that reports it.
  sigset_t others, before;
  sigfillset(&others);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
    sigdelset(&others, fault);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  const int failure = pthread_create(&thread, &attributes, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return failure == 0;
}

void support::runWithStackRoom(llvm::function_ref<void()> work) {
  pthread_t thread;
  auto run = [](void *work) -> void * {
    (*static_cast<llvm::function_ref<void()> *>(work))();
    return nullptr;
  };
  if (!hasStackRoom() && startThread(thread, run, &work))
    pthread_join(thread, nullptr);
  else
    work();
}
