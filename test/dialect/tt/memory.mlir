// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Loads, stores and pointer arithmetic, with every optional part.

// CHECK-LABEL: tt.func public @memory
// CHECK-SAME: !tt.ptr<f32> {tt.divisibility = 16 : i32}
// CHECK-SAME: !tt.ptr<f32, 3>
tt.func public @memory(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %shared: !tt.ptr<f32, 3>, %i: i32) {
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : !tt.ptr<f32>, i32
  %q = tt.addptr %p, %i : !tt.ptr<f32>, i32
  // CHECK: %[[SCALAR:.*]] = tt.load %{{.*}} : !tt.ptr<f32>
  %x = tt.load %q : !tt.ptr<f32>
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %n = tt.splat %i : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %r, %n : tensor<8xi32>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %a = tt.addptr %b, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // CHECK: tt.load %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>
  %masked = tt.load %a, %m : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>, isVolatile = true} : tensor<8x!tt.ptr<f32>>
  %full = tt.load %a, %m, %masked cacheModifier = cg evictionPolicy = evict_last {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>
  tt.store %a, %full, %m : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.store %{{.*}}, %[[SCALAR]] {cachePolicy = #tt.cache_policy<cache_modifier = cs, eviction_policy = evict_normal>} : !tt.ptr<f32>
  tt.store %q, %x cacheModifier = cs : !tt.ptr<f32>
  // CHECK: tt.load %{{.*}} {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : !tt.ptr<f32>
  %y = tt.load %q {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : !tt.ptr<f32>
  tt.return
}
