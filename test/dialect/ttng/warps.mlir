// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Arrivals at barriers round-trip.

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @arrivals
  tt.func @arrivals(%b: !ttg.memdesc<1xi64, #flat, #smem, mutable>, %p: i1) {
    // CHECK: ttng.arrive_barrier %{{.*}}, 1 {byWarp} : !ttg.memdesc<1xi64, #{{.*}}, #smem, mutable>
    ttng.arrive_barrier %b, 1 {byWarp} : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    // CHECK: ttng.arrive_barrier %{{.*}}, 1, %{{.*}} {byWarp} : !ttg.memdesc<1xi64, #{{.*}}, #smem, mutable>
    ttng.arrive_barrier %b, 1, %p {byWarp} : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    // CHECK: ttng.async_copy_mbarrier_arrive %{{.*}} {noIncrement} : !ttg.memdesc<1xi64, #{{.*}}, #smem, mutable>
    ttng.async_copy_mbarrier_arrive %b {noIncrement} : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    tt.return
  }

  // CHECK-LABEL: tt.func @by_one_thread
  tt.func @by_one_thread(%b: !ttg.memdesc<1xi64, #flat, #smem, mutable>, %x: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %i: i32, %p: i1) {
    // CHECK: ttng.arrive_barrier %{{.*}}, 2 : !ttg.memdesc<1xi64, #{{.*}}, #smem, mutable>
    ttng.arrive_barrier %b, 2 : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    // CHECK: ttng.wait_barrier %{{.*}}, %{{.*}}, %{{.*}} deps %{{.*}} : !ttg.memdesc<1xi64, #{{.*}}, #smem, mutable>, !ttg.memdesc<64x64xf16
    ttng.wait_barrier %b, %i, %p deps %x : !ttg.memdesc<1xi64, #flat, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK: ttng.async_copy_mbarrier_arrive %{{.*}} : !ttg.memdesc<1xi64
    ttng.async_copy_mbarrier_arrive %b : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    tt.return
  }

  // CHECK-LABEL: tt.func @descriptors
  tt.func @descriptors(%d: !tt.tensordesc<64x64xf16, #shared>, %b: !ttg.memdesc<1xi64, #flat, #smem, mutable>, %x: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %i: i32, %p: i1) {
    // CHECK: ttng.async_tma_copy_global_to_local %{{.*}}[%{{.*}}, %{{.*}}] %{{.*}}, %{{.*}}, %{{.*}} : !tt.tensordesc<64x64xf16, #{{.*}}>, !ttg.memdesc<1xi64{{.*}} -> !ttg.memdesc<64x64xf16
    ttng.async_tma_copy_global_to_local %d[%i, %i] %x, %b, %p : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #flat, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK: ttng.async_tma_reduce add, %{{.*}}[%{{.*}}, %{{.*}}] %{{.*}} : !tt.tensordesc<64x64xf16, #{{.*}}>, !ttg.memdesc<64x64xf16
    ttng.async_tma_reduce add, %d[%i, %i] %x : !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK: ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
    ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
    tt.return
  }
}
