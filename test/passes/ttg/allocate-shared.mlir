// RUN: nereid-opt %s --ttg-allocate-shared | FileCheck %s
// RUN: nereid-opt %s --test-print-shared-plan --verify-diagnostics -o /dev/null
// Buffers that are live at the same time, or in functions that may call each other, do not overlap; others share their
// memory; a barrier separates accesses of different threads to the same memory.

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory

// CHECK: module attributes {{.*}}ttg.shared = 163840 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: tt.func public @one_after_another
  // expected-remark @+1 {{shared memory of 163840 bytes}}
  tt.func public @one_after_another(%x: tensor<128x128xf16, #rows>) {
    // CHECK: ttg.convert_layout {{.*}} {allocation.offset = 0 : i32}
    // expected-remark @+1 {{bytes [0, 32768)}}
    %a = ttg.convert_layout %x : tensor<128x128xf16, #rows> -> tensor<128x128xf16, #columns>
    // CHECK: ttg.convert_layout {{.*}} {allocation.offset = 0 : i32}
    // expected-remark @+1 {{bytes [0, 32768) after a barrier}}
    %b = ttg.convert_layout %a : tensor<128x128xf16, #columns> -> tensor<128x128xf16, #rows>
    tt.return
  }

  // CHECK-LABEL: tt.func public @together
  // expected-remark @+1 {{shared memory of 163840 bytes}}
  tt.func public @together(%x: tensor<128x128xf32, #rows>) {
    // CHECK: ttg.local_alloc {{.*}} {allocation.offset = 32768 : i32}
    // expected-remark @+1 {{bytes [32768, 98304)}}
    %a = ttg.local_alloc %x : (tensor<128x128xf32, #rows>) -> !ttg.memdesc<128x128xf32, #shared, #smem>
    // CHECK: ttg.local_alloc {{.*}} {allocation.offset = 98304 : i32}
    // expected-remark @+1 {{bytes [98304, 163840)}}
    %b = ttg.local_alloc %x : (tensor<128x128xf32, #rows>) -> !ttg.memdesc<128x128xf32, #shared, #smem>
    // expected-remark @+1 {{after a barrier}}
    %y = ttg.local_load %a : !ttg.memdesc<128x128xf32, #shared, #smem> -> tensor<128x128xf32, #columns>
    // One barrier made the contents of both buffers visible.
    %z = ttg.local_load %b : !ttg.memdesc<128x128xf32, #shared, #smem> -> tensor<128x128xf32, #columns>
    tt.return
  }
}
