// Assertions on tiles of indices become assertions on their extremes where these are elements of the tile and nothing
// wraps around on the way to them; other tiles are reduced.
// RUN: nereid-opt %s --cpu-scalar-asserts | FileCheck %s

// CHECK-LABEL: @sums
// CHECK-NOT: tt.reduce
// CHECK: %[[BASE:.*]] = arith.extsi %arg0 : i32 to i64
// CHECK: arith.addi %[[BASE]], %{{.*}} : i64
// CHECK: arith.cmpi sle, %{{.*}} : i64
// CHECK: tt.assert %{{.*}}, "sum" : i1
// CHECK: tt.assert %{{.*}}, "product of the sum" : i1
// CHECK: tt.assert %{{.*}}, "limit" : i1
tt.func @sums(%base: i32, %limit: i32) {
  %least = arith.constant dense<-2147483648> : tensor<64xi64>
  %most = arith.constant dense<2147483647> : tensor<64xi64>
  %factor = arith.constant dense<12> : tensor<64xi64>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %first = tt.splat %base : i32 -> tensor<64xi32>
  %a = arith.extsi %first : tensor<64xi32> to tensor<64xi64>
  %b = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  %wide = arith.addi %a, %b : tensor<64xi64>
  %0 = arith.cmpi sge, %wide, %least : tensor<64xi64>
  %1 = arith.cmpi sle, %wide, %most : tensor<64xi64>
  %2 = arith.andi %0, %1 : tensor<64xi1>
  tt.assert %2, "sum" : tensor<64xi1>
  %i = arith.addi %first, %range : tensor<64xi32>
  %c = arith.extsi %i : tensor<64xi32> to tensor<64xi64>
  %product = arith.muli %c, %factor : tensor<64xi64>
  %3 = arith.cmpi sge, %product, %least : tensor<64xi64>
  %4 = arith.cmpi sle, %product, %most : tensor<64xi64>
  %5 = arith.andi %3, %4 : tensor<64xi1>
  tt.assert %5, "product of the sum" : tensor<64xi1>
  %end = tt.splat %limit : i32 -> tensor<64xi32>
  %6 = arith.cmpi slt, %i, %end : tensor<64xi32>
  tt.assert %6, "limit" : tensor<64xi1>
  tt.return
}

// CHECK-LABEL: @quotient
// CHECK-NOT: tt.reduce
// CHECK: arith.divsi %{{.*}} : i64
// CHECK: tt.assert %{{.*}}, "quotient" : i1
tt.func @quotient() {
  %limit = arith.constant dense<10> : tensor<64xi32>
  %divisor = arith.constant dense<7> : tensor<64xi32>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %row = arith.divsi %range, %divisor : tensor<64xi32>
  %0 = arith.cmpi slt, %row, %limit : tensor<64xi32>
  tt.assert %0, "quotient" : tensor<64xi1>
  tt.return
}

// CHECK-LABEL: @not_known
// CHECK: %[[ALL:.*]] = "tt.reduce"
// CHECK: tt.assert %[[ALL]], "may wrap" : i1
// CHECK: %[[ALL:.*]] = "tt.reduce"
// CHECK: tt.assert %[[ALL]], "of one index" : i1
// CHECK: %[[ALL:.*]] = "tt.reduce"
// CHECK: tt.assert %[[ALL]], "read" : i1
// CHECK: %[[ALL:.*]] = "tt.reduce"
// CHECK: tt.assert %[[ALL]], "equal" : i1
tt.func @not_known(%base: i32, %x: tensor<64xi32>) {
  %zero = arith.constant dense<0> : tensor<64xi32>
  %wide_zero = arith.constant dense<0> : tensor<64xi64>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %first = tt.splat %base : i32 -> tensor<64xi32>
  %i = arith.addi %first, %range : tensor<64xi32>
  %0 = arith.cmpi sge, %i, %zero : tensor<64xi32>
  tt.assert %0, "may wrap" : tensor<64xi1>
  %a = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  %difference = arith.subi %a, %a : tensor<64xi64>
  %1 = arith.cmpi sge, %difference, %wide_zero : tensor<64xi64>
  tt.assert %1, "of one index" : tensor<64xi1>
  %2 = arith.cmpi sge, %x, %zero : tensor<64xi32>
  tt.assert %2, "read" : tensor<64xi1>
  %3 = arith.cmpi ne, %range, %first : tensor<64xi32>
  tt.assert %3, "equal" : tensor<64xi1>
  tt.return
}

// CHECK-LABEL: @reduced_twice
// CHECK: "tt.reduce"
// CHECK: "tt.reduce"
// CHECK: tt.assert %{{.*}}, "matrix" : i1
tt.func @reduced_twice(%x: tensor<8x16xi1>) {
  tt.assert %x, "matrix" : tensor<8x16xi1>
  tt.return
}

// CHECK-LABEL: @rows_and_columns
// CHECK-NOT: tt.reduce
// CHECK: tt.assert %{{.*}}, "both" : i1
tt.func @rows_and_columns(%limit: i32) {
  %rows = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %columns = tt.make_range {start = 16 : i32, end = 48 : i32} : tensor<32xi32>
  %0 = arith.extsi %rows : tensor<16xi32> to tensor<16xi64>
  %1 = arith.extsi %columns : tensor<32xi32> to tensor<32xi64>
  %2 = tt.expand_dims %0 {axis = 1 : i32} : tensor<16xi64> -> tensor<16x1xi64>
  %3 = tt.expand_dims %1 {axis = 0 : i32} : tensor<32xi64> -> tensor<1x32xi64>
  %4 = tt.broadcast %2 : tensor<16x1xi64> -> tensor<16x32xi64>
  %5 = tt.broadcast %3 : tensor<1x32xi64> -> tensor<16x32xi64>
  %6 = arith.subi %4, %5 : tensor<16x32xi64>
  %wide = arith.extsi %limit : i32 to i64
  %7 = tt.splat %wide : i64 -> tensor<16x32xi64>
  %8 = arith.cmpi sgt, %6, %7 : tensor<16x32xi64>
  tt.assert %8, "both" : tensor<16x32xi1>
  tt.return
}
