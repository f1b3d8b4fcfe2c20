// Eight processes load and store one folder while they are killed and their files are harmed.
// SPDX-License-Identifier: MIT
//
// Every artifact that a load returns must be, to the byte, the one that belongs
// to its key, and no process may end in a way that was not ordered.
#include "jit/DiskCache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nereid;
namespace fs = std::filesystem;

static constexpr int kProcesses = 8;
static constexpr int kSteps = 200;
static constexpr uint32_t kKeys = 100;

namespace {

/// Counters in memory that all processes share.
struct Tally {
  std::atomic<uint64_t> steps[kProcesses]; ///< done by each worker's successive lives
  std::atomic<uint64_t> hits, misses, stores, wrong, kills, harmed;
};

} // namespace

static std::string keyOf(uint32_t i) {
  char key[33];
  std::snprintf(key, sizeof key, "%08x%08x%08x%08x", i * 2654435761u, i, ~i, i * 40503u);
  return key;
}

static artifact::Artifact artifactOf(uint32_t i) {
  std::mt19937 random(i);
  artifact::Artifact artifact;
  artifact.name = artifact.entry = "kernel" + std::to_string(i);
  artifact.hash = keyOf(i);
  artifact.binary.resize(1000 + random() % 60000);
  for (char &byte : artifact.binary)
    byte = static_cast<char>(random());
  artifact.stages = {{"ttir", std::string(random() % 50000, static_cast<char>('a' + i % 26))}};
  return artifact;
}

static void work(const std::string &dir, uint32_t seed, Tally &tally, std::atomic<uint64_t> &steps) {
  std::mt19937 random(seed);
  jit::DiskCache cache;
  cache.setLimit(8 << 20);
  while (steps < kSteps) {
    const uint32_t i = random() % kKeys;
    if (const auto found = cache.load(dir, keyOf(i))) {
      ++tally.hits;
      tally.wrong += *found != artifactOf(i);
    } else {
      ++tally.misses;
      tally.stores += cache.store(dir, keyOf(i), artifactOf(i));
    }
    if (random() % 200 == 0)
      cache.evict(dir);
    ++steps;
  }
}

static pid_t start(const std::string &dir, uint32_t seed, Tally &tally, int worker) {
  const pid_t child = fork();
  if (child == 0) {
    work(dir, seed, tally, tally.steps[worker]);
    _exit(0);
  }
  return child;
}

/// Truncates or overwrites a byte of some file, half-written ones included.
static void harmOne(const std::string &dir, std::mt19937 &random, Tally &tally) {
  std::vector<fs::path> files;
  std::error_code gone;
  for (fs::recursive_directory_iterator at(dir, gone), end; at != end; at.increment(gone)) {
    if (gone)
      break;
    if (at->is_regular_file(gone))
      files.push_back(at->path());
  }
  if (files.empty())
    return;
  const fs::path &file = files[random() % files.size()];
  const auto size = fs::file_size(file, gone);
  if (gone || size == 0)
    return;
  if (random() % 2) {
    fs::resize_file(file, random() % size, gone);
  } else if (FILE *stream = std::fopen(file.c_str(), "r+b")) {
    std::fseek(stream, static_cast<long>(random() % size), SEEK_SET);
    std::fputc(static_cast<int>(random() & 255), stream);
    std::fclose(stream);
  }
  ++tally.harmed;
}

/// Whether a worker that ended did so in a way that it may.
static bool isExpectedEnd(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL;
}

/// Keeps all workers alive until each has made its steps; false on a crash.
static bool supervise(const std::string &dir, std::mt19937 &random, Tally &tally) {
  pid_t workers[kProcesses];
  for (int i = 0; i < kProcesses; ++i)
    workers[i] = start(dir, random(), tally, i);
  bool good = true;
  for (int running = kProcesses; running > 0;) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
    const int victim = static_cast<int>(random() % kProcesses);
    if (workers[victim] > 0 && random() % 3 == 0 && kill(workers[victim], SIGKILL) == 0)
      ++tally.kills;
    if (random() % 4 == 0)
      harmOne(dir, random, tally);
    for (int i = 0; i < kProcesses; ++i) {
      int status = 0;
      if (workers[i] <= 0 || waitpid(workers[i], &status, WNOHANG) != workers[i])
        continue;
      good = good && isExpectedEnd(status);
      const bool isDone = tally.steps[i] >= kSteps;
      workers[i] = isDone ? 0 : start(dir, random(), tally, i);
      running -= isDone;
    }
  }
  return good;
}

TEST(CacheStress, no_wrong_artifact_and_no_crash) {
  std::mt19937 random{std::random_device()()};
  char folder[] = "/tmp/nereid-stress-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  void *shared = mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto &tally = *new (shared) Tally();
  EXPECT_TRUE(supervise(folder, random, tally)) << "a worker crashed";
  fs::remove_all(folder);
  EXPECT_EQ(tally.wrong, 0u);
  // Without these the test would have proved nothing.
  EXPECT_GT(tally.hits, 100u);
  EXPECT_GT(tally.stores, 50u);
  EXPECT_GT(tally.kills, 0u);
  EXPECT_GT(tally.harmed, 0u);
  std::printf("%d processes x %d steps: %llu hits, %llu stores, %llu kills, %llu files harmed\n", kProcesses, kSteps,
              static_cast<unsigned long long>(tally.hits), static_cast<unsigned long long>(tally.stores),
              static_cast<unsigned long long>(tally.kills), static_cast<unsigned long long>(tally.harmed));
  munmap(shared, sizeof(Tally));
}
