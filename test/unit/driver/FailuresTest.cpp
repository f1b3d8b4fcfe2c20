// What the driver reports of modules that no kernel text makes: IR files, and targets that a program chose itself.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Compiler.h"

#include "compiler/dialect/tt/Dialect.h"
#include "gtest/gtest.h"
#include "llvm/Support/FileSystem.h"

using namespace nereid;

namespace {
/// Runs the back half on IR text; the codes of what was reported.
struct Attempt {
  std::unique_ptr<mlir::MLIRContext> context = driver::createContext();
  support::DiagnosticEngine diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string whyNot;
  support::TargetSpec target = *driver::resolveTarget("cpu", "x86-64-v3", whyNot);

  explicit Attempt(const std::string &text) : module(driver::parse(*context, text, "test", diagnostics)) {}

  std::string code() {
    if (module && driver::back(*module, support::Options(), target, driver::Request(), diagnostics))
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
            "target-failed");
}

TEST(DriverFailures, a_module_that_breaks_an_ops_rule) {
#ifdef NDEBUG
  GTEST_SKIP() << "passes are verified in builds with assertions only";
#endif
  Attempt attempt(kernel);
  attempt.module->walk([](tt::MakeRangeOp range) { range.setEnd(9); });
  EXPECT_EQ(attempt.code(), "pass-failed");
}

TEST(DriverFailures, a_fatal_error_of_llvm_leaves_a_reproducer) {
  Attempt attempt(kernel);
  attempt.target.arch = "i386"; // has no 64-bit mode
  attempt.target.features = "";
  EXPECT_EQ(attempt.code(), "internal-fatal");
  const std::string text = attempt.diagnostics.render();
  const size_t path = text.find("kept in ") + 8;
  const std::string file = text.substr(path, text.find(".ttir") + 5 - path);
  EXPECT_TRUE(llvm::sys::fs::exists(file)) << text;
  llvm::sys::fs::remove(file);
}
