// The CPU target prepares a kernel for the plan by the pipeline that nereid-opt runs under the name `cpu-prepare`.
// SPDX-License-Identifier: MIT
#include "artifact/Sanitizers.h"
#include "compiler/dialect/check/Dialect.h"
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/target/cpu/Pipeline.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu;

/// Has what each pass changes: a call, a hint, tiles of pointers that a loop moves, a dot of small elements, a sum of
/// integers that becomes an address.
static const char *const preparedText = R"(
tt.func private @twice(%x: tensor<16x16xf32>) -> tensor<16x16xf32> attributes {noinline = true} {
  %y = arith.addf %x, %x : tensor<16x16xf32>
  tt.return %y : tensor<16x16xf32>
}
tt.func public @kernel(%x: !tt.ptr<bf16>, %out: !tt.ptr<f32>, %n: i32, %step: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %hinted = arith.muli %i, %i {tt.contiguity = dense<1> : tensor<1xi32>} : tensor<16xi32>
  %column = tt.expand_dims %hinted {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %at = tt.broadcast %column : tensor<1x16xi32> -> tensor<16x16xi32>
  %xs = tt.splat %x : !tt.ptr<bf16> -> tensor<16x16x!tt.ptr<bf16>>
  %first = tt.addptr %xs, %at : tensor<16x16x!tt.ptr<bf16>>, tensor<16x16xi32>
  %by = tt.splat %step : i32 -> tensor<16x16xi32>
  %sum, %last = scf.for %k = %zero to %n step %one iter_args(%c = %none, %p = %first)
      -> (tensor<16x16xf32>, tensor<16x16x!tt.ptr<bf16>>) : i32 {
    %v = tt.load %p : tensor<16x16x!tt.ptr<bf16>>
    %d = tt.dot %v, %v, %c : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
    %next = tt.addptr %p, %by : tensor<16x16x!tt.ptr<bf16>>, tensor<16x16xi32>
    scf.yield %d, %next : tensor<16x16xf32>, tensor<16x16x!tt.ptr<bf16>>
  }
  %result = tt.call @twice(%sum) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  %outp = tt.addptr %outs, %at : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
  tt.store %outp, %result : tensor<16x16x!tt.ptr<f32>>
  tt.return
})";

static std::string textOf(mlir::ModuleOp module) {
  std::string printed;
  llvm::raw_string_ostream(printed) << module;
  return printed;
}

/// The module after the named pipeline; empty after an error.
static std::string afterNamed(mlir::ModuleOp module, const CpuFeatures &machine, uint32_t sanitizers) {
  [[maybe_unused]] static const bool registered = (registerPipelines(), true);
  mlir::PassManager passes(module.getContext());
  const std::string pipeline = llvm::formatv(
      "cpu-prepare{f16c={0} amx-bf16={1} amx-int8={2} avx512-bf16={3} vnni={4} register-bits={5} sanitize={6}}",
      machine.hasF16c, machine.hasAmxBf16, machine.hasAmxInt8, machine.hasAvx512Bf16, machine.hasVnni,
      machine.registerBits, artifact::sanitizerNames(sanitizers));
  if (failed(mlir::parsePassPipeline(pipeline, passes, llvm::errs())) || failed(passes.run(module)))
    return "";
  return textOf(module);
}

static void compare(llvm::StringRef features, uint32_t sanitizers) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<check::CheckDialect, tt::TtDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                      mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(preparedText, &context);
  ASSERT_TRUE(module);
  const std::string before = textOf(*module);
  mlir::OwningOpRef<mlir::ModuleOp> other(module->clone());
  support::Options options;
  options.sanitize = sanitizers;
  support::TargetSpec target = hostTarget();
  if (!features.empty())
    target = {"cpu", "x86-64", features.str()};
  auto kernel = beginKernel(*module, options, target);
  ASSERT_TRUE(mlir::succeeded(kernel));
  ASSERT_TRUE(mlir::succeeded(makePlan(**kernel)));
  EXPECT_NE(textOf(*module), before);
  EXPECT_EQ(textOf(*module), afterNamed(*other, (*kernel)->vectors, sanitizers));
}

TEST(PreparePipeline, is_that_of_the_name_for_this_machine) { compare("", 0); }

TEST(PreparePipeline, is_that_of_the_name_for_other_machines) {
  compare("+avx2,+f16c,+fma", 0);
  compare("+avx512bf16,+avx512bw,+avx512dq,+avx512f,+avx512vl,+f16c,+fma", 0);
  compare("+amx-bf16,+amx-tile,+avx512bw,+avx512dq,+avx512f,+avx512vl,+f16c,+fma", 0);
}

TEST(PreparePipeline, is_that_of_the_name_with_sanitizers) { compare("", artifact::Overflow | artifact::Nan); }
