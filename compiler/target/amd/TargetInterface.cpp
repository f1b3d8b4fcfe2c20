// Implements ttg::TargetInterface for AMD GPUs.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/TargetInterface.h"

#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/target/amd/dialect/Dialect.h"
#include "compiler/target/amd/passes/MatrixLayouts.h"

using namespace mlir;
using namespace nereid;

namespace {
struct AmdTargetInterface : ttg::TargetInterface {
  using TargetInterface::TargetInterface;

  bool isTarget(StringRef target) const final { return target.starts_with("hip:"); }
  std::optional<ttg::ByValueParameter> parameterByValue(NamedAttribute) const final { return std::nullopt; }
  ttg::MatrixAccesses matrixAccesses(StringRef) const final { return {}; }

  ttg::LayoutEncoding dotLayout(tt::DotOpInterface dot, const ttg::MmaFeatures &,
                                ttg::ThreadCounts threads) const final {
    return amd::dotLayout(dot, threads);
  }
  ttg::LayoutEncoding operandLayout(tt::DotOpInterface dot, unsigned operand,
                                    ttg::LayoutEncoding accumulator) const final {
    return amd::operandLayout(dot, operand, accumulator);
  }
  bool readsOperandsInDots() const final { return true; }

  /// A wave's load to LDS fills consecutive addresses, and buffer instructions write zeros where a lane is masked off.
  bool copiesAsync(Operation *access, const layout::SharedAccessPattern &pattern, unsigned vectorBytes) const final {
    const std::optional<amd::Arch> arch = amd::archOf(access);
    return arch && vectorBytes == arch->ldsLoadBytes && access->hasAttr(ttg::kBoundedOffset) && pattern.isInLaneOrder();
  }

  // No copy signals a barrier in shared memory, so no pass asks for one.
  ttg::MemDescType barrierType(MLIRContext *, unsigned) const final { llvm_unreachable("no barriers in LDS"); }
  void createInit(OpBuilder &, Location, Value) const final { llvm_unreachable("no barriers in LDS"); }
  Operation *createExpect(OpBuilder &, Location, Value, unsigned, Value) const final {
    llvm_unreachable("no barriers in LDS");
  }
  Operation *createWait(OpBuilder &, Location, Value, Value) const final { llvm_unreachable("no barriers in LDS"); }
  void createInvalidate(OpBuilder &, Location, Value) const final { llvm_unreachable("no barriers in LDS"); }

  /// Matrix instructions read registers.
  Operation *makeDotsAsync(scf::ForOp, ArrayRef<Value>, RewriterBase &) const final { return nullptr; }
  void eraseIdleFences(scf::ForOp, RewriterBase &) const final {}
};
} // namespace

void amd::registerDialect(DialectRegistry &registry) {
  registry.insert<ttag::TtagDialect, amdg::AmdgDialect, rocdl::RocdlDialect>();
  registry.addExtension(
      +[](MLIRContext *, ttag::TtagDialect *dialect) { dialect->addInterfaces<AmdTargetInterface>(); });
}
