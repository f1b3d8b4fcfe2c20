// Declares the interfaces by which ops state what depends on the layouts of their tiles. Those of `tt` have external
// models: TtOpRules.h.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_INTERFACES
#define NEREID_TTG_INTERFACES

include "mlir/IR/OpBase.td"

def LayoutRelationOpInterface : OpInterface<"LayoutRelationOpInterface"> {
  let cppNamespace = "::nereid::ttg";
  let description = [{
    An op whose operands and results need not all have one layout. Elementwise ops do without the interface, and so do
    ops that only read tiles and take them in any layout.
  }];
  let methods = [
    InterfaceMethod<"how the layouts of operands and results follow from the one in which the op works",
                    "::nereid::ttg::LayoutRelation", "getLayoutRelation">,
    InterfaceMethod<"whether the op can work in `layout`", "bool", "worksIn",
                    (ins "::nereid::ttg::LayoutEncoding":$layout), "", "return true;">,
  ];
}

def ScratchOpInterface : OpInterface<"ScratchOpInterface"> {
  let cppNamespace = "::nereid::ttg";
  let description = [{
    An op that may need shared memory while it runs, to pass values between warps or for a tile of its own: the ops
    that it is lowered to allocate the buffer, or else the plan of shared memory.
  }];
  let methods = [
    InterfaceMethod<"the buffer that the op needs; empty where its tiles have no layouts", "::nereid::ttg::Scratch",
                    "getScratch">,
  ];
}

#endif
