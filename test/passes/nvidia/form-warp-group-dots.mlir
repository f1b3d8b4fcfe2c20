// RUN: nereid-opt %s --ttg-assign-layouts="num-warps=4 target=cuda:90 warp-group-mma" --nvidia-form-warp-group-dots --canonicalize | FileCheck %s
// RUN: nereid-opt %s --ttg-assign-layouts="num-warps=4 target=cuda:90 warp-group-mma max-shared-bytes=16383" --nvidia-form-warp-group-dots | FileCheck %s --check-prefix=NO-ROOM
// Operands are stored to shared memory as wgmma reads them, followed by a fence; an operand computed from a
// dot stays in registers.

// CHECK-DAG: #[[M:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// CHECK-DAG: #[[R:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// CHECK-DAG: #[[C:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
// CHECK-DAG: #[[B:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
module {
  // CHECK-LABEL: tt.func public @chain
  // CHECK: %[[Q:.*]] = ttg.local_alloc {{.*}} : {{.*}} -> !ttg.memdesc<64x64xf16, #[[R]], #smem>
  // CHECK-NEXT: ttng.fence_async_shared {bCluster = false}
  // CHECK: scf.for
  // CHECK: %[[K:.*]] = ttg.local_alloc {{.*}} : {{.*}} -> !ttg.memdesc<64x64xf16, #[[R]], #smem>
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK: %[[T:.*]] = ttg.memdesc_trans %[[K]] {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #[[R]], #smem> -> !ttg.memdesc<64x64xf16, #[[C]], #smem>
  // CHECK: %[[S:.*]] = ttng.warp_group_dot %[[Q]], %[[T]], %{{.*}}, %false
  // CHECK: %[[P:.*]] = arith.truncf %[[S]]
  // CHECK: %[[V:.*]] = ttg.local_alloc
  // CHECK: ttng.warp_group_dot %{{.*}}, %[[V]], %{{.*}} : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #[[M]], kWidth = 2}>> * !ttg.memdesc<64x64xf16, #[[R]], #smem> -> tensor<64x64xf32, #[[M]]>
  tt.func public @chain(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %size = arith.constant dense<64> : tensor<64x1xi32>
    %starts = arith.muli %rows, %size : tensor<64x1xi32>
    %a = tt.broadcast %starts : tensor<64x1xi32> -> tensor<64x64xi32>
    %b = tt.broadcast %columns : tensor<1x64xi32> -> tensor<64x64xi32>
    %offsets = arith.addi %a, %b : tensor<64x64xi32>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
    %qp = tt.addptr %qs, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %op = tt.addptr %os, %offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %x = tt.load %qp : tensor<64x64x!tt.ptr<f16>>
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %next = arith.constant dense<4096> : tensor<64x64xi32>
    %sum:2 = scf.for %i = %i0 to %n step %i1 iter_args(%acc = %zero, %p = %qp) -> (tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>) : i32 {
      %k = tt.load %p : tensor<64x64x!tt.ptr<f16>>
      %kt = tt.trans %k {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
      %s = tt.dot %x, %kt, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      %narrow = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
      %pn = tt.addptr %p, %next : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %v = tt.load %pn : tensor<64x64x!tt.ptr<f16>>
      %d = tt.dot %narrow, %v, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d, %pn : tensor<64x64xf32>, tensor<64x64x!tt.ptr<f16>>
    }
    tt.store %op, %sum#0 : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }

  // Bytes are stored K-major though they are loaded along N; a shallow or small dot does not use wgmma.
  // Dots whose operands do not fit into shared memory together use the instructions of single warps.
  // CHECK-LABEL: tt.func public @bytes
  // NO-ROOM-LABEL: tt.func public @chain
  // NO-ROOM-NOT: ttng.
  // NO-ROOM-LABEL: tt.func public @bytes
  // NO-ROOM: ttng.warp_group_dot
  // CHECK: ttg.local_alloc {{.*}} -> !ttg.memdesc<64x64xi8, #[[B]], #smem>
  // CHECK: ttng.warp_group_dot
  // CHECK: tt.dot {{.*}} tensor<32x64xi8
  tt.func public @bytes(%x: tensor<64x64xi8>, %y: tensor<32x64xi8>, %o: !tt.ptr<i32>) {
    %c = arith.constant dense<1> : tensor<64x64xi32>
    %d = tt.dot %x, %x, %c : tensor<64x64xi8> * tensor<64x64xi8> -> tensor<64x64xi32>
    %c2 = arith.constant dense<1> : tensor<32x64xi32>
    %e = tt.dot %y, %x, %c2 : tensor<32x64xi8> * tensor<64x64xi8> -> tensor<32x64xi32>
    %f = "tt.reduce"(%d) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.reduce.return %s : i32
    }) : (tensor<64x64xi32>) -> tensor<64xi32>
    %g = "tt.reduce"(%e) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      tt.reduce.return %s : i32
    }) : (tensor<32x64xi32>) -> tensor<64xi32>
    %h = arith.addi %f, %g : tensor<64xi32>
    %os = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    tt.store %os, %h : tensor<64x!tt.ptr<i32>>
    tt.return
  }
}
