// Tests requests that no signature text gives: a program fills them in itself.
// SPDX-License-Identifier: MIT
#include "compiler/sema/FileHost.h"
#include "compiler/sema/Sema.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace nereid;

TEST(KernelRequest, names_the_floats_of_8_bits_that_there_are) {
  support::DiagnosticEngine diagnostics;
  auto host = sema::FileHost::fromText("kernel.py", "import triton\n\n@triton.jit\ndef kernel(x_ptr):\n    pass\n",
                                       diagnostics);
  ASSERT_TRUE(host) << diagnostics.render();
  sema::KernelRequest request;
  request.kernel = host->function("kernel");
  request.name = "kernel";
  request.args.push_back({std::nullopt, sema::Type::pointerTo(sema::Scalar::Float8E4B8), 1, std::nullopt, {}});
  request.options.supportedFp8 = {"fp8e5", "fp8e4nv"};
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  EXPECT_FALSE(sema::emitKernel(context, request, *host, diagnostics));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics.all().front().code(), "unsupported-fp8");
  EXPECT_EQ(diagnostics.all().front().message,
            "type fp8e4b8 not supported in this architecture. The supported fp8 dtypes "
            "are ('fp8e5', 'fp8e4nv')");
}

TEST(KernelRequest, must_have_an_argument_for_each_parameter) {
  support::DiagnosticEngine diagnostics;
  auto host = sema::FileHost::fromText("kernel.py", "import triton\n\n@triton.jit\ndef kernel(x_ptr, n):\n    pass\n",
                                       diagnostics);
  ASSERT_TRUE(host) << diagnostics.render();
  sema::KernelRequest request;
  request.kernel = host->function("kernel");
  ASSERT_TRUE(request.kernel);
  request.name = "kernel";
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  EXPECT_FALSE(sema::emitKernel(context, request, *host, diagnostics));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics.all().front().code(), "kernel-argument-count");
  EXPECT_EQ(diagnostics.all().front().message, "kernel `kernel` has 2 parameters, but the signature gives 0");
}
