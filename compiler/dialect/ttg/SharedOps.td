// Declares views of buffers in shared memory of another shape or type, and accesses by indices.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_SHARED_OPS
#define NEREID_TTG_SHARED_OPS

include "compiler/dialect/tt/Enums.td"
include "compiler/dialect/tt/Types.td"

class Ttg_BufferView<string mnemonic> : Ttg_Op<mnemonic, [Pure, MemDescView]> {
  let arguments = (ins Ttg_MemDescType:$src);
  let results = (outs Ttg_MemDescType:$result);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def MemDescReshapeOp : Ttg_BufferView<"memdesc_reshape"> {
  let summary = "a buffer with its elements in another shape, in row-major order";
  let description = [{
    C1. The result has as many elements as the source, its element type and memory, and is mutable where the source is.
    C2. The source is no part of a larger buffer, as `memdesc_subslice` makes it.
    C3. The encoding of the result puts the elements where they are in memory.

    `%y = ttg.memdesc_reshape %x : !ttg.memdesc<4x32xf16, #shared, #smem> -> !ttg.memdesc<128xf16, #shared1, #smem>`
  }];
}

def MemDescReinterpretOp : Ttg_BufferView<"memdesc_reinterpret"> {
  let summary = "the bytes of a buffer as one of another shape, element type and encoding";
  let description = [{
    C1. The result is a whole buffer, in the same memory, and mutable where the source is.
    C2. Its bytes are bytes of the source: it is no larger, and a source that is a part of a buffer has adjacent bytes.
    C3. Both have the same gaps, in bytes.

    `%y = ttg.memdesc_reinterpret %x : !ttg.memdesc<64xf32, #shared, #smem> -> !ttg.memdesc<128xf16, #shared, #smem>`
  }];
}

def LocalGatherOp : Ttg_Op<"local_gather"> {
  let summary = "reads elements of a buffer whose coordinates along one dimension are given";
  let description = [{
    C1. `indices` are integers and have as many dimensions as the buffer, with no larger extents in the others than
        `axis`.
    C2. The result has the shape and the encoding of `indices` and the buffer's element type.
    C3. `axis` is a dimension.

    `result[i, j] = src[indices[i, j], j]` for axis 0. An index outside the dimension reads some element of the buffer.
  }];
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemRead<Ttg_Smem>]>:$src, AnyRankedTensor:$indices, I32Attr:$axis,
      Optional<Ttg_AsyncTokenType>:$token);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $src `[` $indices `]` (`token` $token^)? attr-dict `:` qualified(type($src)) `,` type($indices) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$src, "::mlir::Value":$indices,
      "uint32_t":$axis), [{ build($_builder, $_state, result, src, indices, axis, ::mlir::Value()); }]>];
  let hasVerifier = 1;
}

def LocalScatterOp : Ttg_Op<"local_scatter"> {
  let summary = "writes elements of a buffer whose coordinates along one dimension are given";
  let description = [{
    C1. `indices` are integers and have as many dimensions as the buffer, with no larger extents in the others than
        `axis`.
    C2. `values` have the shape and the encoding of `indices` and the buffer's element type.
    C3. `axis` is a dimension.
    C4. The buffer is mutable.

    `dst[indices[i, j], j] = values[i, j]` for axis 0. Of several values for one element, any is written.
  }];
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemWrite<Ttg_Smem>]>:$dst, AnyRankedTensor:$values,
      AnyRankedTensor:$indices, I32Attr:$axis, Optional<Ttg_AsyncTokenType>:$token);
  let assemblyFormat = [{
    $dst `[` $indices `]` `,` $values (`token` $token^)? attr-dict `:` qualified(type($dst)) `,` type($indices) `,`
    type($values)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$dst, "::mlir::Value":$values, "::mlir::Value":$indices,
      "uint32_t":$axis), [{ build($_builder, $_state, dst, values, indices, axis, ::mlir::Value()); }]>];
  let hasVerifier = 1;
}

def LocalAtomicScatterRMWOp : Ttg_Op<"local_atomic_scatter_rmw", [DeclareOpInterfaceMethods<ScratchOpInterface>]> {
  let summary = "combines elements of a buffer with values, atomically; gives the old elements";
  let description = [{
    C1. `indices` are integers and have as many dimensions as the buffer, with no larger extents in the others than
        `axis`.
    C2. `values` and the result have the shape and the encoding of `indices` and the buffer's element type; `mask` has
        i1 elements.
    C3. `axis` is a dimension.
    C4. The buffer is mutable.
    C5. `fadd` combines floats, `exch` any elements, all others integers.

    `dst[indices[i, j], j]` is combined with `values[i, j]` for axis 0 where the mask is true; elsewhere the result is
    undefined. The order of lanes is unspecified.
  }];
  let arguments = (ins Tt_RMWOp:$atomic_rmw_op, Arg<Ttg_MemDescType, "", [MemRead<Ttg_Smem>, MemWrite<Ttg_Smem>]>:$dst,
      AnyRankedTensor:$values, AnyRankedTensor:$indices, Optional<AnyRankedTensor>:$mask, I32Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $atomic_rmw_op `,` $dst `[` $indices `]` `,` $values (`,` $mask^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Whether the order of this and another such op makes no difference.
    bool isCommutative();
  }];
  let hasVerifier = 1;
}

#endif
