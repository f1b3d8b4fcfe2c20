// The main program of a CPython that runs on an older glibc, and what Debian 12's archives of it ask of newer ones; for
// test/scripts/old_glibc_check alone.
// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

int Py_BytesMain(int count, char **words);

int main(int count, char **words) { return Py_BytesMain(count, words); }

void arc4random_buf(void *bytes, size_t size) {
  if (getrandom(bytes, size, 0) != (ssize_t)size)
    abort();
}

// As on a kernel without it: the caller closes one file after another.
int close_range(unsigned first, unsigned last, int flags) {
  (void)first, (void)last, (void)flags;
  errno = ENOSYS;
  return -1;
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  long nanoseconds = real.tv_nsec + until->tv_nsec - now.tv_nsec;
  time_t seconds = real.tv_sec + until->tv_sec - now.tv_sec;
  for (; nanoseconds < 0; nanoseconds += 1000000000)
    --seconds;
  for (; nanoseconds >= 1000000000; nanoseconds -= 1000000000)
    ++seconds;
  const struct timespec left = {.tv_sec = seconds, .tv_nsec = nanoseconds};
  return sem_timedwait(semaphore, &left);
}
