// Declares the passes on modules of Gluon kernels.
// SPDX-License-Identifier: MIT
#ifndef NEREID_GLUON_PASSES
#define NEREID_GLUON_PASSES

include "mlir/Pass/PassBase.td"

def DropLayouts : Pass<"gluon-drop-layouts", "::mlir::ModuleOp"> {
  let summary = "drops layouts, for a target whose programs are one thread";
  let description = [{
    Conversions of layouts are gone, tiles are `tt`'s. An op on shared memory or warps is an error at its line.
  }];
}

def ResolveLayouts : Pass<"gluon-resolve-layouts", "::mlir::ModuleOp"> {
  let summary = "finds the layouts that the author of a kernel left open";
  let description = [{
    Accesses whose tile is `#gluon.coalesced_encoding` get the layout in which
    they are fastest. Layouts then spread from where they are known to the tiles
    of the encodings of `gluon`, along the relations of ops. A tile that gets two
    different ones, or none, is an error.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
  let statistics = [Statistic<"numFound", "found", "tiles whose layout was found">];
}

#endif
