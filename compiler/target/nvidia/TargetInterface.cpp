// Implements ttg::TargetInterface by the `ttng` dialect.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/TargetInterface.h"

#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/target/nvidia/arch/Archs.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/dialect/HostTensorMaps.h"
#include "compiler/target/nvidia/passes/dots/AsyncDots.h"
#include "compiler/target/nvidia/passes/dots/MmaLayouts.h"

using namespace mlir;
using namespace nereid;

namespace {
struct NvidiaTargetInterface : ttg::TargetInterface {
  using TargetInterface::TargetInterface;

  bool isTarget(StringRef target) const final { return target.starts_with("cuda:"); }

  std::optional<ttg::ByValueParameter> parameterByValue(NamedAttribute attribute) const final {
    if (attribute.getName() != ttng::kTensorMap)
      return std::nullopt;
    return ttg::ByValueParameter{ttng::kTensorMapBytes, ttng::kTensorMapAlign};
  }

  ttg::MatrixAccesses matrixAccesses(StringRef target) const final {
    std::string reason;
    target.consume_front("cuda:");
    const std::optional<nvidia::Arch> arch = nvidia::findArch(target.str(), reason);
    if (!arch)
      return {};
    return {.hasLdmatrix = arch->hasWarpMma, .hasStmatrix = arch->hasStmatrix};
  }

  ttg::LayoutEncoding dotLayout(tt::DotOpInterface dot, const ttg::MmaFeatures &features,
                                ttg::ThreadCounts threads) const final {
    return nvidia::dotLayout(cast<tt::DotOp>(dot.getOperation()), features, threads);
  }
  ttg::LayoutEncoding operandLayout(tt::DotOpInterface dot, unsigned operand,
                                    ttg::LayoutEncoding accumulator) const final {
    return nvidia::operandLayout(cast<tt::DotOp>(dot.getOperation()), operand, accumulator);
  }

  ttg::MemDescType barrierType(MLIRContext *context, unsigned count) const final {
    return ttng::barrierType(context, count);
  }
  void createInit(OpBuilder &builder, Location loc, Value barriers) const final {
    ttng::InitBarrierOp::create(builder, loc, barriers, /*count=*/1);
  }
  Operation *createExpect(OpBuilder &builder, Location loc, Value barrier, unsigned bytes,
                          Value predicate) const final {
    return ttng::BarrierExpectOp::create(builder, loc, barrier, bytes, predicate);
  }
  Operation *createWait(OpBuilder &builder, Location loc, Value barrier, Value phase) const final {
    return ttng::WaitBarrierOp::create(builder, loc, barrier, phase);
  }
  void createInvalidate(OpBuilder &builder, Location loc, Value barriers) const final {
    ttng::InvalBarrierOp::create(builder, loc, barriers);
  }

  Operation *makeDotsAsync(scf::ForOp loop, ArrayRef<Value> multiBuffers, RewriterBase &rewriter) const final {
    return nvidia::makeDotsAsync(loop, multiBuffers, rewriter);
  }
  void eraseIdleFences(scf::ForOp loop, RewriterBase &rewriter) const final {
    nvidia::eraseIdleFences(*loop.getBody(), rewriter);
  }
};
} // namespace

void nvidia::registerDialect(DialectRegistry &registry) {
  registry.insert<ttng::TtngDialect>();
  registry.addExtension(
      +[](MLIRContext *, ttng::TtngDialect *dialect) { dialect->addInterfaces<NvidiaTargetInterface>(); });
}
