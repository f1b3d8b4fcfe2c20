// Declares the `amdg` dialect: ops of AMD's GPUs in TTGIR that Triton's compiler prints.
// SPDX-License-Identifier: MIT
#ifndef NEREID_AMDG_DIALECT
#define NEREID_AMDG_DIALECT

include "mlir/IR/OpBase.td"

def Amdg_Dialect : Dialect {
  let name = "amdg";
  let cppNamespace = "::nereid::amdg";
  let summary = "Ops for AMD's GPUs in imported TTGIR";
  let description = [{
    Nereid's own passes make none of these ops; `amd-rewrite-imported-ops`
    rewrites them as ops of `tt` and `ttg`.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
  let extraClassDeclaration = [{
    /// `#amdg.SchedHintVariant<attention>`, as a string.
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
  }];
}

#endif
