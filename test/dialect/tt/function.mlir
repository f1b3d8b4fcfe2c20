// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// RUN: nereid-opt %s --tt-optimise | FileCheck %s --check-prefix=OPT
// Functions, calls and programs; the pipeline inlines functions that are not noinline.

// CHECK-LABEL: tt.func public @kernel(%{{.*}}: i32) attributes {noinline = false}
// OPT-LABEL: tt.func public @kernel
// OPT-NOT: tt.call @inlined
// OPT: tt.call @kept
tt.func public @kernel(%p: i32) attributes {noinline = false} {
  // CHECK: tt.get_program_id x : i32
  %x = tt.get_program_id x : i32
  // CHECK: tt.get_num_programs z : i32
  %z = tt.get_num_programs z : i32
  // CHECK: tt.call @inlined(%{{.*}}, %{{.*}}) : (i32, i32) -> i32
  %s = tt.call @inlined(%x, %z) : (i32, i32) -> i32
  tt.call @kept(%s) : (i32) -> ()
  tt.return
}

// OPT-NOT: @inlined
tt.func private @inlined(%a: i32, %b: i32) -> i32 attributes {noinline = false} {
  %s = arith.addi %a, %b : i32
  // CHECK: tt.return %{{.*}} : i32
  tt.return %s : i32
}

tt.func private @kept(%a: i32) attributes {noinline = true} {
  %c = arith.constant 64 : i64
  %p = tt.int_to_ptr %c : i64 -> !tt.ptr<i32>
  tt.store %p, %a : !tt.ptr<i32>
  tt.return
}
