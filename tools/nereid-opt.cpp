// `nereid-opt`: runs any pass or named pipeline on IR text.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/check/Dialect.h"
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttng/Dialect.h"
#include "compiler/passes/tt/Pipeline.h"
#include "compiler/passes/ttg/Pipeline.h"
#include "compiler/target/cpu/Pipeline.h"
#include "compiler/target/nvidia/Pipeline.h"
#include "tools/nereid-opt/TestPasses.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<nereid::check::CheckDialect, nereid::imported::LlvmDialect, nereid::imported::GpuDialect,
                  nereid::tt::TtDialect, nereid::ttg::TtgDialect, nereid::ttng::TtngDialect, mlir::arith::ArithDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect, mlir::cf::ControlFlowDialect>();
  mlir::registerTransformsPasses();
  nereid::tt::registerPipelines();
  nereid::ttg::registerPipelines();
  nereid::cpu::registerPipelines();
  nereid::nvidia::registerPipelines();
  nereid::registerTestPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Nereid's optimiser driver\n", registry));
}
