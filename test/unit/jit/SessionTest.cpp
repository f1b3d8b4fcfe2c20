// Tests the steps of a session: keys, the cache, the host's lock, and the end by an interrupt.
// SPDX-License-Identifier: MIT
#include "jit/Session.h"

#include "jit/FileJob.h"
#include "jit/StoreQueue.h"

#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace nereid;
using jit::Job, jit::Session;

static const char kStore[] = "module { tt.func public @kernel(%x: !tt.ptr<i32>) {\n"
                             "  %c = arith.constant 7 : i32\n"
                             "  tt.store %x, %c : !tt.ptr<i32>\n"
                             "  tt.return } }";
static const char kSource[] = "import triton\nimport triton.language as tl\n"
                              "@triton.jit\ndef kernel(x):\n    tl.store(x, 7)\n";

namespace {
/// A folder of its own.
class SessionTest : public testing::Test {
protected:
  SessionTest() { EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("session", folder)); }
  ~SessionTest() override { llvm::sys::fs::remove_directories(folder); }
  std::string cache() const { return (folder + "/cache").str(); }

  /// The job of kSource.
  jit::FileJob sourceJob() {
    const std::string path = (folder + "/kernel.py").str();
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << kSource;
    std::string problem;
    auto target = driver::resolveTarget("cpu", "x86-64-v3", problem);
    auto file = jit::readJob({path, "kernel", "*i32"}, {}, *target, diagnostics, problem);
    EXPECT_EQ(problem + diagnostics.render(), "");
    return std::move(*file);
  }

  llvm::SmallString<128> folder;
  support::DiagnosticEngine diagnostics;
};
} // namespace

static Job irJob(const std::string &backend = "cpu", const std::string &arch = "x86-64-v3") {
  Job job;
  std::string reason;
  job.kernel.target = *driver::resolveTarget(backend, arch, reason);
  job.ir = jit::IrText{"ttir", kStore, "kernel.ttir"};
  return job;
}

TEST_F(SessionTest, a_result_is_found_again) {
  const Session session{.cacheDir = cache()};
  Job job = irJob(), same = irJob();
  EXPECT_FALSE(session.find(job));
  const auto first = session.compile(job, diagnostics), second = session.compile(same, diagnostics);
  ASSERT_TRUE(first && second) << diagnostics.render();
  EXPECT_FALSE(first->isFromCache);
  EXPECT_FALSE(first->times.empty());
  EXPECT_TRUE(second->isFromCache);
  EXPECT_EQ(*second->artifact, *first->artifact);
  EXPECT_EQ(first->artifact->hash, Session::keyOf(job));
  const Session writing{.cacheDir = cache(), .readsCache = false};
  EXPECT_FALSE(writing.find(same));
}

TEST_F(SessionTest, a_child_that_ends_by_exit_has_stored_its_result) {
  const Session session{.cacheDir = cache(), .storesLater = true};
  Job job = irJob();
  const pid_t child = fork();
  if (child == 0)
    _exit(session.build(job, diagnostics) ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(session.find(job));
}

TEST_F(SessionTest, threads_that_need_the_same_compile_it_once) {
  const Session session{.cacheDir = cache(), .storesLater = true};
  std::atomic<int> compiled{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      Job job = irJob();
      support::DiagnosticEngine own;
      const auto result = session.compile(job, own);
      ASSERT_TRUE(result) << own.render();
      compiled += !result->isFromCache;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(compiled, 1);
}

TEST_F(SessionTest, a_result_is_found_after_the_queue_is_empty) {
  const Session session{.cacheDir = cache(), .storesLater = true};
  Job job = irJob();
  ASSERT_TRUE(session.build(job, diagnostics)) << diagnostics.render();
  jit::StoreQueue::instance().flush();
  EXPECT_TRUE(session.find(job));
}

TEST_F(SessionTest, tools_and_replaced_stages_are_part_of_the_key) {
  Job plain = irJob(), tools = irJob(), replaced = irJob();
  tools.toolsKey = "ptxas 13.0";
  replaced.request.replacement = driver::Request::Replacement{"llir", "text", "path"};
  EXPECT_NE(Session::keyOf(plain), Session::keyOf(tools));
  EXPECT_NE(Session::keyOf(plain), Session::keyOf(replaced));
  EXPECT_NE(Session::keyOf(tools), Session::keyOf(replaced));
}

static thread_local bool isLocked;
static thread_local int unlocked;

/// A lock that must be held where the host is used.
static constexpr jit::HostLock kLock{
    [](llvm::function_ref<void()> work) {
      EXPECT_TRUE(isLocked);
      isLocked = false;
      ++unlocked;
      work();
      isLocked = true;
    },
    [](llvm::function_ref<void()> work) {
      EXPECT_FALSE(isLocked);
      isLocked = true;
      work();
      isLocked = false;
    },
};

TEST_F(SessionTest, the_hosts_lock_is_released_for_the_back_end) {
  isLocked = true;
  unlocked = 0;
  jit::FileJob file = sourceJob();
  bool isReadWithLock = false;
  file.job.readSources = [&] {
    isReadWithLock = isLocked;
    return file.host->files();
  };
  const auto compiled = Session{.lock = &kLock}.build(file.job, diagnostics);
  ASSERT_TRUE(compiled) << diagnostics.render();
  EXPECT_TRUE(isLocked && isReadWithLock);
  EXPECT_EQ(unlocked, 1);
  EXPECT_EQ(compiled->times.front().phase, "sema");
}

TEST_F(SessionTest, an_interrupt_of_the_host_ends_without_an_error) {
  isLocked = true;
  unlocked = 0;
  jit::FileJob file = sourceJob();
  file.job.request.isCancelRequested = [] { return true; };
  EXPECT_FALSE(Session{.lock = &kLock}.build(file.job, diagnostics));
  EXPECT_EQ(diagnostics.render(), "");
  EXPECT_EQ(unlocked, 0) << "the back end has not begun";
}

TEST_F(SessionTest, what_is_no_input_is_said) {
  Job job = irJob();
  EXPECT_EQ(jit::irProblem(job), "");
  job.ir->kind = "ttgir";
  EXPECT_EQ(jit::irProblem(job), "kernel.ttir: target `cpu` compiles from .ttir, not from .ttgir");
  Job gpu = irJob("cuda", "90");
  gpu.ir->kind = "ttgir";
  gpu.request.replacement = driver::Request::Replacement{"llir", "text", "path"};
  EXPECT_EQ(jit::irProblem(gpu),
            "kernel.ttir: a kernel that begins as .ttgir takes no `ir_override`; write its text there");
}

TEST_F(SessionTest, a_kernel_that_begins_as_ttgir_has_no_ttir) {
  Job job = irJob("cuda", "90+sim");
  job.request.keep = {"ttgir"};
  const auto lowered = Session().build(job, diagnostics);
  ASSERT_TRUE(lowered) << diagnostics.render();
  Job later = irJob("cuda", "90+sim");
  later.ir = jit::IrText{"ttgir", *lowered->artifact->findStage("ttgir"), "kernel.ttgir"};
  later.request.keep = {"ptx"};
  const auto compiled = Session().build(later, diagnostics);
  ASSERT_TRUE(compiled) << diagnostics.render();
  EXPECT_EQ(compiled->artifact->findStage("ttir"), nullptr);
  EXPECT_NE(compiled->artifact->binary.find(".visible .entry kernel"), std::string::npos);
}
