// Pointers of accesses become a scalar plus an offset below 2^31 bytes where the ranges show it.
// RUN: nereid-opt %s --amd-bound-offsets | FileCheck %s
// RUN: nereid-opt %s --amd-bound-offsets=trusts-storage=false | FileCheck %s --check-prefix=DISTRUST
#l = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "hip:gfx942"} {

// What is the same in all lanes goes to the scalar; the range of the rest shows the bound for any storage.
// CHECK-LABEL: @scalars
// CHECK: %[[BASE:.+]] = tt.addptr %{{.+}}, %{{.+}} : !tt.ptr<f32>, i32
// CHECK: %[[TILE:.+]] = tt.splat %[[BASE]]
// CHECK: %[[PTR:.+]] = tt.addptr %[[TILE]], %[[RANGE:.+]] :
// CHECK: tt.load %[[PTR]] {ttg.bounded_offset}
// DISTRUST-LABEL: @scalars
// DISTRUST: tt.load {{.*}}ttg.bounded_offset
tt.func public @scalars(%p: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #l>
  %s = tt.splat %n : i32 -> tensor<256xi32, #l>
  %o = arith.addi %s, %i : tensor<256xi32, #l>
  %t = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #l>
  %a = tt.addptr %t, %o : tensor<256x!tt.ptr<f32>, #l>, tensor<256xi32, #l>
  %v = tt.load %a : tensor<256x!tt.ptr<f32>, #l>
  tt.store %a, %v : tensor<256x!tt.ptr<f32>, #l>
  tt.return
}

// An offset without an upper bound needs a storage below 2 GiB, and accesses that stay inside of it.
// CHECK-LABEL: @strided
// CHECK: tt.load {{.*}}ttg.bounded_offset
// DISTRUST-LABEL: @strided
// DISTRUST-NOT: ttg.bounded_offset
tt.func public @strided(%p: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %positive = arith.cmpi sge, %n, %c0 : i32
  llvm.intr.assume %positive : i1
  %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #l>
  %s = tt.splat %n : i32 -> tensor<256xi32, #l>
  %o = arith.muli %s, %i : tensor<256xi32, #l>
  %t = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #l>
  %a = tt.addptr %t, %o : tensor<256x!tt.ptr<f32>, #l>, tensor<256xi32, #l>
  %v = tt.load %a : tensor<256x!tt.ptr<f32>, #l>
  tt.return
}

// The sign of the stride is not known; the storage may be larger; an upper bound makes up for the storage.
// CHECK-LABEL: @unknown
// CHECK-NOT: ttg.bounded_offset
// CHECK-LABEL: @assumed
// CHECK: tt.load {{.*}}ttg.bounded_offset
// DISTRUST-LABEL: @assumed
// DISTRUST: tt.load {{.*}}ttg.bounded_offset
tt.func public @unknown(%p: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #l>
  %s = tt.splat %n : i32 -> tensor<256xi32, #l>
  %o = arith.muli %s, %i : tensor<256xi32, #l>
  %t = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #l>
  %a = tt.addptr %t, %o : tensor<256x!tt.ptr<f32>, #l>, tensor<256xi32, #l>
  %v = tt.load %a : tensor<256x!tt.ptr<f32>, #l>
  %k = arith.constant dense<2147483647> : tensor<256xi32, #l>
  %m = arith.andi %o, %k : tensor<256xi32, #l>
  %u = tt.splat %q : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #l>
  %b = tt.addptr %u, %m : tensor<256x!tt.ptr<f32>, #l>, tensor<256xi32, #l>
  %w = tt.load %b : tensor<256x!tt.ptr<f32>, #l>
  tt.return
}
tt.func public @assumed(%p: !tt.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1000 = arith.constant 1000 : i64
  %positive = arith.cmpi sge, %n, %c0 : i64
  %small = arith.cmpi slt, %n, %c1000 : i64
  %both = arith.andi %positive, %small : i1
  llvm.intr.assume %both : i1
  %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #l>
  %w = arith.extsi %i : tensor<256xi32, #l> to tensor<256xi64, #l>
  %s = tt.splat %n : i64 -> tensor<256xi64, #l>
  %o = arith.muli %s, %w : tensor<256xi64, #l>
  %t = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #l>
  %a = tt.addptr %t, %o : tensor<256x!tt.ptr<f32>, #l>, tensor<256xi64, #l>
  %v = tt.load %a : tensor<256x!tt.ptr<f32>, #l>
  tt.return
}

// Loops carry a scalar, also where an inner loop moves the pointers.
// CHECK-LABEL: @carried
// CHECK: scf.for {{.*}} iter_args(%[[OUTER:.+]] = %{{.+}}) -> (i64)
// CHECK: scf.for {{.*}} iter_args(%[[INNER:.+]] = %{{.+}}) -> (i64)
// CHECK: tt.addptr %{{.+}}, %[[OUTER]] : !tt.ptr<f32>, i64
// CHECK: tt.addptr %{{.+}}, %[[INNER]] : !tt.ptr<f32>, i64
// CHECK: tt.load {{.*}}ttg.bounded_offset
tt.func public @carried(%p: !tt.ptr<f32>, %n: i32, %step: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #l>
  %s = tt.splat %step : i32 -> tensor<256xi32, #l>
  %four = arith.constant dense<4> : tensor<256xi32, #l>
  %t = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #l>
  %a = tt.addptr %t, %i : tensor<256x!tt.ptr<f32>, #l>, tensor<256xi32, #l>
  %end = scf.for %k = %c0 to %n step %c1 iter_args(%at = %a) -> (tensor<256x!tt.ptr<f32>, #l>) : i32 {
    %last = scf.for %j = %c0 to %n step %c1 iter_args(%in = %at) -> (tensor<256x!tt.ptr<f32>, #l>) : i32 {
      %v = tt.load %in : tensor<256x!tt.ptr<f32>, #l>
      tt.store %in, %v : tensor<256x!tt.ptr<f32>, #l>
      %next = tt.addptr %in, %s : tensor<256x!tt.ptr<f32>, #l>, tensor<256xi32, #l>
      scf.yield %next : tensor<256x!tt.ptr<f32>, #l>
    }
    %then = tt.addptr %last, %four : tensor<256x!tt.ptr<f32>, #l>, tensor<256xi32, #l>
    scf.yield %then : tensor<256x!tt.ptr<f32>, #l>
  }
  tt.return
}

// A volatile load, a pointer that a branch chooses and a function that is called keep their pointers.
// CHECK-LABEL: @kept
// CHECK-NOT: ttg.bounded_offset
tt.func public @kept(%p: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32>, %c: i1) {
  %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #l>
  %t = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #l>
  %a = tt.addptr %t, %i : tensor<256x!tt.ptr<f32>, #l>, tensor<256xi32, #l>
  %v = tt.load %a {isVolatile = true} : tensor<256x!tt.ptr<f32>, #l>
  %u = tt.splat %q : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #l>
  %either = arith.select %c, %t, %u : tensor<256x!tt.ptr<f32>, #l>
  %b = tt.addptr %either, %i : tensor<256x!tt.ptr<f32>, #l>, tensor<256xi32, #l>
  tt.store %b, %v : tensor<256x!tt.ptr<f32>, #l>
  tt.return
}
tt.func private @called(%p: !tt.ptr<f32>) {
  %i = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32, #l>
  %t = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #l>
  %a = tt.addptr %t, %i : tensor<256x!tt.ptr<f32>, #l>, tensor<256xi32, #l>
  %v = tt.load %a : tensor<256x!tt.ptr<f32>, #l>
  tt.store %a, %v : tensor<256x!tt.ptr<f32>, #l>
  tt.return
}
}
