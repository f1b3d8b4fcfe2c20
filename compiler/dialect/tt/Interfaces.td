// Declares the interfaces by which ops of `tt` and of dialects above it state rules that analyses and passes apply.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_INTERFACES
#define NEREID_TT_INTERFACES

include "mlir/IR/OpBase.td"

def DotOpInterface : OpInterface<"DotOpInterface"> {
  let cppNamespace = "::nereid::tt";
  let description = [{
    A matrix multiplication d = a * b + c, by whatever instructions.
  }];
  let methods = [
    InterfaceMethod<"a tile, or a buffer of one", "::mlir::Value", "getA">,
    InterfaceMethod<"a tile, or a buffer of one", "::mlir::Value", "getB">,
    InterfaceMethod<"the tile to which the product is added", "::mlir::Value", "getC">,
    InterfaceMethod<"the result", "::mlir::Value", "getD">,
    InterfaceMethod<"whether the result may be used only after a later op has waited for it", "bool",
                    "isAsynchronous", (ins), "", "return false;">,
  ];
}

def MemoryAccessOpInterface : OpInterface<"MemoryAccessOpInterface"> {
  let cppNamespace = "::nereid::tt";
  let description = [{
    An access to global memory through one pointer or a tile of pointers, lane by lane.
  }];
  let methods = [
    InterfaceMethod<"the pointer, or the tile of pointers", "::mlir::Value", "getAccessedPointer", (ins), "",
                    "return $_op.getPtr();">,
    InterfaceMethod<"the lanes that access memory; null where all do", "::mlir::Value", "getAccessMask", (ins), "",
                    "return $_op.getMask();">,
    InterfaceMethod<"the value that is stored or combined; null where the access only reads", "::mlir::Value",
                    "getStoredValue", (ins), "", "return {};">,
    InterfaceMethod<"what lanes read whose mask is false; null where that is undefined", "::mlir::Value",
                    "getMaskedOffValue", (ins), "", "return {};">,
    InterfaceMethod<"how an atomic access orders others; none for a plain access",
                    "::std::optional<::nereid::tt::MemSemantic>", "getAtomicOrdering", (ins), "",
                    "return ::std::nullopt;">,
  ];
  let extraSharedClassDeclaration = [{
    bool isAtomic() { return $_op.getAtomicOrdering().has_value(); }
    bool readsMemory() { return $_op->getNumResults() > 0; }
    bool writesMemory() { return $_op.getStoredValue() != nullptr; }
    /// Whether no other access may move across it: it writes, or it is atomic and orders what other programs see.
    bool keepsOrder() { return isAtomic() || writesMemory(); }
  }];
}

def PaddableOpInterface : OpInterface<"PaddableOpInterface"> {
  let cppNamespace = "::nereid::tt";
  let description = [{
    An op that would use elements which do not exist when the extents of its tiles are rounded up to powers of two.
    Ops without the interface only change their types.
  }];
  let methods = [
    InterfaceMethod<[{
      Called before any type changes. The op may rewrite itself; it fails, with a diagnostic, where it cannot be padded.
    }], "::llvm::LogicalResult", "prepareForPadding", (ins), "", "return ::llvm::success();">,
    InterfaceMethod<[{
      Called when all types have changed, with the shapes of operands and results before that. The op excludes elements
      that do not exist, and may replace itself.
    }], "void", "excludePadding",
        (ins "::llvm::ArrayRef<::nereid::tt::Extents>":$operands, "::llvm::ArrayRef<::nereid::tt::Extents>":$results),
        "", "return;">,
  ];
}

def CheckableOpInterface : OpInterface<"CheckableOpInterface"> {
  let cppNamespace = "::nereid::tt";
  let description = [{
    An op whose lanes need other checks of a sanitizer than those of elementwise ops.
  }];
  let methods = [
    InterfaceMethod<[{
      What a report calls an element of an operand, all of which must be defined since lanes mix; empty where lanes do
      not mix.
    }], "::llvm::StringRef", "getMixedElementName", (ins), "", "return {};">,
    InterfaceMethod<"whether a result may be NaN where no operand is", "bool", "mayProduceNan", (ins), "",
                    "return false;">,
    InterfaceMethod<"the dimension along which elements are combined", "::std::optional<int32_t>", "getCombinedAxis",
                    (ins), "", "return ::std::nullopt;">,
  ];
}

def ElementMapOpInterface : OpInterface<"ElementMapOpInterface"> {
  let cppNamespace = "::nereid::tt";
  let description = [{
    An op whose results hold elements of its operands, at other coordinates or in other threads. Elementwise ops need no
    map: `elementMapOf` and `elementSources` (ElementMap.h) answer for every op.
  }];
  let methods = [
    InterfaceMethod<[{
      From which element of an operand an element of a result comes, or by which one it is chosen.
    }], "::nereid::tt::ElementMap", "getElementMap", (ins "unsigned":$operand, "unsigned":$result)>,
    InterfaceMethod<"the operands whose elements the results hold", "::mlir::OperandRange", "getElementSources", (ins),
                    "", "return $_op->getOperands();">,
  ];
}
/// The results hold elements of all operands.
def Tt_MovesElements : DeclareOpInterfaceMethods<ElementMapOpInterface>;

#endif
