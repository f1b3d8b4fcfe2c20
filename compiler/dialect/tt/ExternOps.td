// Declares the ops that call functions of other libraries or inline assembly.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_EXTERN_OPS
#define NEREID_TT_EXTERN_OPS

class Tt_ExternOp<string mnemonic, list<Trait> traits = []>
    : Tt_Op<mnemonic, !listconcat([Elementwise, Tt_SameEncoding, CheckableOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, DeclareOpInterfaceMethods<ConditionallySpeculatable>],
        traits)> {
  let extraClassDeclaration = [{
    bool mayProduceNan() { return getPure(); }
  }];
}

def ExternElementwiseOp : Tt_ExternOp<"extern_elementwise"> {
  let summary = "a function of another library, by its symbol, on each element";
  let description = [{
    C1. Tiles have one shape.
    An op that is not `pure` runs once for each element and is neither moved nor erased.

    `%r = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_sinf"} : (tensor<8xf32>) -> tensor<8xf32>`
  }];
  let arguments = (ins Variadic<Tt_Value>:$srcs, StrAttr:$libname, StrAttr:$libpath, StrAttr:$symbol, BoolAttr:$pure);
  let results = (outs Tt_Value:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, $result)";
}

def ElementwiseInlineAsmOp : Tt_ExternOp<"elementwise_inline_asm", [Tt_ExcludesPadding]> {
  let summary = "assembly of the target on `packed_element` elements at a time";
  let description = [{
    C1. Tiles have one shape.
    C2. `packed_element` is positive.
    Elements narrower than 32 bits are packed into words where several are taken at a time. Constraints have LLVM's
    syntax, results first.

    `%r = tt.elementwise_inline_asm "movl $1, $0" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %x : tensor<8xi32> -> tensor<8xi32>`
  }];
  let arguments = (ins StrAttr:$asm_string, StrAttr:$constraints, BoolAttr:$pure, I32Attr:$packed_element,
      Variadic<Tt_Value>:$args);
  let results = (outs Variadic<Tt_Value>:$results);
  let assemblyFormat = "$asm_string attr-dict ($args^ `:` type($args))? `->` type($results)";
  let hasVerifier = 1;
}

#endif
