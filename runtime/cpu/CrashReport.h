// Names the kernel in whose code the process crashes.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <pthread.h>

namespace nereid::runtime {

/// Handles the signals of crashes from now on, before the handlers that the process has; the first call counts.
void watchCrashes();

/// A copy of the name that is never freed: a signal handler may read it at any time.
const char *lastingName(const std::string &name);

/// Remembers a kernel as one of the latest that were launched.
void noteLaunch(const char *lastingName);

/// During its lifetime, this thread runs code of that kernel.
class RunningKernel {
public:
  explicit RunningKernel(const char *lastingName) : outer(current()) { set(lastingName); }
  ~RunningKernel() { set(outer); }
  RunningKernel(const RunningKernel &) = delete;
  RunningKernel &operator=(const RunningKernel &) = delete;

  /// What the calling thread runs, or null.
  static const char *current() { return key ? static_cast<const char *>(pthread_getspecific(*key)) : nullptr; }

private:
  // Reading it allocates nothing, whatever thread reads it: a signal handler may not. The first access to a
  // `thread_local` variable of a library that was loaded later does.
  // Nothing where the process has no more keys: then no kernel is named.
  static const std::optional<pthread_key_t> key;
  static void set(const char *lastingName);
  const char *const outer;
};

} // namespace nereid::runtime
