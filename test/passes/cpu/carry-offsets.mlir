// A carried tile of pointers that moves by equal steps becomes its initial value plus a carried scalar.
// RUN: nereid-opt %s --cpu-carry-offsets | FileCheck %s

// CHECK-LABEL: @moves
// CHECK: scf.for {{.*}} iter_args(%[[AT:.+]] = %{{.+}}) -> (i
// CHECK: tt.splat %[[AT]]
// CHECK: tt.load
tt.func public @moves(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32, %step: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %first = tt.addptr %s, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %q = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %out = tt.addptr %q, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %by = tt.splat %step : i32 -> tensor<16xi32>
  %last = scf.for %k = %c0 to %n step %c1 iter_args(%at = %first) -> (tensor<16x!tt.ptr<f32>>) : i32 {
    %v = tt.load %at : tensor<16x!tt.ptr<f32>>
    tt.store %out, %v : tensor<16x!tt.ptr<f32>>
    %next = tt.addptr %at, %by : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    scf.yield %next : tensor<16x!tt.ptr<f32>>
  }
  tt.return
}

// Steps that differ between elements stay in the tile.
// CHECK-LABEL: @spreads
// CHECK: iter_args(%{{.+}} = %{{.+}}) -> (tensor<16x!tt.ptr<f32>>)
tt.func public @spreads(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %q = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %last = scf.for %k = %c0 to %n step %c1 iter_args(%at = %s) -> (tensor<16x!tt.ptr<f32>>) : i32 {
    %v = tt.load %at : tensor<16x!tt.ptr<f32>>
    tt.store %q, %v : tensor<16x!tt.ptr<f32>>
    %next = tt.addptr %at, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    scf.yield %next : tensor<16x!tt.ptr<f32>>
  }
  tt.return
}

// Steps that the loop itself gives: its induction variable and another carried number.
// CHECK-LABEL: @grows
// CHECK: scf.for %[[K:.+]] = {{.+}} iter_args(%[[AT:.+]] = %{{.+}}, %[[SUM:.+]] = %{{.+}}) -> (i64, i32)
// CHECK-DAG: %[[BY_K:.+]] = arith.extsi %[[K]] : i32 to i64
// CHECK-DAG: %[[BY_SUM:.+]] = arith.extsi %[[SUM]] : i32 to i64
// CHECK: scf.yield
tt.func public @grows(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %q = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %out = tt.addptr %q, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %last:2 = scf.for %k = %c0 to %n step %c1 iter_args(%at = %s, %sum = %c0) -> (tensor<16x!tt.ptr<f32>>, i32) : i32 {
    %v = tt.load %at : tensor<16x!tt.ptr<f32>>
    tt.store %out, %v : tensor<16x!tt.ptr<f32>>
    %by = tt.splat %k : i32 -> tensor<16xi32>
    %first = tt.addptr %at, %by : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %more = tt.splat %sum : i32 -> tensor<16xi32>
    %next = tt.addptr %first, %more : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %total = arith.addi %sum, %k : i32
    scf.yield %next, %total : tensor<16x!tt.ptr<f32>>, i32
  }
  tt.return
}
