// Declares what the pipeliner asks of asynchronous loads: interfaces that ops of vendors' dialects implement.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_ASYNC_INTERFACES
#define NEREID_TTG_ASYNC_INTERFACES

include "mlir/IR/OpBase.td"

def AsyncTileLoad : OpInterface<"AsyncTileLoad"> {
  let cppNamespace = "::nereid::ttg";
  let description = [{
    A load of a whole tile that a copy to shared memory can replace. The copy is
    asynchronous; a barrier in shared memory counts its bytes.
  }];
  let methods = [
    InterfaceMethod<"the value that describes the memory which is read", "::mlir::Value", "getMemory">,
    InterfaceMethod<"the type of a buffer that a copy fills", "::nereid::ttg::MemDescType", "bufferType",
                    (ins "bool":$isMutable)>,
    InterfaceMethod<"creates the copy to `buffer`; it does nothing where `predicate` (i1) is false",
                    "::mlir::Operation *", "createCopy",
                    (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$barrier, "::mlir::Value":$buffer,
                     "::mlir::Value":$predicate)>,
  ];
}

def PredicatedOp : OpInterface<"PredicatedOp"> {
  let cppNamespace = "::nereid::ttg";
  let description = [{ An op that does nothing where its predicate (i1) is false. }];
  let methods = [InterfaceMethod<"the predicate", "::mlir::OpOperand &", "getPredMutable">];
}

def ThreadsSignal : OpInterface<"ThreadsSignal"> {
  let cppNamespace = "::nereid::ttg";
  let description = [{ An op by which one thread tells others that all threads which run the op have come so far. }];
  let methods = [InterfaceMethod<"whether the thread speaks for others, whose accesses must be done", "bool",
                                 "followsOtherThreads">];
}

/// Starts asynchronous writes that a matching wait op of every thread completes.
def StartsTransfer : NativeOpTrait<"StartsTransfer"> {
  let cppNamespace = "::nereid::ttg";
}
/// The result describes the memory that the first operand points to.
def DescribesMemory : NativeOpTrait<"DescribesMemory"> {
  let cppNamespace = "::nereid::ttg";
}

#endif
