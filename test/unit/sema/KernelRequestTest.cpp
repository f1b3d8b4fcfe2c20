// Requests that no signature text can make: a program fills them in itself.
// SPDX-License-Identifier: MIT
#include "compiler/sema/FileHost.h"
#include "compiler/sema/Sema.h"

#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"

using namespace nereid;

TEST(KernelRequest, must_have_an_argument_for_each_parameter) {
  support::DiagnosticEngine diagnostics;
  auto host = sema::FileHost::fromText("kernel.py",
                                       "import triton\n\n@triton.jit\ndef kernel(x_ptr, n):\n    pass\n", diagnostics);
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
