// Declares the encodings of tiles whose layout is still to be found.
// SPDX-License-Identifier: MIT
#ifndef NEREID_GLUON_ATTRS
#define NEREID_GLUON_ATTRS

include "compiler/dialect/gluon/Dialect.td"
include "mlir/IR/AttrTypeBase.td"

def Gluon_AutoAttr : AttrDef<Gluon_Dialect, "Auto"> {
  let mnemonic = "auto_encoding";
  let summary = "the layout follows from those of the tiles that it is computed with";
  let assemblyFormat = "";
}

def Gluon_CoalescedAttr : AttrDef<Gluon_Dialect, "Coalesced"> {
  let mnemonic = "coalesced_encoding";
  let summary = "the layout in which a warp's accesses to memory are adjacent";
  let assemblyFormat = "";
}

#endif
