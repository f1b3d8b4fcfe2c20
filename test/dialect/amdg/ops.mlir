// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Round trips of the ops of AMD's GPUs in imported TTGIR.

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
#rows = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#columns = #ttg.linear<{register = [[1, 0], [0, 1]], lane = [[0, 2], [0, 4], [0, 8], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// CHECK-LABEL: tt.func @buffers
tt.func @buffers(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %o: tensor<256xi32, #blocked>, %m: tensor<256xi1, #blocked>, %s: i32,
                 %b: !ttg.memdesc<256xf32, #shared, #smem, mutable>) {
  // CHECK: amdg.buffer_load %{{.*}}[%{{.*}}] : !tt.ptr<f32> -> tensor<256xf32, #blocked>
  %0 = amdg.buffer_load %p[%o] : tensor<256xf32, #blocked>
  // CHECK: amdg.buffer_load %{{.*}}[%{{.*}}], %{{.*}}, %{{.*}} cacheModifier = ca stride = %{{.*}} : !tt.ptr<f32> -> tensor<256xf32, #blocked>
  %1 = amdg.buffer_load %p[%o], %m, %0 cacheModifier = ca stride = %s : !tt.ptr<f32> -> tensor<256xf32, #blocked>
  // CHECK: amdg.buffer_store %{{.*}}, %{{.*}}[%{{.*}}], %{{.*}} cacheModifier = wt : !tt.ptr<f32> -> tensor<256xf32, #blocked>
  amdg.buffer_store %1, %p[%o], %m cacheModifier = wt : tensor<256xf32, #blocked>
  // CHECK: amdg.buffer_atomic_rmw fadd, relaxed, gpu, %{{.*}}, %{{.*}}[%{{.*}}], %{{.*}} stride = %{{.*}} : !tt.ptr<f32> -> tensor<256xf32, #blocked>
  %2 = amdg.buffer_atomic_rmw fadd, relaxed, gpu, %1, %p[%o], %m stride = %s : tensor<256xf32, #blocked>
  // CHECK: amdg.buffer_atomic_cas acq_rel, gpu, %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] : !tt.ptr<i32> -> tensor<256xi32, #blocked>
  %3 = amdg.buffer_atomic_cas acq_rel, gpu, %o, %o, %q[%o] : tensor<256xi32, #blocked>
  // CHECK: amdg.buffer_load_to_local %{{.*}}[%{{.*}}] mask = %{{.*}} other = %{{.*}} stride = %{{.*}} into %{{.*}} {contiguity = 2 : i32} : !tt.ptr<f32>[tensor<256xi32, #blocked>] tensor<256xf32, #blocked> -> <256xf32, #shared, #smem, mutable>
  %4 = amdg.buffer_load_to_local %p[%o] mask = %m other = %1 stride = %s into %b {contiguity = 2 : i32} : <f32>[tensor<256xi32, #blocked>] tensor<256xf32, #blocked> -> <256xf32, #shared, #smem, mutable>
  // CHECK: amdg.buffer_load_to_local %{{.*}}[%{{.*}}] into %{{.*}} : !tt.ptr<f32>[tensor<256xi32, #blocked>]
  %5 = amdg.buffer_load_to_local %p[%o] into %b : <f32>[tensor<256xi32, #blocked>]  -> <256xf32, #shared, #smem, mutable>
  tt.return
}

// CHECK-LABEL: tt.func @others
tt.func @others(%x: tensor<16x16xf16, #rows>, %c: i1) {
  // CHECK: amdg.in_thread_transpose %{{.*}} : tensor<16x16xf16, #blocked1> -> tensor<16x16xf16, #linear>
  %0 = amdg.in_thread_transpose %x : tensor<16x16xf16, #rows> -> tensor<16x16xf16, #columns>
  // CHECK: amdg.cond_barrier %{{.*}}
  amdg.cond_barrier %c
  // CHECK: amdg.instruction_sched_hint
  amdg.instruction_sched_hint {variant = "attention"}
  // CHECK: amdg.sched_barrier {mask = 0 : i32}
  amdg.sched_barrier {mask = 0 : i32}
  // CHECK: amdg.sched_group_barrier {mask = 8 : i32, size = 2 : i32, sync = 0 : i32}
  amdg.sched_group_barrier {mask = 8 : i32, size = 2 : i32, sync = 0 : i32}
  // CHECK: amdg.set_priority {priority = 3 : i32}
  amdg.set_priority {priority = 3 : i32}
  // CHECK: amdg.sched_option {option = 1 : i32}
  amdg.sched_option {option = 1 : i32}
  tt.return
}

#bytes = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#values = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
// CHECK-LABEL: tt.func @small_floats
tt.func @small_floats(%x: tensor<16x32xi8, #bytes>, %y: tensor<16x64xf8E4M3FN, #values>, %s: tensor<16x64xbf16, #values>) {
  // CHECK: amdg.scaled_upcast_fp4 %{{.*}} scale %{{.*}} {axis = 1 : i32} : tensor<16x32xi8, #{{.*}}>, tensor<16x64xbf16, #{{.*}}> -> tensor<16x64xbf16, #{{.*}}>
  %0 = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32} : tensor<16x32xi8, #bytes>, tensor<16x64xbf16, #values> -> tensor<16x64xbf16, #values>
  // CHECK: amdg.scaled_upcast_fp8 %{{.*}} scale %{{.*}} : tensor<16x64xf8E4M3FN, #{{.*}}>, tensor<16x64xbf16, #{{.*}}> -> tensor<16x64xf16, #{{.*}}>
  %1 = amdg.scaled_upcast_fp8 %y scale %s : tensor<16x64xf8E4M3FN, #values>, tensor<16x64xbf16, #values> -> tensor<16x64xf16, #values>
  // CHECK: amdg.extract_slice %{{.*}} [8, 0] : tensor<16x64xbf16, #{{.*}}> to tensor<8x64xbf16, #{{.*}}>
  %2 = amdg.extract_slice %0 [8, 0] : tensor<16x64xbf16, #values> to tensor<8x64xbf16, #values>
  tt.return
}
