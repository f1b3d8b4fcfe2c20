// Declares the `ttng` dialect: features of NVIDIA GPUs beyond the threads and shared memory of `ttg`.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTNG_DIALECT
#define NEREID_TTNG_DIALECT

include "mlir/IR/OpBase.td"

def Ttng_Dialect : Dialect {
  let name = "ttng";
  let cppNamespace = "::nereid::ttng";
  let summary = "Tensor cores and asynchronous memory accesses of NVIDIA GPUs";
  let description = [{
    wgmma and TMA read and write shared memory asynchronously through the async
    proxy: `fence_async_shared` orders the threads' stores before accesses of
    that proxy.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
}

#endif
