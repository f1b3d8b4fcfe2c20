// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Violates each rule of an op once.

tt.func @empty_range() {
  // C1
  // expected-error @+1 {{must be greater than the start argument, but it goes from 4 to 4}}
  %r = tt.make_range {end = 4 : i32, start = 4 : i32} : tensor<1xi32>
  tt.return
}

// -----
tt.func @range_type() {
  // C2
  // expected-error @+1 {{range of 8 elements has type}}
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<4xi32>
  tt.return
}

// -----
tt.func @unsplat_many(%x: tensor<2xf32>) {
  // C1
  // expected-error @+1 {{tile has 2 elements; only one can become a scalar}}
  %u = tt.unsplat %x : tensor<2xf32>
  tt.return
}

// -----
tt.func @expand_axis(%x: tensor<2xf32>) {
  // C1
  // expected-error @+1 {{invalid axis 2 of a tile of 2 dimensions; it must be in [0, 1]}}
  %e = tt.expand_dims %x {axis = 2 : i32} : tensor<2xf32> -> tensor<2x1xf32>
  tt.return
}

// -----
tt.func @broadcast_extent(%x: tensor<2x4xf32>) {
  // C1
  // expected-error @+1 {{the expanded size of the tensor (8) must match the existing size (2) at non-singleton dimension 0}}
  %b = tt.broadcast %x : tensor<2x4xf32> -> tensor<8x4xf32>
  tt.return
}

// -----
tt.func @reshape_count(%x: tensor<2x4xf32>) {
  // C1
  // expected-error @+1 {{[2, 4] has 8, [4] has 4}}
  %b = tt.reshape %x : tensor<2x4xf32> -> tensor<4xf32>
  tt.return
}

// -----
tt.func @trans_order(%x: tensor<2x4xf32>) {
  // C1
  // expected-error @+1 {{dims [0, 0] must be a permutation of the 2 dimensions of `tensor<2x4xf32>`}}
  %b = tt.trans %x {order = array<i32: 0, 0>} : tensor<2x4xf32> -> tensor<4x2xf32>
  tt.return
}

// -----
tt.func @other_without_mask(%p: !tt.ptr<i1>, %x: i1) {
  // C3
  // expected-error @+1 {{`other` is given without `mask`}}
  %b = "tt.load"(%p, %x) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!tt.ptr<i1>, i1) -> i1
  tt.return
}

// -----
tt.func @bitcast_width(%x: tensor<4xf32>) {
  // C1
  // expected-error @+1 {{cannot convert 32 bits into 64}}
  %b = tt.bitcast %x : tensor<4xf32> -> tensor<4xi64>
  tt.return
}

// -----
tt.func @rounding_missing(%x: f32) {
  // C1
  // expected-error @+1 {{narrowing from 32 to 16 bits needs a rounding mode}}
  %b = tt.fp_to_fp %x : f32 -> f16
  tt.return
}

// -----
tt.func @reduce_axis(%x: tensor<4xf32>) {
  // C1
  // expected-error @+2 {{reduction axis 1 is outside [0, 1)}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4xf32>) -> f32
  tt.return
}

// -----
tt.func @reduce_region(%x: tensor<4xf32>) {
  // C2
  // expected-error @+1 {{combine region must take two scalars of each operand's element type}}
  %r = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4xf32>) -> f32
  tt.return
}

// -----
tt.func @return_types() -> i32 {
  // expected-error @+1 {{returns other types than its function declares}}
  tt.return
}

// -----
tt.func @callee() {
  // C1
  // expected-error @+1 {{calls `nothing`, which is not a function of this module}}
  tt.call @nothing() : () -> ()
  tt.return
}

// -----
tt.func @dot_ranks(%a: tensor<2x4xf32>, %b: tensor<1x4x2xf32>, %c: tensor<2x2xf32>) {
  // C1
  // expected-error @+1 {{must have the same rank, at least 2; (lhs: [2, 4] vs rhs: [1, 4, 2])}}
  %d = tt.dot %a, %b, %c : tensor<2x4xf32> * tensor<1x4x2xf32> -> tensor<2x2xf32>
  tt.return
}

// -----
tt.func @dot_batches(%a: tensor<2x2x4xf32>, %b: tensor<1x4x2xf32>, %c: tensor<2x2x2xf32>) {
  // C1
  // expected-error @+1 {{must have the same batch dimensions before the last two; (lhs: [2, 2, 4] vs rhs: [1, 4, 2])}}
  %d = tt.dot %a, %b, %c : tensor<2x2x4xf32> * tensor<1x4x2xf32> -> tensor<2x2x2xf32>
  tt.return
}

// -----
tt.func @dot_inner(%a: tensor<2x4xf32>, %b: tensor<8x2xf32>, %c: tensor<2x2xf32>) {
  // C2
  // expected-error @+1 {{second index of first shape (4) must be equal to first index of second shape (8)}}
  %d = tt.dot %a, %b, %c : tensor<2x4xf32> * tensor<8x2xf32> -> tensor<2x2xf32>
  tt.return
}

// -----
tt.func @dot_result(%a: tensor<2x4xf32>, %b: tensor<4x2xf32>, %c: tensor<4x2xf32>) {
  // C2
  // expected-error @+1 {{`c` is [4, 2], but the dot is [2, 2]}}
  %d = tt.dot %a, %b, %c : tensor<2x4xf32> * tensor<4x2xf32> -> tensor<4x2xf32>
  tt.return
}

// -----
tt.func @dot_elements(%a: tensor<2x4xf16>, %b: tensor<4x2xbf16>, %c: tensor<2x2xf32>) {
  // C3
  // expected-error @+1 {{elements are 'f16' and 'bf16'; only 8-bit floats may differ}}
  %d = tt.dot %a, %b, %c : tensor<2x4xf16> * tensor<4x2xbf16> -> tensor<2x2xf32>
  tt.return
}

// -----
tt.func @dot_scale(%a: tensor<2x64xbf16>, %s: tensor<2x3xi8>, %b: tensor<64x2xbf16>, %c: tensor<2x2xf32>) {
  // C3
  // expected-error @+1 {{`a_scale` has shape [2, 3]; it needs 2 rows with one scale for 16 or 32 of the 64 values along K}}
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = bf16 rhs = bf16 {fastMath = false} : tensor<2x64xbf16>, tensor<2x3xi8> * tensor<64x2xbf16> -> tensor<2x2xf32>
  tt.return
}

// -----
tt.func @join_shape(%a: tensor<8xf32>) {
  // C1
  // expected-error @+1 {{is not 'tensor<8xf32>' with a last dimension of 2}}
  %j = tt.join %a, %a : tensor<8xf32> -> tensor<2x8xf32>
  tt.return
}

// -----
tt.func @split_extent(%a: tensor<8x4xf32>) {
  // C1
  // expected-error @+1 {{needs a last dimension of extent 2, but the operand is `tensor<8x4xf32>`}}
  %l, %h = tt.split %a : tensor<8x4xf32> -> tensor<8xf32>
  tt.return
}

// -----
tt.func @split_result(%a: tensor<8x2xf32>) {
  // C2
  // expected-error @+1 {{is not 'tensor<8x2xf32>' without its last dimension}}
  %l, %h = tt.split %a : tensor<8x2xf32> -> tensor<4xf32>
  tt.return
}

// -----
tt.func @cat_result(%a: tensor<8xf32>) {
  // C1
  // expected-error @+1 {{does not hold two times 'tensor<8xf32>'}}
  %c = tt.cat %a, %a : tensor<8xf32> -> tensor<8xf32>
  tt.return
}

// -----
tt.func @gather_axis(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // C1
  // expected-error @+1 {{invalid axis 1 of a tile of 1 dimensions; it must be in [0, 0]}}
  %g = tt.gather %x[%i] {axis = 1 : i32} : (tensor<8xf32>, tensor<4xi32>) -> tensor<4xf32>
  tt.return
}

// -----
tt.func @gather_extents(%x: tensor<8x4xf32>, %i: tensor<4x2xi32>) {
  // C2
  // expected-error @+1 {{index has shape [4, 2], source has shape [8, 4]; dimension 1 must match}}
  %g = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8x4xf32>, tensor<4x2xi32>) -> tensor<4x2xf32>
  tt.return
}

// -----
tt.func @gather_rank(%x: tensor<8x4xf32>, %i: tensor<4xi32>) {
  // C1
  // expected-error @+1 {{must have the same rank, but they are `tensor<8x4xf32>` and `tensor<4xi32>`}}
  %g = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8x4xf32>, tensor<4xi32>) -> tensor<4xf32>
  tt.return
}

// -----
tt.func @gather_result(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // C3
  // expected-error @+1 {{does not have the shape of}}
  %g = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8xf32>, tensor<4xi32>) -> tensor<8xf32>
  tt.return
}

// -----
tt.func @histogram_rank(%x: tensor<8x4xi32>) {
  // C1
  // expected-error @+1 {{only supports 1D input, but it is `tensor<8x4xi32>`}}
  %h = tt.histogram %x : tensor<8x4xi32> -> tensor<4xi32>
  tt.return
}

// -----
tt.func @scan_axis(%x: tensor<8xf32>) {
  // C1
  // expected-error @+1 {{invalid axis 1 of a tile of 1 dimensions; it must be in [0, 0]}}
  %s = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %b : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----
tt.func @scan_shapes(%x: tensor<8xf32>, %y: tensor<4xf32>) {
  // C1
  // expected-error @+1 {{operands have different shapes}}
  %s:2 = "tt.scan"(%x, %y) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tt.scan.return %a, %b : f32, f32
  }) : (tensor<8xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>)
  tt.return
}

// -----
tt.func @scan_result(%x: tensor<8xf32>) {
  // C3
  // expected-error @+1 {{results do not have the operands' types}}
  %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %b : f32
  }) : (tensor<8xf32>) -> tensor<4xf32>
  tt.return
}

// -----
tt.func @scan_region(%x: tensor<8xf32>) {
  // C2
  // expected-error @+1 {{combine region must return one scalar of each operand's element type}}
  %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a, %b : f32, f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----
tt.func @map_pack(%x: tensor<8xf32>) {
  // C1
  // expected-error @+1 {{must be a power of 2 that divides the element count 8, but it is 3}}
  %r = "tt.map_elementwise"(%x) <{pack = 3 : i32}> ({
  ^bb0(%a: f32, %b: f32, %c: f32):
    tt.map_elementwise.return %a, %b, %c : f32, f32, f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----
tt.func @map_parameters(%x: tensor<8xf32>) {
  // C2
  // expected-error @+1 {{region must take 2 scalars of each operand's element type}}
  %r = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
  ^bb0(%a: f32):
    tt.map_elementwise.return %a, %a : f32, f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----
tt.func @map_results(%x: tensor<8xf32>) {
  // C2
  // expected-error @+1 {{region must return 1 scalars of each result's element type}}
  %r = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: f32):
    tt.map_elementwise.return %a, %a : f32, f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  tt.return
}

// -----
tt.func @dot_scaled_ranks(%a: tensor<2x64xbf16>, %b: tensor<1x64x2xbf16>, %c: tensor<2x2xf32>) {
  // C1
  // expected-error @+1 {{must have the same rank, at least 2; (lhs: [2, 64] vs rhs: [1, 64, 2])}}
  %d = tt.dot_scaled %a, %b, %c lhs = bf16 rhs = bf16 {fastMath = false} : tensor<2x64xbf16> * tensor<1x64x2xbf16> -> tensor<2x2xf32>
  tt.return
}

// -----
tt.func @dot_scaled_packed(%a: tensor<2x32xi8>, %b: tensor<32x2xbf16>, %c: tensor<2x2xf32>) {
  // C2
  // expected-error @+1 {{second index of first shape (64) must be equal to first index of second shape (32)}}
  %d = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<2x32xi8> * tensor<32x2xbf16> -> tensor<2x2xf32>
  tt.return
}

// -----
tt.func @asm_shapes(%x: tensor<8xi32>, %y: tensor<4xi32>) {
  // C1
  // expected-error @+1 {{all non-scalar operands/results must have the same shape and base type}}
  %r = tt.elementwise_inline_asm "" {constraints = "=r,r,r", packed_element = 1 : i32, pure = true} %x, %y : tensor<8xi32>, tensor<4xi32> -> tensor<8xi32>
  tt.return
}

// -----
tt.func @asm_elements(%x: tensor<8xi32>) {
  // C2
  // expected-error @+1 {{takes 0 elements at a time}}
  %r = tt.elementwise_inline_asm "" {constraints = "=r,r", packed_element = 0 : i32, pure = true} %x : tensor<8xi32> -> tensor<8xi32>
  tt.return
}

// -----
tt.func @extern_shapes(%x: tensor<8xf32>, %y: tensor<4xf32>) {
  // C1
  // expected-error @+1 {{all non-scalar operands/results must have the same shape and base type}}
  %r = tt.extern_elementwise %x, %y {libname = "", libpath = "", pure = true, symbol = "f"} : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  tt.return
}

// -----
tt.func @expand_result(%x: tensor<2xf32>) {
  // C2
  // expected-error @+1 {{result 'tensor<2x1xf32>' is not 'tensor<2xf32>' with a dimension of 1 before axis 0}}
  %e = tt.expand_dims %x {axis = 0 : i32} : tensor<2xf32> -> tensor<2x1xf32>
  tt.return
}

// -----
tt.func @trans_result(%x: tensor<2x4xf32>) {
  // C2
  // expected-error @+1 {{result 'tensor<2x4xf32>' is not the permuted 'tensor<2x4xf32>'}}
  %b = tt.trans %x {order = array<i32: 1, 0>} : tensor<2x4xf32> -> tensor<2x4xf32>
  tt.return
}

// -----
tt.func @scatter_shapes(%x: tensor<8xf32>, %i: tensor<4xi32>) {
  // C1
  // expected-error @+1 {{must have one shape of one dimension}}
  %s = tt.scatter_add %x[%i] : (tensor<8xf32>, tensor<4xi32>) -> tensor<4xf32>
  tt.return
}

// -----
tt.func @scatter_type(%x: tensor<8xf32>, %i: tensor<8xi32>) {
  // C2
  // expected-error @+1 {{adds elements of type 'f32' to 'tensor<4xi32>'}}
  %s = tt.scatter_add %x[%i] : (tensor<8xf32>, tensor<8xi32>) -> tensor<4xi32>
  tt.return
}

// -----
tt.func @scatter_mask(%x: tensor<8xf32>, %i: tensor<8xi32>, %m: tensor<4xi1>) {
  // C3
  // expected-error @+1 {{failed to verify that mask has the operands' shape}}
  %s = "tt.scatter_add"(%x, %i, %m) : (tensor<8xf32>, tensor<8xi32>, tensor<4xi1>) -> tensor<4xf32>
  tt.return
}

// -----
tt.func @histogram_mask(%x: tensor<8xi32>, %m: tensor<4xi1>) {
  // C2
  // expected-error @+1 {{failed to verify that mask has the operand's shape}}
  %h = "tt.histogram"(%x, %m) : (tensor<8xi32>, tensor<4xi1>) -> tensor<4xi32>
  tt.return
}

// -----
tt.func @print_signs(%x: i32) {
  // C1
  // expected-error @+1 {{says of 0 operands whether they are signed; it has 1}}
  tt.print " x: " {hex = false, isSigned = array<i32>} : %x : i32
  tt.return
}

// -----
tt.func @reduce_result(%x: tensor<4x8xf32>) {
  // C3
  // expected-error @+2 {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<8xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4x8xf32>) -> tensor<8xf32>
  tt.return
}

// -----
tt.func @dot_rank(%a: tensor<2x2x2x4xf32>, %b: tensor<2x2x4x2xf32>, %c: tensor<2x2x2x2xf32>) {
  // C1
  // expected-error @+1 {{operands have 4 dimensions; a dot has 2, or 3 with a batch}}
  %d = tt.dot %a, %b, %c : tensor<2x2x2x4xf32> * tensor<2x2x4x2xf32> -> tensor<2x2x2x2xf32>
  tt.return
}

// -----
tt.func @split_line(%a: tensor<2xf32>) {
  // C2
  // expected-error @+1 {{is not 'tensor<2xf32>' without its last dimension}}
  %l, %h = tt.split %a : tensor<2xf32> -> tensor<f32>
  tt.return
}

// -----
tt.func @histogram_result(%x: tensor<8xi32>) {
  // C1
  // expected-error @+1 {{result 'tensor<2x2xi32>' must have one dimension}}
  %h = tt.histogram %x : tensor<8xi32> -> tensor<2x2xi32>
  tt.return
}

// -----
tt.func @scale_batch(%a: tensor<2x2x64xbf16>, %s: tensor<1x2x2xi8>, %b: tensor<2x64x2xbf16>, %c: tensor<2x2x2xf32>) {
  // C3
  // expected-error @+1 {{`a_scale` has shape [1, 2, 2]}}
  %d = tt.dot_scaled %a scale %s, %b, %c lhs = bf16 rhs = bf16 {fastMath = false} : tensor<2x2x64xbf16>, tensor<1x2x2xi8> * tensor<2x64x2xbf16> -> tensor<2x2x2xf32>
  tt.return
}
