// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Pointers, accesses and block pointers that violate a rule or do not parse.

// expected-error @+1 {{nothing can point to 'i7'; only to a number, a pointer or a tile of them}}
tt.func @pointee(%p: !tt.ptr<i7>) {
  tt.return
}

// -----
// expected-error @+1 {{nothing can point to 'tensor<?xf32>'}}
tt.func @dynamic_pointee(%p: !tt.ptr<tensor<?xf32>>) {
  tt.return
}

// -----
tt.func @load_number(%x: f32) {
  // expected-error @+1 {{'f32' is neither a pointer nor a tile of pointers}}
  %y = tt.load %x : f32
  tt.return
}

// -----
tt.func @load_many(%p: !tt.ptr<i1>, %x: i1) {
  // expected-error @+1 {{has 4 operands; expected 1 to 3}}
  %y = tt.load %p, %x, %x, %x : !tt.ptr<i1>
  tt.return
}

// -----
tt.func @store_nothing(%p: !tt.ptr<i1>) {
  // expected-error @+1 {{has 1 operands; expected 2 to 3}}
  tt.store %p : !tt.ptr<i1>
  tt.return
}

// -----
tt.func @cache_case(%p: !tt.ptr<i1>) {
  // expected-error @+1 {{`cx` is not a value of `cacheModifier`}}
  %y = tt.load %p cacheModifier = cx : !tt.ptr<i1>
  tt.return
}

// -----
tt.func @evict_case(%p: !tt.ptr<i1>) {
  // expected-error @+1 {{`never` is not a value of `evictionPolicy`}}
  %y = tt.load %p evictionPolicy = never : !tt.ptr<i1>
  tt.return
}

// -----
tt.func @cache_policy(%p: !tt.ptr<i1>) {
  // expected-error @+1 {{`cachePolicy` is not a `#tt.cache_policy`}}
  %y = tt.load %p {cachePolicy = 1 : i32} : !tt.ptr<i1>
  tt.return
}

// -----
tt.func @no_tile(%p: !tt.ptr<f32>) {
  // C1
  // expected-error @+1 {{does not point to a tile}}
  %a = tt.make_tensor_ptr %p, [], [], [] {order = array<i32>} : <f32>
  tt.return
}

// -----
tt.func @counts(%p: !tt.ptr<f32>, %n: i64, %i: i32) {
  // C2
  // expected-error @+1 {{has 1 extents, 2 strides, 2 offsets and 2 entries of `order` for a tile of 2 dimensions}}
  %a = tt.make_tensor_ptr %p, [%n], [%n, %n], [%i, %i] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
  tt.return
}

// -----
tt.func @order(%p: !tt.ptr<f32>, %n: i64, %i: i32) {
  // C2
  // expected-error @+1 {{`order` is not a permutation of 1 dimensions}}
  %a = tt.make_tensor_ptr %p, [%n], [%n], [%i] {order = array<i32: 3>} : <tensor<4xf32>>
  tt.return
}

// -----
tt.func @steps(%p: !tt.ptr<tensor<4xf32>>, %i: i32) {
  // C1
  // expected-error @+1 {{expected 1 offsets, but got 2}}
  %a = tt.advance %p, [%i, %i] : <tensor<4xf32>>
  tt.return
}

// -----
tt.func @advance_scalar(%p: !tt.ptr<f32>) {
  // C1
  // expected-error @+1 {{does not point to a tile}}
  %a = tt.advance %p, [] : <f32>
  tt.return
}

// -----
tt.func @load_result(%p: !tt.ptr<f32>) {
  // C1
  // expected-error @+1 {{failed to verify that result has the pointee type}}
  %x = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> f16
  tt.return
}

// -----
tt.func @load_mask(%p: tensor<4x!tt.ptr<f32>>, %m: tensor<8xi1>) {
  // C2
  // expected-error @+1 {{failed to verify that mask has the pointers' shape}}
  %x = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4x!tt.ptr<f32>>, tensor<8xi1>) -> tensor<4xf32>
  tt.return
}

// -----
tt.func @store_value(%p: !tt.ptr<f32>, %x: f16) {
  // C1
  // expected-error @+1 {{failed to verify that value has the pointee type}}
  "tt.store"(%p, %x) : (!tt.ptr<f32>, f16) -> ()
  tt.return
}

// -----
tt.func @store_mask(%p: tensor<4x!tt.ptr<f32>>, %x: tensor<4xf32>, %m: tensor<8xi1>) {
  // C2
  // expected-error @+1 {{failed to verify that mask has the pointers' shape}}
  "tt.store"(%p, %x, %m) : (tensor<4x!tt.ptr<f32>>, tensor<4xf32>, tensor<8xi1>) -> ()
  tt.return
}
