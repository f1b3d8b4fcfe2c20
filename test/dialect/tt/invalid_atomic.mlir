// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Violates each rule of atomic accesses and descriptors once.

tt.func @atomic_kind(%p: !tt.ptr<f32>, %x: f32) {
  // C2
  // expected-error @+1 {{umax does not combine elements of type 'f32'}}
  %0 = tt.atomic_rmw umax, acq_rel, gpu, %p, %x : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----
tt.func @atomic_float_add(%p: !tt.ptr<i32>, %x: i32) {
  // C2
  // expected-error @+1 {{fadd does not combine elements of type 'i32'}}
  %0 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x : (!tt.ptr<i32>, i32) -> i32
  tt.return
}

// -----
tt.func @atomic_mask(%p: tensor<4x!tt.ptr<i32>>, %x: tensor<4xi32>, %m: tensor<8xi1>) {
  // C1
  // expected-error @+1 {{mask has the pointers' shape}}
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %x, %m : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<8xi1>) -> tensor<4xi32>
  tt.return
}

// -----
tt.func @load_releases(%p: !tt.ptr<i32>) {
  // C3
  // expected-error @+1 {{atomic_load only supports acquire and relaxed semantics}}
  %0 = tt.atomic_load release, gpu, %p : (!tt.ptr<i32>) -> i32
  tt.return
}

// -----
tt.func @store_acquires(%p: !tt.ptr<i32>, %x: i32) {
  // C3
  // expected-error @+1 {{atomic_store only supports release and relaxed semantics}}
  tt.atomic_store acq_rel, gpu, %p, %x : !tt.ptr<i32>
  tt.return
}

// -----
tt.func @cas_width(%p: !tt.ptr<i8>, %x: i8) {
  // C2
  // expected-error @+1 {{but i8 has 8 bits}}
  %0 = tt.atomic_cas acq_rel, gpu, %p, %x, %x : (!tt.ptr<i8>, i8, i8) -> i8
  tt.return
}

// -----
// expected-error @+1 {{a descriptor describes a tile, not 'f32'}}
tt.func @descriptor_of_scalar(%d: !tt.tensordesc<f32>) {
  tt.return
}

// -----
tt.func @descriptor_strides(%p: !tt.ptr<f32>, %m: i32, %s: i64) {
  // C1
  // expected-error @+1 {{has 1 extents and 1 strides for blocks of 2 dimensions}}
  %d = tt.make_tensor_descriptor %p, [%m], [%s] : <f32>, <4x4xf32>
  tt.return
}

// -----
tt.func @descriptor_element(%p: !tt.ptr<f32>, %m: i32, %s: i64) {
  // C2
  // expected-error @+1 {{points to 'f32', but the blocks hold 'f16'}}
  %d = tt.make_tensor_descriptor %p, [%m], [%s] : <f32>, <16xf16>
  tt.return
}

// -----
tt.func @descriptor_padding(%p: !tt.ptr<i32>, %m: i32, %s: i64) {
  // C3
  // expected-error @+1 {{pads elements of type 'i32' with NaN}}
  %d = tt.make_tensor_descriptor %p, [%m], [%s] {padding = 2 : i32} : <i32>, <16xsi32>
  tt.return
}

// -----
tt.func @descriptor_indices(%d: !tt.tensordesc<4x4xf32>, %i: i32) {
  // C1
  // expected-error @+1 {{expected 2 offsets, but got 1}}
  %x = tt.descriptor_load %d[%i] : !tt.tensordesc<4x4xf32> -> tensor<4x4xf32>
  tt.return
}

// -----
tt.func @descriptor_block(%d: !tt.tensordesc<4xf32>, %i: i32, %x: tensor<8xf32>) {
  // C2
  // expected-error @+1 {{accesses blocks of 'tensor<4xf32>' as 'tensor<8xf32>'}}
  tt.descriptor_store %d[%i], %x : !tt.tensordesc<4xf32>, tensor<8xf32>
  tt.return
}

// -----
tt.func @descriptor_kind(%d: !tt.tensordesc<4xf32>, %i: i32, %x: tensor<4xf32>) {
  // C3
  // expected-error @+1 {{xor does not combine elements of type 'f32'}}
  tt.descriptor_reduce xor, %d[%i], %x : !tt.tensordesc<4xf32>, tensor<4xf32>
  tt.return
}

// -----
tt.func @descriptor_rows(%d: !tt.tensordesc<2x64xf32>, %i: tensor<8xi32>, %j: i32) {
  // C1
  // expected-error @+1 {{block must have 1 row, but got [2, 64]}}
  %x = tt.descriptor_gather %d[%i, %j] : (!tt.tensordesc<2x64xf32>, tensor<8xi32>, i32) -> tensor<8x64xf32>
  tt.return
}

// -----
tt.func @descriptor_row_tile(%d: !tt.tensordesc<1x64xf32>, %i: tensor<8xi32>, %j: i32) {
  // C2
  // expected-error @+1 {{accesses rows of 'tensor<1x64xf32>' at 'tensor<8xi32>' as 'tensor<16x64xf32>'}}
  %x = tt.descriptor_gather %d[%i, %j] : (!tt.tensordesc<1x64xf32>, tensor<8xi32>, i32) -> tensor<16x64xf32>
  tt.return
}

// -----
tt.func @cas_result(%p: !tt.ptr<i32>, %x: i32, %y: i64) {
  // C1
  // expected-error @+1 {{failed to verify that val has the pointee type}}
  %0 = "tt.atomic_cas"(%p, %x, %y) <{sem = 4 : i32, scope = 1 : i32}> : (!tt.ptr<i32>, i32, i64) -> i32
  tt.return
}

// -----
tt.func @load_mask(%p: tensor<4x!tt.ptr<i32>>, %m: tensor<8xi1>) {
  // C1
  // expected-error @+1 {{failed to verify that mask has the pointers' shape}}
  %0 = tt.atomic_load acquire, gpu, %p, %m : (tensor<4x!tt.ptr<i32>>, tensor<8xi1>) -> tensor<4xi32>
  tt.return
}

// -----
tt.func @load_pointers(%p: !tt.ptr<!tt.ptr<i32>>) {
  // C2
  // expected-error @+1 {{moves integers and floats, not elements of type '!tt.ptr<i32>'}}
  %0 = tt.atomic_load acquire, gpu, %p : (!tt.ptr<!tt.ptr<i32>>) -> !tt.ptr<i32>
  tt.return
}

// -----
tt.func @store_value(%p: !tt.ptr<i32>, %x: i64) {
  // C1
  // expected-error @+1 {{failed to verify that val has the pointee type}}
  "tt.atomic_store"(%p, %x) <{sem = 3 : i32, scope = 1 : i32}> : (!tt.ptr<i32>, i64) -> ()
  tt.return
}

// -----
tt.func @store_pointers(%p: !tt.ptr<!tt.ptr<i32>>, %x: !tt.ptr<i32>) {
  // C2
  // expected-error @+1 {{moves integers and floats, not elements of type '!tt.ptr<i32>'}}
  tt.atomic_store release, gpu, %p, %x : !tt.ptr<!tt.ptr<i32>>
  tt.return
}

// -----
tt.func @descriptor_load_block(%d: !tt.tensordesc<4xf32>, %i: i32) {
  // C2
  // expected-error @+1 {{accesses blocks of 'tensor<4xf32>' as 'tensor<8xf32>'}}
  %x = tt.descriptor_load %d[%i] : !tt.tensordesc<4xf32> -> tensor<8xf32>
  tt.return
}

// -----
tt.func @descriptor_store_indices(%d: !tt.tensordesc<4xf32>, %i: i32, %x: tensor<4xf32>) {
  // C1
  // expected-error @+1 {{expected 1 offsets, but got 2}}
  tt.descriptor_store %d[%i, %i], %x : !tt.tensordesc<4xf32>, tensor<4xf32>
  tt.return
}

// -----
tt.func @descriptor_reduce_indices(%d: !tt.tensordesc<4xf32>, %i: i32, %x: tensor<4xf32>) {
  // C1
  // expected-error @+1 {{expected 1 offsets, but got 2}}
  tt.descriptor_reduce add, %d[%i, %i], %x : !tt.tensordesc<4xf32>, tensor<4xf32>
  tt.return
}

// -----
tt.func @descriptor_reduce_block(%d: !tt.tensordesc<4xf32>, %i: i32, %x: tensor<8xf32>) {
  // C2
  // expected-error @+1 {{accesses blocks of 'tensor<4xf32>' as 'tensor<8xf32>'}}
  tt.descriptor_reduce add, %d[%i], %x : !tt.tensordesc<4xf32>, tensor<8xf32>
  tt.return
}

// -----
tt.func @scatter_rows(%d: !tt.tensordesc<2x64xf32>, %i: tensor<8xi32>, %j: i32, %x: tensor<8x64xf32>) {
  // C1
  // expected-error @+1 {{block must have 1 row, but got [2, 64]}}
  tt.descriptor_scatter %d[%i, %j], %x : !tt.tensordesc<2x64xf32>, tensor<8xi32>, i32, tensor<8x64xf32>
  tt.return
}

// -----
tt.func @scatter_row_tile(%d: !tt.tensordesc<1x64xf32>, %i: tensor<8xi32>, %j: i32, %x: tensor<16x64xf32>) {
  // C2
  // expected-error @+1 {{accesses rows of 'tensor<1x64xf32>' at 'tensor<8xi32>' as 'tensor<16x64xf32>'}}
  tt.descriptor_scatter %d[%i, %j], %x : !tt.tensordesc<1x64xf32>, tensor<8xi32>, i32, tensor<16x64xf32>
  tt.return
}
