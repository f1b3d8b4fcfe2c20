// Declares the `ttng` dialect: what NVIDIA's GPUs have beyond the threads and shared memory of `ttg`.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTNG_DIALECT
#define NEREID_TTNG_DIALECT

include "mlir/IR/OpBase.td"

def Ttng_Dialect : Dialect {
  let name = "ttng";
  let cppNamespace = "::nereid::ttng";
  let summary = "Matrix units and asynchronous memory accesses of NVIDIA's GPUs";
  let description = [{
    Units that work beside the threads read and write shared memory through a
    path of their own, the async proxy: `fence_async_shared` orders it behind
    the threads' stores.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
}

#endif
