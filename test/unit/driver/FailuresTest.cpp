// Tests the driver's errors for modules that no kernel source gives: IR files, and targets chosen by a program.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Compiler.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/support/FatalGuard.h"
#include "compiler/support/MemoryReserve.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <functional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nereid;

namespace {
/// Runs the back half on IR text; collects the codes that were reported.
struct Attempt {
  std::unique_ptr<mlir::MLIRContext> context = driver::createContext();
  support::DiagnosticEngine diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string reason;
  support::TargetSpec target = *driver::resolveTarget("cpu", "x86-64-v3", reason);

  support::Options options;
  driver::Request request;

  explicit Attempt(const std::string &text) : module(driver::parse(*context, text, "test", diagnostics)) {
    request.sources = {std::make_shared<support::SourceFile>("test", text)};
  }

  std::string code() {
    if (module && driver::back(*module, options, target, request, diagnostics))
      return "compiled";
    return diagnostics.size() == 1 ? diagnostics.all().front().code().str() : diagnostics.render();
  }
};
} // namespace

static const char kernel[] = "module { tt.func public @kernel(%x: !tt.ptr<i32>) {\n"
                             "  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n"
                             "  %p = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>\n"
                             "  tt.store %p, %r : tensor<8x!tt.ptr<i32>>\n"
                             "  tt.return } }";

TEST(DriverFailures, a_whole_kernel_compiles) { EXPECT_EQ(Attempt(kernel).code(), "compiled"); }

TEST(DriverFailures, text_that_is_no_module) { EXPECT_EQ(Attempt("tt.func @kernel(").code(), "invalid-ir"); }

TEST(DriverFailures, two_kernels_in_a_module) {
  EXPECT_EQ(Attempt("module { tt.func public @a() { tt.return } tt.func public @b() { tt.return } }").code(),
            "no-kernel");
}

TEST(DriverFailures, a_function_that_calls_itself_at_run_time) {
  EXPECT_EQ(Attempt("module { tt.func public @a(%i: i32) {\n"
                    "  tt.call @b(%i) : (i32) -> ()\n"
                    "  tt.return }\n"
                    "tt.func private @b(%i: i32) {\n"
                    "  tt.call @b(%i) : (i32) -> ()\n"
                    "  tt.return } }")
                .code(),
            "cpu-recursion");
}

TEST(DriverFailures, a_call_that_is_left_without_recursion) {
  EXPECT_EQ(Attempt("module { tt.func public @a(%i: i32) {\n"
                    "  tt.call @b(%i) : (i32) -> ()\n"
                    "  tt.return }\n"
                    "tt.func private @b(%i: i32) {\n"
                    "  check.values overflow \"+\" (%i, %i) : i32, i32\n"
                    "  tt.return } }")
                .code(),
            "cpu-call");
}

//--- The CPU target ----------------------------------------------------------------------------

namespace {
/// A kernel of f16 for a CPU without it; `more` follows the load.
struct AttemptWithoutF16 : Attempt {
  explicit AttemptWithoutF16(const std::string &more = "")
      : Attempt("module { tt.func public @kernel(%x: !tt.ptr<f16>) {\n"
                "  %v = tt.load %x : !tt.ptr<f16>" +
                more +
                "\n"
                "  tt.store %x, %v : !tt.ptr<f16>\n"
                "  tt.return } }") {
    target.arch = "x86-64-v2";
    target.features = "";
  }
};
} // namespace

TEST(DriverFailures, messages_of_the_target_have_a_place_and_words_of_the_language) {
  AttemptWithoutF16 attempt;
  EXPECT_EQ(attempt.code(), "cpu-f16");
  const std::string text = attempt.diagnostics.render();
  EXPECT_EQ(text.find("test:2:8: error: float16 needs a CPU with F16C, which target `x86-64-v2` lacks; "), 0u) << text;
  EXPECT_NE(text.find("\n  %v = tt.load %x"), std::string::npos) << text;
}

TEST(DriverFailures, a_place_without_its_text_is_named) {
  AttemptWithoutF16 attempt(" loc(\"/k/k.py\":7:3)");
  EXPECT_EQ(attempt.code(), "cpu-f16");
  const std::string text = attempt.diagnostics.render();
  EXPECT_EQ(text.find("error: /k/k.py:7:3: float16 needs"), 0u) << text;
}

TEST(DriverFailures, elements_that_no_target_has) {
  EXPECT_EQ(Attempt("module { tt.func public @kernel(%n: i128) {\n"
                    "  %r = arith.addi %n, %n : i128\n"
                    "  tt.return } }")
                .code(),
            "invalid-ir");
}

TEST(DriverFailures, a_constant_of_different_elements) {
  EXPECT_EQ(Attempt("module { tt.func public @kernel(%x: !tt.ptr<i32>) {\n"
                    "  %v = arith.constant dense<[1, 2, 3, 5]> : tensor<4xi32>\n"
                    "  %p = tt.splat %x : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>\n"
                    "  tt.store %p, %v : tensor<4x!tt.ptr<i32>>\n"
                    "  tt.return } }")
                .code(),
            "cpu-tile-constant");
}

TEST(DriverFailures, an_operation_that_the_cpu_lacks) {
  EXPECT_EQ(Attempt("module { tt.func public @kernel(%x: !tt.ptr<f32>) {\n"
                    "  %v = tt.load %x : !tt.ptr<f32>\n"
                    "  %r = math.cbrt %v : f32\n"
                    "  tt.store %x, %r : !tt.ptr<f32>\n"
                    "  tt.return } }")
                .code(),
            "cpu-operation");
}

TEST(DriverFailures, a_tile_in_the_function_of_a_reduction) {
  EXPECT_EQ(Attempt("module { tt.func public @kernel(%x: !tt.ptr<f32>) {\n"
                    "  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n"
                    "  %v = arith.sitofp %i : tensor<8xi32> to tensor<8xf32>\n"
                    "  %r = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({\n"
                    "  ^bb0(%a: f32, %b: f32):\n"
                    "    %s = arith.addf %a, %b : f32\n"
                    "    %t = tt.splat %s : f32 -> tensor<4xf32>\n"
                    "    %m = \"tt.reduce\"(%t) <{axis = 0 : i32}> ({\n"
                    "    ^bb0(%c: f32, %d: f32):\n"
                    "      %p = arith.mulf %c, %d : f32\n"
                    "      tt.reduce.return %p : f32\n"
                    "    }) : (tensor<4xf32>) -> f32\n"
                    "    tt.reduce.return %m : f32\n"
                    "  }) : (tensor<8xf32>) -> f32\n"
                    "  tt.store %x, %r : !tt.ptr<f32>\n"
                    "  tt.return } }")
                .code(),
            "cpu-scalar-operation");
}

TEST(DriverFailures, the_code_generator_knows_no_such_cpu) {
  Attempt attempt(kernel);
  attempt.target.arch = "x86-64-v3";
  attempt.target.backend = "cuda"; // x86-64-v3 is none of its architectures
  EXPECT_EQ(attempt.code(), "unknown-arch");
}

//--- Interrupts and forks ----------------------------------------------------------------------

/// A kernel with a chain of that many elementary functions.
static std::string chain(unsigned length) {
  std::string text = "module { tt.func public @kernel(%x: !tt.ptr<f32>) {\n"
                     "  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>\n"
                     "  %s = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>\n"
                     "  %p = tt.addptr %s, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>\n"
                     "  %v0 = tt.load %p : tensor<1024x!tt.ptr<f32>>\n";
  for (unsigned k = 0; k < length; ++k)
    text += llvm::formatv("  %v{0} = math.sin %v{1} : tensor<1024xf32>\n", k + 1, k);
  return text + llvm::formatv("  tt.store %p, %v{0} : tensor<1024x!tt.ptr<f32>>\n  tt.return } }", length).str();
}

TEST(DriverFailures, an_interrupt_ends_the_wait_for_a_compilation) {
  Attempt attempt(chain(20));
  attempt.request.isCancelRequested = [] { return true; };
  EXPECT_EQ(attempt.code(), "interrupted");
  // The cancelled work uses them for a while.
  (void)attempt.module.release();
  (void)attempt.context.release();
  EXPECT_TRUE(support::waitForCancelled(std::chrono::minutes(2)));
  EXPECT_EQ(Attempt(kernel).code(), "compiled");
}

TEST(DriverFailures, a_compiler_that_ran_out_of_memory_says_so) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    support::loseCompiler();
    _exit(Attempt(kernel).code() == "out-of-memory-before" ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(DriverFailures, a_child_of_a_fork_amid_a_compilation_says_so) {
  std::atomic<bool> isInside{false}, isOver{false};
  std::thread other([&] {
    support::runGuarded([&] {
      for (isInside = true; !isOver;)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  });
  while (!isInside)
    std::this_thread::yield();
  const pid_t child = fork(); // stops waiting after seconds
  if (child == 0) {
    alarm(30);
    support::DiagnosticEngine diagnostics;
    const auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    const auto module = mlir::ModuleOp::create(mlir::UnknownLoc::get(context.get()));
    driver::back(module, support::Options(), support::TargetSpec(), driver::Request(), diagnostics);
    _exit(diagnostics.size() == 1 && diagnostics.all().front().code() == "fork-during-compilation" ? 0 : 1);
  }
  isOver = true;
  other.join();
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

//--- Reproducers -------------------------------------------------------------------------------

/// The text of a reproducer, which is removed.
static std::string takeFile(const std::string &path) {
  const auto buffer = llvm::MemoryBuffer::getFile(path);
  llvm::sys::fs::remove(path);
  return buffer ? (*buffer)->getBuffer().str() : "no file " + path;
}

/// A kernel and a target that LLVM has no code for: `i386` has no 64-bit mode.
static std::unique_ptr<Attempt> fatalAttempt(const std::string &text = kernel) {
  auto attempt = std::make_unique<Attempt>(text);
  attempt->target.arch = "i386";
  attempt->target.features = "";
  return attempt;
}

TEST(DriverFailures, a_fatal_error_of_llvm_leaves_a_reproducer) {
  const auto attempt = fatalAttempt();
  EXPECT_EQ(attempt->code(), "internal-error");
  const support::Diagnostic &error = attempt->diagnostics.all().front();
  EXPECT_NE(attempt->diagnostics.render().find("note: please report it with " + error.reproducer), std::string::npos);
  namespace fs = llvm::sys::fs;
  EXPECT_EQ(fs::getPermissions(error.reproducer).get(), fs::owner_read | fs::owner_write);
  EXPECT_EQ(fs::getPermissions(llvm::sys::path::parent_path(error.reproducer)).get(), fs::owner_all);
  const std::string text = takeFile(error.reproducer);
  EXPECT_NE(text.find("// To repeat it: nereid compile " + error.reproducer + " --target cpu:i386 --emit "),
            std::string::npos)
      << text;
  Attempt again(text);
  EXPECT_EQ(again.code(), "compiled") << "for another CPU";
}

/// A kernel with two texts of inline assembly and their constraints; each stands in a line of its own, 3 and 4.
static std::string withAssembly(const std::string &first, const std::string &second) {
  return "module { tt.func public @kernel(%x: !tt.ptr<i32>) {\n"
         "  %r = tt.load %x : !tt.ptr<i32>\n"
         "  %a = tt.elementwise_inline_asm " +
         first +
         ", packed_element = 1 : i32, pure = true} %r : i32 -> i32\n"
         "  %b = tt.elementwise_inline_asm " +
         second +
         ", packed_element = 1 : i32, pure = true} %a : i32 -> i32\n"
         "  %p = tt.elementwise_inline_asm \"nop\" {constraints = \"=r\", packed_element = 1 : i32, pure = false} -> "
         "!tt.ptr<i32>\n"
         "  tt.store %x, %b : !tt.ptr<i32>\n"
         "  tt.return } }";
}
static const char goodAssembly[] = R"("mov $1, $0" {constraints = "=r,r")";
static const char fatalAssembly[] = R"("mov $1, $0" {constraints = "={rsp},{rbp}")";

TEST(DriverFailures, a_fatal_error_with_assembly_is_reported_where_it_comes_from) {
  EXPECT_EQ(Attempt(withAssembly(goodAssembly, goodAssembly)).code(), "compiled");
  const auto lineOf = [](const std::string &text) {
    Attempt attempt(text);
    EXPECT_EQ(attempt.code(), "asm-failed");
    const std::string message = attempt.diagnostics.render();
    return message.find("test:3:") == 0 ? 3 : message.find("test:4:") == 0 ? 4 : 0;
  };
  EXPECT_EQ(lineOf(withAssembly(fatalAssembly, goodAssembly)), 3);
  EXPECT_EQ(lineOf(withAssembly(goodAssembly, fatalAssembly)), 4);
  EXPECT_EQ(lineOf(withAssembly(fatalAssembly, fatalAssembly)), 3);
  // The compiler's own: the assembly has no part in it.
  const auto attempt = fatalAttempt(withAssembly(goodAssembly, goodAssembly));
  EXPECT_EQ(attempt->code(), "internal-error");
  takeFile(attempt->diagnostics.all().front().reproducer);
}

TEST(DriverFailures, a_reproducer_is_the_users_own_whatever_lies_in_the_temporary_folder) {
  namespace fs = llvm::sys::fs;
  llvm::SmallString<128> folder;
  ASSERT_FALSE(fs::createUniqueDirectory("temporary", folder));
  const std::string other = (folder + "/other").str(), planted = (folder + "/nereid-" + llvm::Twine(geteuid())).str();
  const char *const before = getenv("TMPDIR");
  const std::string restored = before ? before : "";
  setenv("TMPDIR", folder.c_str(), 1);
  const mode_t mask = umask(0);
  const std::function<void()> plants[] = {
      [] {},
      [&] { fs::create_directory(planted, true, fs::all_all); },
      [&] { symlink(other.c_str(), planted.c_str()); },
      [&] { close(open(planted.c_str(), O_CREAT | O_WRONLY, 0666)); },
  };
  for (const auto &plant : plants) {
    fs::create_directory(other, true, fs::owner_all);
    plant();
    const auto attempt = fatalAttempt();
    EXPECT_EQ(attempt->code(), "internal-error");
    const std::string path = attempt->diagnostics.all().front().reproducer;
    EXPECT_EQ(path.find(folder.c_str()), 0u) << path;
    EXPECT_NE(llvm::sys::path::parent_path(path), other);
    EXPECT_EQ(fs::getPermissions(path).get(), fs::owner_read | fs::owner_write);
    EXPECT_EQ(fs::getPermissions(llvm::sys::path::parent_path(path)).get(), fs::owner_all);
    EXPECT_NE(rmdir(other.c_str()), -1) << "nothing is written to another folder";
    fs::remove_directories(planted);
    unlink(planted.c_str());
  }
  umask(mask);
  before ? setenv("TMPDIR", restored.c_str(), 1) : unsetenv("TMPDIR");
  fs::remove_directories(folder);
}

TEST(DriverFailures, a_reproducer_is_written_where_the_request_says) {
  const auto attempt = fatalAttempt();
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("reproducers", folder));
  attempt->options.reproducerPath = (folder + "/mine").str();
  EXPECT_EQ(attempt->code(), "internal-error");
  const std::string path = attempt->diagnostics.all().front().reproducer;
  EXPECT_EQ(path.find((folder + "/mine.kernel-").str()), 0u) << path;
  takeFile(path);
  llvm::sys::fs::remove(folder);
}

TEST(DriverFailures, a_source_is_made_for_a_reproducer_alone) {
  Attempt attempt(kernel);
  attempt.request.makeSource = [] {
    ADD_FAILURE() << "nothing has failed";
    return std::string();
  };
  EXPECT_EQ(attempt.code(), "compiled");
}

TEST(DriverFailures, a_reproducer_holds_the_text_that_replaces_a_stage) {
  const auto attempt = fatalAttempt();
  const std::string replacement = "// replaced\n" + std::string(kernel);
  attempt->request.replacement = {"ttir", replacement, "mine.ttir"};
  EXPECT_EQ(attempt->code(), "internal-error");
  const std::string path = attempt->diagnostics.all().front().reproducer, text = takeFile(path);
  const std::string beside = path.substr(0, path.size() - 5) + ".override.ttir";
  EXPECT_NE(text.find(" --ir-override " + beside + " --emit "), std::string::npos) << text;
  EXPECT_EQ(takeFile(beside), replacement);
}

/// Errors without a kind are those of verifiers and invariants.
TEST(DriverFailures, a_module_that_breaks_an_ops_rule_is_the_compilers_own_error) {
#ifdef NDEBUG
  GTEST_SKIP() << "passes are verified in builds with assertions only";
#endif
  Attempt attempt(kernel);
  attempt.module->walk([](tt::MakeRangeOp range) { range.setEnd(9); });
  const std::string source = driver::printModule(*attempt.module);
  attempt.request.makeSource = [&] { return source; };
  EXPECT_EQ(attempt.code(), "internal-error");
  const support::Diagnostic &error = attempt.diagnostics.all().front();
  EXPECT_EQ(error.message.find("this is a bug in Nereid, in phase `ttir`: "), 0u) << error.message;
  EXPECT_TRUE(error.where);
  const std::string text = takeFile(error.reproducer);
  EXPECT_NE(text.find("--emit ttir -o -"), std::string::npos) << text;
  EXPECT_NE(text.find("end = 9"), std::string::npos) << text;
}
