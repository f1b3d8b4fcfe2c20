// Declares the one op of `check`.
// SPDX-License-Identifier: MIT
#ifndef NEREID_CHECK_OPS
#define NEREID_CHECK_OPS

include "compiler/dialect/check/Dialect.td"
include "compiler/dialect/check/Enums.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ValuesOp : Op<Check_Dialect, "values", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "ends the launch with a report where the values are not as they should be";
  let description = [{
    By kind, the values are

    - `bounds`: pointers; each element lies in the tensor of parameter `argument`, or, where that is -1, in any;
    - `unwritten`: pointers; each element was written before;
    - `written`: pointers and what is stored there: notes it for `unwritten`;
    - `undefined`: flags; none is set;
    - `overflow`: two operands of the arithmetic `what`; where it wraps, that is noted for `wrapped`; with 64 bits it ends
      the launch at once;
    - `wrapped`: flags of what wrapped arithmetic went into; none is set;
    - `nan`: a result, then what it is computed from; NaN only where an input is. Along `axis`, of a reduction.

    C1. With `hasMask` the last value says which elements count; it has the first value's shape and i1 elements.
    C2. All values have one shape, but for `nan` of a dot or along an axis.

    `check.values bounds "load" (%p, %m) {argument = 0 : i32, hasMask} : tensor<8x!tt.ptr<f32>>, tensor<8xi1>`
  }];
  let arguments = (ins Check_Kind:$kind, StrAttr:$what, Variadic<AnyType>:$values,
      DefaultValuedAttr<I32Attr, "-1">:$argument, DefaultValuedAttr<I32Attr, "-1">:$axis, UnitAttr:$hasMask,
      UnitAttr:$isUnsigned);
  let assemblyFormat = "$kind $what `(` $values `)` attr-dict `:` type($values)";
  let hasVerifier = 1;
}

#endif
