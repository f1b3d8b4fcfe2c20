// Declares the attributes of `tt` ops that have a text form of their own.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_ATTRS
#define NEREID_TT_ATTRS

include "compiler/dialect/tt/Dialect.td"
include "compiler/dialect/tt/Enums.td"
include "mlir/IR/AttrTypeBase.td"

def Tt_CachePolicyAttr : AttrDef<Tt_Dialect, "CachePolicy"> {
  let mnemonic = "cache_policy";
  let summary = "how an access uses the caches, as its op prints it";
  let description = [{
    `#tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>`
  }];
  let parameters = (ins EnumParameter<Tt_CacheModifier>:$cache_modifier,
                        EnumParameter<Tt_EvictionPolicy>:$eviction_policy);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
