// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Arrivals at barriers round-trip.

#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func @arrivals
  tt.func @arrivals(%b: !ttg.memdesc<1xi64, #flat, #smem, mutable>, %p: i1) {
    // CHECK: ttng.arrive_barrier %{{.*}} : !ttg.memdesc<1xi64, #{{.*}}, #smem, mutable>
    ttng.arrive_barrier %b : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    // CHECK: ttng.arrive_barrier %{{.*}} if %{{.*}} : !ttg.memdesc<1xi64, #{{.*}}, #smem, mutable>
    ttng.arrive_barrier %b if %p : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    // CHECK: ttng.async_copy_mbarrier_arrive %{{.*}} : !ttg.memdesc<1xi64, #{{.*}}, #smem, mutable>
    ttng.async_copy_mbarrier_arrive %b : !ttg.memdesc<1xi64, #flat, #smem, mutable>
    tt.return
  }
}
