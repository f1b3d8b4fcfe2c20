// Declares tensor descriptors and the accesses through them; Ops.td includes it.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_DESCRIPTOR_OPS
#define NEREID_TT_DESCRIPTOR_OPS

def MakeTensorDescOp : Tt_Op<"make_tensor_descriptor", [Pure, SameVariadicOperandSize]> {
  let summary = "describes a strided array whose blocks are accessed";
  let description = [{
    C1. There is one extent and one stride for each dimension of the block.
    C2. The pointer points to the block's elements.
    C3. Only floats are padded with NaN.

    `%d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %one] : <f16>, <128x64xf16>`
  }];
  let arguments = (ins Tt_PointerType:$base, Variadic<I32>:$shape, Variadic<I64>:$strides,
      DefaultValuedAttr<Tt_PaddingOption, "::nereid::tt::PaddingOption::PAD_ZERO">:$padding);
  let results = (outs Tt_TensorDescType:$result);
  let assemblyFormat = [{
    $base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict `:` type($base) `,` type($result)
  }];
  let hasVerifier = 1;
}

class Tt_DescriptorAccess<string mnemonic, list<Trait> traits = []>
    : Tt_Op<mnemonic, !listconcat([Tt_PreparesPadding], traits)> {
  let hasVerifier = 1;
}

def DescriptorLoadOp : Tt_DescriptorAccess<"descriptor_load"> {
  let summary = "reads the block that begins at the indices; elements outside of the array read as the padding";
  let description = [{
    C1. There is one index for each dimension.
    C2. The result is the descriptor's block.
  }];
  let arguments = (ins Arg<Tt_TensorDescType, "", [MemRead]>:$desc, Variadic<I32>:$indices,
      DefaultValuedAttr<Tt_CacheModifier, "::nereid::tt::CacheModifier::NONE">:$cache,
      DefaultValuedAttr<Tt_EvictionPolicy, "::nereid::tt::EvictionPolicy::NORMAL">:$evict);
  let results = (outs Tt_Tile:$result);
  let assemblyFormat = [{
    $desc `[` $indices `]` oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict)
    attr-dict `:` qualified(type($desc)) `->` type($result)
  }];
}

def DescriptorStoreOp : Tt_DescriptorAccess<"descriptor_store"> {
  let summary = "writes the block that begins at the indices, except for elements outside of the array";
  let description = [{
    C1. There is one index for each dimension.
    C2. `src` is the descriptor's block.
  }];
  let arguments = (ins Arg<Tt_TensorDescType, "", [MemRead, MemWrite]>:$desc, Tt_Tile:$src, Variadic<I32>:$indices);
  let assemblyFormat = [{
    $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)
  }];
}

def DescriptorReduceOp : Tt_DescriptorAccess<"descriptor_reduce"> {
  let summary = "combines the block that begins at the indices with a tile, element by element and atomically";
  let description = [{
    C1. There is one index for each dimension.
    C2. `src` is the descriptor's block.
    C3. Integers support every kind; floats support add, min and max.
  }];
  let arguments = (ins Tt_DescriptorReduceKind:$kind, Arg<Tt_TensorDescType, "", [MemRead, MemWrite]>:$desc,
      Tt_Tile:$src, Variadic<I32>:$indices);
  let assemblyFormat = [{
    $kind `,` $desc `[` $indices `]` `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)
  }];
}

def DescriptorGatherOp : Tt_DescriptorAccess<"descriptor_gather"> {
  let summary = "reads one row of an array for each row index, from a column on";
  let description = [{
    C1. The descriptor has two dimensions and blocks of one row.
    C2. The tile has one row for each index and the block's columns.
  }];
  let arguments = (ins Arg<Tt_TensorDescType, "", [MemRead]>:$desc, RankedTensorOf<[I32]>:$x_offsets, I32:$y_offset);
  let results = (outs Tt_Tile:$result);
  let assemblyFormat = [{
    $desc `[` $x_offsets `,` $y_offset `]` attr-dict `:` functional-type(operands, results)
  }];
}

def DescriptorScatterOp : Tt_DescriptorAccess<"descriptor_scatter"> {
  let summary = "writes one row of an array for each row index, from a column on";
  let description = [{
    C1. The descriptor has two dimensions and blocks of one row.
    C2. The tile has one row for each index and the block's columns.
  }];
  let arguments = (ins Arg<Tt_TensorDescType, "", [MemRead, MemWrite]>:$desc, RankedTensorOf<[I32]>:$x_offsets,
      I32:$y_offset, Tt_Tile:$src);
  let assemblyFormat = [{
    $desc `[` $x_offsets `,` $y_offset `]` `,` $src attr-dict `:` type(operands)
  }];
}

#endif
