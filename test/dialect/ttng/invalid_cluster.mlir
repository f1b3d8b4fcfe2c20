// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Violations of the rules of exchanges between the CTAs of a cluster.

tt.func @dimension(%x: tensor<1x64xf32>) {
  // C1
  // expected-error @+1 {{has dim 2; its operands have 2 dimensions}}
  %a = ttng.cluster_gather %x {dim = 2 : i32} : (tensor<1x64xf32>) -> tensor<4x64xf32>
  tt.return
}

// -----

tt.func @shapes(%x: tensor<1x64xf32>, %y: tensor<1x32xf32>) {
  // C1
  // expected-error @+1 {{has operands of several shapes}}
  %a:2 = ttng.cluster_gather %x, %y {dim = 0 : i32} : (tensor<1x64xf32>, tensor<1x32xf32>) -> (tensor<4x64xf32>, tensor<4x32xf32>)
  tt.return
}

// -----

tt.func @result(%x: tensor<1x64xf32>) {
  // C2
  // expected-error @+1 {{has a result 'tensor<4x32xf32>' of parts 'tensor<1x64xf32>'}}
  %a = ttng.cluster_gather %x {dim = 0 : i32} : (tensor<1x64xf32>) -> tensor<4x32xf32>
  tt.return
}

// -----

tt.func @ends(%x: tensor<1x64xf32>) {
  // C3
  // expected-error @+1 {{has no barrier to arrive at, as it is open}}
  %a = ttng.cluster_gather %x {arrives, dim = 0 : i32, open} : (tensor<1x64xf32>) -> tensor<4x64xf32>
  tt.return
}
