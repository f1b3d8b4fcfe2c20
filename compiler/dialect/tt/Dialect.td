// Declares the `tt` dialect: block-level kernels, independent of hardware.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_DIALECT
#define NEREID_TT_DIALECT

include "mlir/IR/OpBase.td"

def Tt_Dialect : Dialect {
  let name = "tt";
  let cppNamespace = "::nereid::tt";
  let summary = "Tiles, pointers and the operations of block-level kernels";
  let description = [{
    The text of this dialect is an interface: PyTorch searches it for op names, and
    text that other producers of the same dialect print is parsed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

#endif
