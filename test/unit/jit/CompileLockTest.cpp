// Tests that one caller compiles a key at a time, and that nobody waits for the dead.
// SPDX-License-Identifier: MIT
#include "jit/CompileLock.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using nereid::jit::CompileLock;
using Outcome = CompileLock::Outcome;
using Lock = std::unique_ptr<CompileLock>;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr char kKey[] = "00112233";

class CompileLockTest : public testing::Test {
protected:
  void SetUp() override {
    char folder[] = "/tmp/nereid-lock-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    root = folder;
    dir = root + "/cache";
  }
  void TearDown() override { fs::remove_all(root); }

  Outcome take(Lock &lock, std::chrono::milliseconds limit = 20s) const {
    return CompileLock::take(dir, kKey, {.limit = limit, .isCancelled = {}}, lock);
  }
  size_t files() const {
    size_t count = 0;
    for (const auto &entry : fs::recursive_directory_iterator(dir))
      count += entry.is_regular_file();
    return count;
  }

  std::string root, dir;
};

/// A process that runs `work`, then waits until it is killed; returns after the work.
pid_t startProcess(const std::function<void()> &work) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    work();
    EXPECT_EQ(write(ready[1], "x", 1), 1);
    sleep(100);
    _exit(0);
  }
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  return child;
}

void killProcess(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

} // namespace

TEST_F(CompileLockTest, one_owner_leaves_no_file) {
  Lock lock;
  EXPECT_EQ(take(lock), Outcome::Owned);
  EXPECT_EQ(files(), 1u);
  lock.reset();
  EXPECT_EQ(files(), 0u);
  EXPECT_EQ(take(lock), Outcome::Owned);
}

TEST_F(CompileLockTest, another_key_is_free) {
  Lock lock, other;
  ASSERT_EQ(take(lock), Outcome::Owned);
  EXPECT_EQ(CompileLock::take(dir, "44556677", {}, other), Outcome::Owned);
}

TEST_F(CompileLockTest, a_thread_waits_for_the_owner) {
  Lock lock;
  ASSERT_EQ(take(lock), Outcome::Owned);
  std::atomic<bool> isReleased{false};
  std::thread waiting([&] {
    Lock mine;
    EXPECT_EQ(take(mine), Outcome::Released);
    EXPECT_TRUE(isReleased);
    EXPECT_FALSE(mine);
  });
  std::this_thread::sleep_for(50ms);
  isReleased = true;
  lock.reset();
  waiting.join();
}

TEST_F(CompileLockTest, a_killed_owner_is_replaced) {
  const pid_t owner = startProcess([&] {
    static Lock lock;
    take(lock);
  });
  Lock lock;
  EXPECT_EQ(take(lock, 20ms), Outcome::None);
  std::thread waiting([&] { EXPECT_EQ(take(lock), Outcome::Owned); });
  std::this_thread::sleep_for(50ms);
  killProcess(owner);
  waiting.join();
}

TEST_F(CompileLockTest, a_child_of_a_killed_owner_does_not_keep_it) {
  int pids[2];
  ASSERT_EQ(pipe(pids), 0);
  const pid_t owner = startProcess([&] {
    static Lock lock;
    take(lock);
    const pid_t child = startProcess([] {});
    EXPECT_EQ(write(pids[1], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  });
  pid_t child = 0;
  ASSERT_EQ(read(pids[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  killProcess(owner);
  Lock lock;
  EXPECT_EQ(take(lock, 100ms), Outcome::Owned);
  kill(child, SIGKILL);
}

TEST_F(CompileLockTest, the_end_of_a_child_releases_nothing) {
  static Lock lock;
  ASSERT_EQ(take(lock), Outcome::Owned);
  const pid_t child = fork();
  if (child == 0) {
    lock.reset();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(files(), 1u);
  Lock other;
  EXPECT_EQ(take(other, 20ms), Outcome::None);
  lock.reset();
}

TEST_F(CompileLockTest, the_wait_is_limited_and_can_be_cancelled) {
  Lock lock, other;
  ASSERT_EQ(take(lock), Outcome::Owned);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(take(other, 30ms), Outcome::None);
  int asked = 0;
  EXPECT_EQ(CompileLock::take(dir, kKey, {.limit = 20s, .isCancelled = [&] { return ++asked == 3; }}, other),
            Outcome::Cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST_F(CompileLockTest, a_cleared_folder_keeps_nobody_waiting) {
  Lock lock, other;
  ASSERT_EQ(take(lock), Outcome::Owned);
  fs::remove_all(dir);
  EXPECT_EQ(take(other), Outcome::Owned) << "of a new file";
}

TEST_F(CompileLockTest, without_a_folder_there_is_none) {
  Lock lock;
  EXPECT_EQ(CompileLock::take("", kKey, {}, lock), Outcome::None);
  EXPECT_EQ(CompileLock::take(dir, "../../x", {}, lock), Outcome::None);
  std::ofstream(dir) << "a file";
  EXPECT_EQ(take(lock), Outcome::None);
}

TEST_F(CompileLockTest, a_link_is_not_followed) {
  fs::create_directories(dir + "/00");
  fs::create_symlink(root + "/elsewhere", dir + "/00/.aside-lock-" + kKey);
  Lock lock;
  EXPECT_EQ(take(lock), Outcome::None);
  EXPECT_FALSE(fs::exists(root + "/elsewhere"));
}
