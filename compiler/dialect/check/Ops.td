// Declares the one op of `check`.
// SPDX-License-Identifier: MIT
#ifndef NEREID_CHECK_OPS
#define NEREID_CHECK_OPS

include "compiler/dialect/check/Dialect.td"
include "compiler/dialect/check/Enums.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ValuesOp : Op<Check_Dialect, "values", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "ends the launch with a report where the values violate the check";
  let description = [{
    The meaning of the values depends on the kind:

    - `bounds`: pointers; each element must be in the tensor of parameter `argument` or, where that is -1, in any;
    - `unwritten`: pointers; each element must have been written before;
    - `written`: pointers and the values stored there; records the elements for `unwritten`;
    - `undefined`: flags, none of which may be set;
    - `overflow`: two operands of the arithmetic `what`, or for `sum` a sum and the same in 64 bits; an element that wraps is recorded for `wrapped`, and with 64
      bits it ends the launch at once;
    - `wrapped`: flags of values that depend on wrapped arithmetic, none of which may be set;
    - `nan`: a result, then its operands; the result may be NaN only where an operand is. `axis` is that of a reduction.

    C1. With `hasMask` the last value selects the checked elements; it has the first value's shape and i1 elements.
    C2. All values have one shape, except for `nan` of a dot or along an axis.

    `check.values bounds "load" (%p, %m) {argument = 0 : i32, hasMask} : tensor<8x!tt.ptr<f32>>, tensor<8xi1>`
  }];
  let arguments = (ins Check_Kind:$kind, StrAttr:$what, Variadic<AnyType>:$values,
      DefaultValuedAttr<I32Attr, "-1">:$argument, DefaultValuedAttr<I32Attr, "-1">:$axis, UnitAttr:$hasMask,
      UnitAttr:$isUnsigned);
  let assemblyFormat = "$kind $what `(` $values `)` attr-dict `:` type($values)";
  let hasVerifier = 1;
}

#endif
