// Functions that glibc has had since 2.30 and later, for libraries that also run on 2.28; linked into each of them, not
// exported.
// SPDX-License-Identifier: MIT
//
// The host's headers and Debian's archives of LLVM and libstdc++ reference these by name. stat() and related functions,
// which became symbols of the library in 2.33, come from libc_nonshared.a next to the stubs.
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define NEWER __attribute__((visibility("hidden")))

// 2.32. False is always correct: reference counts are then atomic from the start.
NEWER char __libc_single_threaded = 0;

// 2.36. Used by libstdc++'s random_device and LLVM's names of temporary files.
NEWER uint32_t arc4random(void) {
  uint32_t word;
  while (getrandom(&word, sizeof word, 0) != (ssize_t)sizeof word)
    if (errno != EINTR)
      abort();
  return word;
}

// 2.33. The older form counts in int: statistics of the process, used only by LLVM's timers.
NEWER struct mallinfo2 mallinfo2(void) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  const struct mallinfo old = mallinfo();
#pragma clang diagnostic pop
  return (struct mallinfo2){
      .arena = (unsigned)old.arena,
      .ordblks = (unsigned)old.ordblks,
      .smblks = (unsigned)old.smblks,
      .hblks = (unsigned)old.hblks,
      .hblkhd = (unsigned)old.hblkhd,
      .usmblks = (unsigned)old.usmblks,
      .fsmblks = (unsigned)old.fsmblks,
      .uordblks = (unsigned)old.uordblks,
      .fordblks = (unsigned)old.fordblks,
      .keepcost = (unsigned)old.keepcost,
  };
}

// Converts `until` from `clock` to the clock that pthread's older functions use.
static struct timespec onRealtime(clockid_t clock, const struct timespec *until) {
  if (clock == CLOCK_REALTIME)
    return *until;
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  int64_t nanoseconds = (int64_t)real.tv_nsec + until->tv_nsec - now.tv_nsec;
  time_t seconds = real.tv_sec + until->tv_sec - now.tv_sec;
  for (; nanoseconds < 0; nanoseconds += 1000000000)
    --seconds;
  for (; nanoseconds >= 1000000000; nanoseconds -= 1000000000)
    ++seconds;
  return (struct timespec){.tv_sec = seconds, .tv_nsec = nanoseconds};
}

// 2.30. A change of the system's time during the wait makes it shorter or longer, as before libstdc++ used these.
NEWER int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
  const struct timespec real = onRealtime(clock, until);
  return pthread_mutex_timedlock(mutex, &real);
}

NEWER int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                                 const struct timespec *until) {
  const struct timespec real = onRealtime(clock, until);
  return pthread_cond_timedwait(condition, mutex, &real);
}
