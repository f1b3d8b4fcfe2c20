// Ops of AMD's GPUs become accesses through pointers, copies, conversions of layouts, hints of their own, or nothing.
// RUN: nereid-opt %s --amd-rewrite-imported-ops | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
#rows = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#columns = #ttg.linear<{register = [[1, 0], [0, 1]], lane = [[0, 2], [0, 4], [0, 8], [2, 0], [4, 0], [8, 0]], warp = [], block = []}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// A masked element of a buffer is zero; without a mask there is no other.
// CHECK-LABEL: tt.func @loads
tt.func @loads(%p: !tt.ptr<f32>, %o: tensor<256xi32, #blocked>, %m: tensor<256xi1, #blocked>, %s: i32) -> tensor<256xf32, #blocked> {
  // CHECK: %[[SPLAT:.*]] = tt.splat %arg0 : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #blocked>
  // CHECK: %[[AT:.*]] = tt.addptr %[[SPLAT]], %arg1
  // CHECK: %[[X:.*]] = tt.load %[[AT]] {{.*}}ttg.bounded_offset
  %x = amdg.buffer_load %p[%o] cacheModifier = ca : tensor<256xf32, #blocked>
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<256xf32, #blocked>
  // CHECK: tt.load %{{.*}}, %arg2, %[[ZERO]] {ttg.bounded_offset}
  %y = amdg.buffer_load %p[%o], %m stride = %s : tensor<256xf32, #blocked>
  // CHECK: tt.load %{{.*}}, %arg2, %[[X]] {ttg.bounded_offset}
  %z = amdg.buffer_load %p[%o], %m, %x : tensor<256xf32, #blocked>
  %sum = arith.addf %y, %z : tensor<256xf32, #blocked>
  tt.return %sum : tensor<256xf32, #blocked>
}

// CHECK-LABEL: tt.func @writes
tt.func @writes(%p: !tt.ptr<i32>, %o: tensor<256xi32, #blocked>, %m: tensor<256xi1, #blocked>) {
  // CHECK: tt.store %{{.*}}, %arg1, %arg2 {{.*}}ttg.bounded_offset
  amdg.buffer_store %o, %p[%o], %m cacheModifier = wt : tensor<256xi32, #blocked>
  // CHECK: tt.atomic_rmw max, acq_rel, gpu, %{{.*}}, %arg1, %arg2 :
  %0 = amdg.buffer_atomic_rmw max, acq_rel, gpu, %o, %p[%o], %m : tensor<256xi32, #blocked>
  // CHECK: tt.atomic_cas acq_rel, gpu, %{{.*}}, %arg1, %{{.*}} :
  %1 = amdg.buffer_atomic_cas acq_rel, gpu, %o, %0, %p[%o] : tensor<256xi32, #blocked>
  tt.return
}

// A copy to shared memory is part of the group that is committed after it.
// CHECK-LABEL: tt.func @copies
tt.func @copies(%p: !tt.ptr<f32>, %o: tensor<256xi32, #blocked>, %m: tensor<256xi1, #blocked>, %b: !ttg.memdesc<256xf32, #shared, #smem, mutable>) {
  // CHECK: %[[TOKEN:.*]] = ttg.async_copy_global_to_local %{{.*}}, %arg3 mask %arg2 {ttg.bounded_offset}
  // CHECK: ttg.async_commit_group tokens %[[TOKEN]]
  %t = amdg.buffer_load_to_local %p[%o] mask = %m into %b {contiguity = 2 : i32} : <f32>[tensor<256xi32, #blocked>]  -> <256xf32, #shared, #smem, mutable>
  %g = ttg.async_commit_group tokens %t
  tt.return
}

// CHECK-LABEL: tt.func @transposition
tt.func @transposition(%x: tensor<16x16xf16, #rows>) -> tensor<16x16xf16, #columns> {
  // CHECK: ttg.convert_layout %arg0
  %0 = amdg.in_thread_transpose %x : tensor<16x16xf16, #rows> -> tensor<16x16xf16, #columns>
  tt.return %0 : tensor<16x16xf16, #columns>
}

// Barriers of some waves go, with what computes their condition; hints to the scheduler stay.
// CHECK-LABEL: tt.func @schedule
// CHECK-NEXT: amdg.sched_barrier {mask = 0 : i32}
// CHECK-NEXT: amdg.sched_barrier {mask = 8 : i32}
// CHECK-NEXT: amdg.set_priority {priority = 1 : i32}
// CHECK-NEXT: amdg.sched_group_barrier {mask = 8 : i32, size = 1 : i32, sync = 0 : i32}
// CHECK-NEXT: amdg.sched_option {option = 1 : i32}
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tt.return
tt.func @schedule() {
  %waves = arith.constant 256 : i32
  %zero = arith.constant 0 : i32
  %id = rocdl.workitem.id.x : i32
  %half = arith.divsi %id, %waves : i32
  %is_first = arith.cmpi eq, %half, %zero : i32
  amdg.cond_barrier %is_first
  rocdl.sched.barrier 0
  rocdl.sched.barrier mfma_wmma
  rocdl.s.setprio 1
  rocdl.sched.group.barrier 8, 1, 0
  rocdl.iglp.opt 1
  amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<attention>}
  gpu.barrier
  tt.return
}
