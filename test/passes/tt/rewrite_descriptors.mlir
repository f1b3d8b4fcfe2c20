// RUN: nereid-opt %s --tt-rewrite-descriptors --canonicalize --split-input-file --verify-diagnostics | FileCheck %s
// Descriptors become pointers, masks and padding; loops and functions carry their parts.

// CHECK-LABEL: tt.func public @load
// CHECK-SAME: (%[[P:[^:]+]]: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %[[M:[^:]+]]: i32, %[[I:[^:]+]]: i32)
tt.func public @load(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %m: i32, %i: i32) -> tensor<16xf16> {
  %one = arith.constant 1 : i64
  // CHECK-DAG: %[[PADDING:.+]] = arith.constant dense<0x7E00> : tensor<16xf16>
  // CHECK-DAG: %[[ZERO:.+]] = arith.constant dense<0> : tensor<16xi64>
  // CHECK-DAG: %[[EXTENT:.+]] = arith.extsi %[[M]] : i32 to i64
  // CHECK-DAG: %[[INDEX:.+]] = arith.extsi %[[I]] : i32 to i64
  // CHECK: %[[AT:.+]] = arith.addi {{.*}} : tensor<16xi64>
  // CHECK: %[[PTRS:.+]] = tt.addptr %{{.+}}, %[[AT]] : tensor<16x!tt.ptr<f16>>, tensor<16xi64>
  // CHECK: %[[LOW:.+]] = arith.cmpi sge, %[[AT]], %[[ZERO]] : tensor<16xi64>
  // CHECK: %[[HIGH:.+]] = arith.cmpi slt, %[[AT]], %{{.+}} : tensor<16xi64>
  // CHECK: %[[INSIDE:.+]] = arith.andi %[[LOW]], %[[HIGH]] : tensor<16xi1>
  // CHECK: %[[X:.+]] = tt.load %[[PTRS]], %[[INSIDE]], %[[PADDING]] {{.*}}cache_modifier = cg{{.*}} : tensor<16x!tt.ptr<f16>>
  %d = tt.make_tensor_descriptor %p, [%m], [%one] {padding = 2 : i32} : <f16>, <16xf16>
  %x = tt.descriptor_load %d[%i] cacheModifier = cg : !tt.tensordesc<16xf16> -> tensor<16xf16>
  // CHECK: tt.return %[[X]]
  tt.return %x : tensor<16xf16>
}

// A host descriptor is passed as its parts in order; the last stride is assumed to be 1.
// CHECK-LABEL: tt.func public @host
// CHECK-SAME: (%[[P:[^:]+]]: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %[[S0:[^:]+]]: i64, %[[S1:[^:]+]]: i64, %[[T0:[^:]+]]: i64 {tt.divisibility = 4 : i32}, %{{[^:]+}}: i64, %[[NAN:[^:]+]]: i1, %[[ROUND:[^:]+]]: i1, %[[X:[^:]+]]: i32 {tt.divisibility = 16 : i32})
tt.func public @host(%d: !tt.tensordesc<4x8xf32>, %i: i32 {tt.divisibility = 16 : i32}) -> tensor<4x8xf32> {
  // CHECK: tt.splat %[[T0]]
  // CHECK: %[[OTHER:.+]] = arith.select %[[NAN]]
  // CHECK: tt.splat %[[OTHER]] : f32 -> tensor<4x8xf32>
  // CHECK: tt.load
  // CHECK: tt.splat %[[ROUND]] : i1 -> tensor<4x8xi1>
  %x = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<4x8xf32> -> tensor<4x8xf32>
  tt.return %x : tensor<4x8xf32>
}

// CHECK-LABEL: tt.func public @writes
tt.func public @writes(%d: !tt.tensordesc<8xui32>, %r: !tt.tensordesc<1x16xsi32>, %i: i32, %v: tensor<8xi32>, %at: tensor<8xi32>) {
  // CHECK: tt.store %{{.+}}, %{{.+}}, %{{.+}} : tensor<8x!tt.ptr<i32>>
  tt.descriptor_store %d[%i], %v : !tt.tensordesc<8xui32>, tensor<8xi32>
  // CHECK: tt.atomic_rmw umax, relaxed, gpu, {{.*}} : (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi1>) -> tensor<8xi32>
  tt.descriptor_reduce max, %d[%i], %v : !tt.tensordesc<8xui32>, tensor<8xi32>
  // CHECK: tt.load %{{.+}}, %{{.+}}, %{{.+}} : tensor<8x16x!tt.ptr<i32>>
  %g = tt.descriptor_gather %r[%at, %i] : (!tt.tensordesc<1x16xsi32>, tensor<8xi32>, i32) -> tensor<8x16xi32>
  // CHECK: tt.store %{{.+}}, %{{.+}}, %{{.+}} : tensor<8x16x!tt.ptr<i32>>
  tt.descriptor_scatter %r[%at, %i], %g : !tt.tensordesc<1x16xsi32>, tensor<8xi32>, i32, tensor<8x16xi32>
  tt.return
}

// CHECK-LABEL: tt.func private @swap
// CHECK-SAME: -> (!tt.ptr<f32>, i64, i64, i1, i1, !tt.ptr<f32>, i64, i64, i1, i1)
tt.func private @swap(%a: !tt.tensordesc<8xf32>, %b: !tt.tensordesc<8xf32>) -> (!tt.tensordesc<8xf32>, !tt.tensordesc<8xf32>) {
  tt.return %b, %a : !tt.tensordesc<8xf32>, !tt.tensordesc<8xf32>
}
// CHECK-LABEL: tt.func public @carried
tt.func public @carried(%a: !tt.tensordesc<8xf32>, %b: !tt.tensordesc<8xf32>, %c: i1, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %first = arith.select %c, %a, %b : !tt.tensordesc<8xf32>
  // CHECK: scf.for {{.*}} -> (!tt.ptr<f32>, i64
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%x = %first, %y = %b) -> (!tt.tensordesc<8xf32>, !tt.tensordesc<8xf32>) : i32 {
    %v = tt.descriptor_load %x[%i] : !tt.tensordesc<8xf32> -> tensor<8xf32>
    tt.descriptor_store %y[%i], %v : !tt.tensordesc<8xf32>, tensor<8xf32>
    // CHECK: tt.call @swap
    %s:2 = tt.call @swap(%x, %y) : (!tt.tensordesc<8xf32>, !tt.tensordesc<8xf32>) -> (!tt.tensordesc<8xf32>, !tt.tensordesc<8xf32>)
    scf.yield %s#0, %s#1 : !tt.tensordesc<8xf32>, !tt.tensordesc<8xf32>
  }
  %v = tt.descriptor_load %r#0[%n] : !tt.tensordesc<8xf32> -> tensor<8xf32>
  tt.descriptor_store %r#1[%n], %v : !tt.tensordesc<8xf32>, tensor<8xf32>
  tt.return
}

// -----
tt.func public @needs_hardware(%d: !tt.tensordesc<8xi32>, %i: i32, %v: tensor<8xi32>) {
  // expected-error @+1 {{atomic inc of int32 through a descriptor needs a GPU with tensor memory access}}
  tt.descriptor_reduce inc, %d[%i], %v : !tt.tensordesc<8xi32>, tensor<8xi32>
  tt.return
}
