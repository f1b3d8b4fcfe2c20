// A compilation under a limit of address space goes on after a failed allocation, until it asks.
// SPDX-License-Identifier: MIT
#include "compiler/support/MemoryReserve.h"

#include "compiler/support/FatalGuard.h"

#include "llvm/Support/MemAlloc.h"
#include "gtest/gtest.h"

#include <functional>
#include <memory>
#include <vector>

#include <csignal>
#include <cstdio>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nereid::support;

static constexpr size_t kMiB = size_t{1} << 20;

static void limitFreeSpace(size_t bytes) {
  long pages = 0;
  if (FILE *file = fopen("/proc/self/statm", "r")) {
    if (fscanf(file, "%ld", &pages) != 1)
      pages = 0;
    fclose(file);
  }
  const size_t limit = static_cast<size_t>(pages) * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit limits{limit, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limits);
}

/// The exit status of a forked process with so much free space; -1 where it did not end by itself.
static int withFreeSpace(size_t bytes, const std::function<int()> &work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    limitFreeSpace(bytes);
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Takes memory until less than a MiB is free.
static int exhaust() {
  int taken = 0;
  while (void *memory = malloc(256 * 1024)) {
    *static_cast<volatile char *>(memory) = 1;
    if (++taken > 100000)
      return 0;
  }
  return taken;
}

TEST(MemoryReserve, nothing_is_short_without_a_limit) {
  const MemoryReserve reserve;
  EXPECT_FALSE(isMemoryShort());
  EXPECT_FALSE(openMemoryReserve());
}

TEST(MemoryReserve, a_failed_allocation_succeeds_once_and_the_work_is_told) {
  EXPECT_EQ(withFreeSpace(200 * kMiB,
                          [] {
                            const MemoryReserve reserve;
                            if (isMemoryShort() || exhaust() == 0)
                              return 1;
                            const auto memory = std::make_unique<std::vector<char>>(4 * kMiB);
                            return memory->size() == 4 * kMiB && isMemoryShort() ? 0 : 2;
                          }),
            0);
}

TEST(MemoryReserve, little_free_space_is_a_shortage_from_the_start) {
  for (const size_t free : {kMiB, 30 * kMiB, 70 * kMiB})
    EXPECT_EQ(withFreeSpace(free,
                            [] {
                              const MemoryReserve reserve;
                              return isMemoryShort() ? 0 : 1;
                            }),
              0)
        << free;
}

TEST(MemoryReserve, an_inner_reserve_is_the_outer_one) {
  EXPECT_EQ(withFreeSpace(100 * kMiB,
                          [] {
                            const MemoryReserve outer;
                            const MemoryReserve inner;
                            return isMemoryShort() ? 1 : 0;
                          }),
            0);
}

TEST(MemoryReserve, guarded_work_ends_where_it_holds_no_lock) {
  EXPECT_EQ(withFreeSpace(900 * kMiB,
                          [] {
                            bool isBefore = false, isAfter = false;
                            const GuardedEnd end = runGuarded(
                                [&] {
                                  exitIfCancelled();
                                  isBefore = true;
                                  exhaust();
                                  exitIfCancelled();
                                  isAfter = true;
                                },
                                nullptr);
                            return end.isOutOfMemory && end.failure && isBefore && !isAfter && !isCompilerLost() ? 0
                                                                                                                 : 1;
                          }),
            0);
}

static void *volatile taken; // a call whose result nobody reads may be left out

TEST(MemoryReserve, a_failure_inside_of_llvm_loses_the_compiler) {
  EXPECT_EQ(withFreeSpace(900 * kMiB,
                          [] {
                            const GuardedEnd end =
                                runGuarded([] { taken = llvm::safe_malloc(size_t{1} << 60); }, nullptr);
                            return end.isOutOfMemory && isCompilerLost() ? 0 : 1;
                          }),
            0);
}
