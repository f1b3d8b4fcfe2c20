// `nereid-opt`: runs any pass or named pipeline on IR text.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Compiler.h"
#include "compiler/passes/gluon/Pipeline.h"
#include "compiler/passes/tt/Pipeline.h"
#include "compiler/target/amd/Pipeline.h"
#include "compiler/target/cpu/Pipeline.h"
#include "compiler/target/nvidia/Pipeline.h"
#include "tools/nereid-opt/TestPasses.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  nereid::driver::registerDialects(registry);
  mlir::registerTransformsPasses();
  nereid::tt::registerPipelines();
  nereid::gluon::registerPipelines();
  nereid::cpu::registerPipelines();
  nereid::nvidia::registerPipelines();
  nereid::amd::registerPipelines();
  nereid::registerTestPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Nereid's optimiser driver\n", registry));
}
