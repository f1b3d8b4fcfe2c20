// Declares the `ttg` dialect: tiles whose elements are distributed over the threads of a CTA.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_DIALECT
#define NEREID_TTG_DIALECT

include "mlir/IR/OpBase.td"

def Ttg_Dialect : Dialect {
  let name = "ttg";
  let cppNamespace = "::nereid::ttg";
  let summary = "Layouts of tiles over threads, and shared memory";
  let description = [{
    A tile's type carries an encoding that says which thread holds which
    element. The module's attributes describe the machine: `ttg.num-warps`,
    `ttg.threads-per-warp`, `ttg.num-ctas`, `ttg.target`.
  }];
  let dependentDialects = ["::nereid::tt::TtDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// The linear layout of a tile's encoding, computed once per type.
    const ::nereid::layout::LinearLayout &linearLayoutOf(::mlir::RankedTensorType type);

  private:
    ::std::shared_ptr<struct LayoutCache> cache;

  public:
  }];
}

#endif
