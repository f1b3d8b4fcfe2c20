// Tests the C++ API: conversion of a launch's arguments, and when a kernel is compiled again.
// SPDX-License-Identifier: MIT
#include <nereid/Kernel.h>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace {
/// A temporary folder of Python files, removed at the end.
class KernelApi : public testing::Test {
protected:
  KernelApi() : folder(fs::temp_directory_path() / ("nereid-api-" + std::to_string(getpid()))) {
    fs::create_directories(folder);
  }
  ~KernelApi() override { fs::remove_all(folder); }

  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(folder / name) << "import triton\nimport triton.language as tl\n" << text;
    return (folder / name).string();
  }
  /// The kernel that stores its second argument through its first.
  nereid::Kernel storing(const std::string &pointee, const std::string &scalar) const {
    const std::string path = write("store.py", "@triton.jit\ndef store(out, value):\n    tl.store(out, value)\n");
    return nereid::Kernel::fromSource(path, "store", "*" + pointee + "," + scalar);
  }
  const fs::path folder;
};

template <typename... Args> std::string problemOf(const nereid::Kernel &kernel, Args... args) {
  try {
    kernel.launch({1}, args...);
  } catch (const nereid::Error &error) {
    return error.what();
  }
  return "";
}
} // namespace

TEST_F(KernelApi, numbers_become_ones_of_the_parameters_type) {
  int32_t truth = 0;
  storing("i32", "u1").launch({1}, &truth, 2);
  EXPECT_EQ(truth, 1);
  float number = 0;
  storing("fp32", "fp16").launch({1}, &number, 1.5f);
  EXPECT_EQ(number, 1.5f);
  storing("fp32", "bf16").launch({1}, &number, 1.00390625); // a tie, to even
  EXPECT_EQ(number, 1.0f);
  storing("fp32", "fp32").launch({1}, &number, 0.1);
  EXPECT_EQ(number, 0.1f);
  double wide = 0;
  storing("fp64", "fp64").launch({1}, &wide, -2.5f);
  EXPECT_EQ(wide, -2.5);
  storing("fp64", "fp64").launch({1}, &wide, 7);
  EXPECT_EQ(wide, 7.0);
}

TEST_F(KernelApi, numbers_at_the_ends_of_16_bits_are_rounded) {
  float number = 0;
  const nereid::Kernel half = storing("fp32", "fp16"), brain = storing("fp32", "bf16");
  // In units of the smallest positive number; ties go to even.
  for (auto [units, expected] :
       {std::pair{1.0, 1.0f}, {0.5, 0.0f}, {0.75, 1.0f}, {1.5, 2.0f}, {2.5, 2.0f}, {-3.25, -3.0f}, {127.5, 128.0f}}) {
    half.launch({1}, &number, units * 0x1p-24);
    EXPECT_EQ(number, expected * 0x1p-24f) << units;
    brain.launch({1}, &number, units * 0x1p-133);
    EXPECT_EQ(number, expected * 0x1p-133f) << units;
  }
  half.launch({1}, &number, 1023.5 * 0x1p-24); // the largest subnormal number is 1023 units
  EXPECT_EQ(number, 0x1p-14f);
  half.launch({1}, &number, 65519.0);
  EXPECT_EQ(number, 65504.0f);
  half.launch({1}, &number, -65520.0);
  EXPECT_EQ(number, -INFINITY);
}

TEST_F(KernelApi, numbers_that_do_not_fit_are_refused) {
  int32_t out = 5;
  const nereid::Kernel kernel = storing("i32", "i32");
  EXPECT_EQ(problemOf(kernel, &out, int64_t{5'000'000'000}),
            "argument `value` is 5000000000, which `i32` cannot hold in a launch of `store`");
  EXPECT_NE(problemOf(kernel, &out, uint64_t{1} << 63), "");
  EXPECT_NE(problemOf(kernel, &out, -2147483649LL), "");
  EXPECT_NE(problemOf(kernel, &out, 1.5), "");
  EXPECT_NE(problemOf(kernel, &out, &out), "");
  EXPECT_NE(problemOf(kernel, 4096, 1.0f), "");
  EXPECT_NE(problemOf(storing("i32", "u8"), &out, -1), "");
  EXPECT_EQ(out, 5);
  EXPECT_EQ(problemOf(kernel, &out, -2147483648LL), "");
  EXPECT_EQ(out, INT32_MIN);
}

TEST_F(KernelApi, missing_arguments_and_stages_are_named) {
  int32_t out = 5;
  const nereid::Kernel kernel = storing("i32", "i32");
  EXPECT_EQ(problemOf(kernel, &out), "kernel `store` takes 2 run-time arguments, `out` and `value`; 1 is given");
  EXPECT_EQ(problemOf(kernel, &out, &out),
            "argument `value` must be of type `i32`, got pointer in a launch of `store`");
  try {
    kernel.stage("tir");
    ADD_FAILURE() << "there is no such stage";
  } catch (const nereid::Error &error) {
    EXPECT_STREQ(error.what(), "kernel `store` has no stage `tir`; did you mean `ttir`?; it has source, ttir, plan, "
                               "llir, asm, so, launcher.so");
  }
}

TEST_F(KernelApi, memory_that_is_const_is_not_written) {
  const int32_t out = 5;
  const std::string problem = problemOf(storing("i32", "i32"), &out, 1);
  EXPECT_EQ(problem.find("kernel `store` writes to argument `out`"), 0u) << problem;
}

TEST_F(KernelApi, an_edit_of_an_imported_file_is_noticed) {
  const std::string path = write("main.py", "from .middle import amount\n"
                                            "@triton.jit\ndef main(out):\n    tl.store(out, amount(1))\n");
  write("middle.py", "from .deep import OFFSET\n"
                     "@triton.jit\ndef amount(x):\n    return x + OFFSET\n");
  nereid::KernelOptions options;
  options.cacheDir = (folder / "cache").string();
  auto stored = [&](const char *offset) {
    write("deep.py", std::string("OFFSET = tl.constexpr(") + offset + ")\n");
    int32_t out = 0;
    nereid::Kernel::fromSource(path, "main", "*i32", options).launch({1}, &out);
    return out;
  };
  EXPECT_EQ(stored("1"), 2);
  EXPECT_EQ(stored("100"), 101);
  EXPECT_EQ(stored("1"), 2);
}

namespace {
const char *const kDouble = R"(
@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * 2, mask=at < n)
)";
} // namespace

TEST_F(KernelApi, a_checked_kernel_knows_the_bounds_of_spans) {
  nereid::KernelOptions options;
  options.sanitize = "bounds";
  const auto kernel = nereid::Kernel::fromSource(write("double.py", kDouble), "double", "*fp32,*fp32,i32,8", options);
  std::vector<float> x(16, 1.5f), out(16, 0.0f);
  kernel.launch({2}, std::span(x), std::span(out), 16);
  EXPECT_EQ(out, std::vector<float>(16, 3.0f));
  std::string problem;
  try {
    kernel.launch({2}, std::span(x).first(13), std::span(out), 13);
  } catch (const nereid::Error &error) {
    problem = error.what();
  }
  EXPECT_NE(problem.find("double.py:7:24: error: element 13 of `x`, at byte 52, is read; `x` has 13 elements, 52 bytes "
                         "[sanitize-bounds]"),
            std::string::npos)
      << problem;
  EXPECT_NE(problem.find("in program (1, 0, 0) of `double`, at (5) of a tile [8]"), std::string::npos) << problem;
  kernel.launch({2}, x.data(), std::span(out), 13); // a raw pointer has no bounds
}

TEST_F(KernelApi, words_that_are_no_sanitizer_are_refused) {
  nereid::KernelOptions options;
  options.sanitize = "bonds";
  EXPECT_THROW(nereid::Kernel::fromSource(write("double.py", kDouble), "double", "*fp32,*fp32,i32,8", options),
               nereid::Error);
}

TEST_F(KernelApi, options_reach_the_code) {
  const auto ptxOf = [&](const nereid::KernelOptions &options) {
    const auto path = write("double.py", kDouble);
    return nereid::Kernel::fromSource(path, "double", "*fp32:16,*fp32:16,i32,512", options).stage("ptx");
  };
  const std::string plain = ptxOf({.target = "cuda:90+sim"});
  EXPECT_NE(plain.find(".reqntid 128"), std::string::npos) << plain;
  EXPECT_EQ(plain.find(".maxnreg"), std::string::npos) << plain;
  const std::string other = ptxOf({.target = "cuda:90+sim", .numWarps = 8, .maxRegisters = 64});
  EXPECT_NE(other.find(".reqntid 256"), std::string::npos) << other;
  EXPECT_NE(other.find(".maxnreg 64"), std::string::npos) << other;
}

TEST_F(KernelApi, a_cache_tells_options_apart) {
  nereid::KernelOptions options{.target = "cuda:90+sim", .cacheDir = (folder / "cache").string()};
  const auto path = write("double.py", kDouble);
  for (uint32_t warps : {1u, 2u, 1u}) {
    options.numWarps = warps;
    const std::string ptx = nereid::Kernel::fromSource(path, "double", "*fp32,*fp32,i32,64", options).stage("ptx");
    EXPECT_NE(ptx.find(".reqntid " + std::to_string(32 * warps)), std::string::npos) << ptx;
  }
}

TEST_F(KernelApi, ir_is_compiled) {
  const std::string source = write("double.py", kDouble), path = (folder / "double.ttir").string();
  std::ofstream(path) << nereid::Kernel::fromSource(source, "double", "*fp32,*fp32,i32,8").stage("ttir");
  std::vector<float> x(16, 1.5f), out(16, 0.0f);
  nereid::Kernel::fromIr(path).launch({2}, x.data(), out.data(), 16);
  EXPECT_EQ(out, std::vector<float>(16, 3.0f));
  EXPECT_THROW(nereid::Kernel::fromIr((folder / "none.ttir").string()), nereid::Error);
}

TEST_F(KernelApi, a_text_replaces_a_stage) {
  const std::string source = write("double.py", kDouble), path = (folder / "triple.ttir").string();
  std::string text = nereid::Kernel::fromSource(source, "double", "*fp32,*fp32,i32,8").stage("ttir");
  const size_t at = text.find("2.000000e+00");
  ASSERT_NE(at, std::string::npos) << text;
  std::ofstream(path) << text.replace(at, 1, "3");
  std::vector<float> x(8, 1.5f), out(8, 0.0f);
  nereid::Kernel::fromSource(source, "double", "*fp32,*fp32,i32,8", {.irOverride = path})
      .launch({1}, x.data(), out.data(), 8);
  EXPECT_EQ(out, std::vector<float>(8, 4.5f));
}

TEST_F(KernelApi, an_artifact_is_loaded) {
  const fs::path cache = folder / "cache"; // its files are artifacts
  nereid::Kernel::fromSource(write("double.py", kDouble), "double", "*fp32,*fp32,i32,8", {.cacheDir = cache.string()});
  fs::path artifact;
  for (const auto &file : fs::recursive_directory_iterator(cache))
    if (file.path().extension() == ".nereid")
      artifact = file.path();
  std::vector<float> x(16, 1.5f), out(16, 0.0f);
  nereid::Kernel::fromArtifact(artifact.string()).launch({2}, x.data(), out.data(), 16);
  EXPECT_EQ(out, std::vector<float>(16, 3.0f));
}

TEST_F(KernelApi, a_file_that_is_no_artifact_is_refused) {
  const std::string path = (folder / "double.artifact").string();
  std::ofstream(path) << "nothing";
  try {
    (void)nereid::Kernel::fromArtifact(path);
    ADD_FAILURE() << "it was loaded";
  } catch (const nereid::Error &error) {
    EXPECT_EQ(std::string(error.what()).find(path + ": "), 0u) << error.what();
  }
}

//--- Bound kernels -----------------------------------------------------------------------------

TEST_F(KernelApi, bound_kernel_launches_with_its_arguments) {
  int32_t out = 0;
  const nereid::BoundKernel bound = storing("i32", "i32").bind(&out, 5);
  EXPECT_EQ(out, 0); // nothing has run
  bound.launch({1});
  EXPECT_EQ(out, 5);
}

TEST_F(KernelApi, argument_of_a_bound_kernel_is_replaced) {
  int32_t out = 0, other = 0;
  nereid::BoundKernel bound = storing("i32", "i32").bind(&out, 5);
  bound.set(1, int64_t{7});
  bound.launch({1});
  EXPECT_EQ(out, 7);
  bound.set(0, &other);
  bound.launch({1});
  EXPECT_EQ(other, 7);
}

TEST_F(KernelApi, copy_of_a_bound_kernel_has_its_own_arguments) {
  int32_t out = 0;
  nereid::BoundKernel bound = storing("i32", "i32").bind(&out, 5), copy = bound;
  copy.set(1, 9);
  bound.launch({1});
  EXPECT_EQ(out, 5);
  bound = copy;
  bound.launch({1});
  EXPECT_EQ(out, 9);
}

TEST_F(KernelApi, wrong_arguments_of_bind_are_errors) {
  const nereid::Kernel kernel = storing("i32", "i32");
  int32_t out = 0;
  const auto problem = [](auto action) -> std::string {
    try {
      action();
    } catch (const nereid::Error &error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(problem([&] { kernel.bind(&out); }),
            "kernel `store` takes 2 run-time arguments, `out` and `value`; 1 is given");
  EXPECT_EQ(problem([&] { kernel.bind(&out, 1.5); }),
            "argument `value` must be of type `i32`, got 1.50 in a launch of `store`");
  nereid::BoundKernel bound = kernel.bind(&out, 5);
  EXPECT_EQ(problem([&] { bound.set(1, int64_t{1} << 40); }),
            "argument `value` is 1099511627776, which `i32` cannot hold in a launch of `store`");
  EXPECT_EQ(problem([&] { bound.set(2, 1); }),
            "argument 2 was set; kernel `store` takes 2 run-time arguments, `out` and "
            "`value`; 3 are given");
  bound.launch({1});
  EXPECT_EQ(out, 5); // refused arguments change nothing
}

TEST_F(KernelApi, bound_kernel_checks_the_bounds_of_spans) {
  const std::string path =
      write("fill.py", "@triton.jit\ndef fill(out, B: tl.constexpr):\n    tl.store(out + tl.arange(0, B), 1)\n");
  nereid::KernelOptions options;
  options.sanitize = "bounds";
  const auto fill = nereid::Kernel::fromSource(path, "fill", "*i32,8", options);
  std::vector<int32_t> enough(8), few(6);
  nereid::BoundKernel bound = fill.bind(std::span(enough));
  bound.launch({1});
  EXPECT_EQ(enough[7], 1);
  bound.set(0, std::span(few));
  EXPECT_THROW(bound.launch({1}), nereid::Error);
}
