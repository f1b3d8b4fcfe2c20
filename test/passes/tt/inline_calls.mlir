// Every call is inlined, even of noinline functions; nothing changes without calls.
// RUN: nereid-opt %s --tt-inline-calls | FileCheck %s --check-prefix=INLINED
// RUN: nereid-opt %s --tt-drop-noinline | FileCheck %s --check-prefix=MARKED

// INLINED-LABEL: tt.func public @kernel
// INLINED-NOT: tt.call
// INLINED: arith.addi %arg0, %arg0 : i32
// MARKED-LABEL: tt.func public @kernel
// MARKED-SAME: noinline = false
// MARKED: tt.call @twice
tt.func public @kernel(%n: i32, %p: !tt.ptr<i32>) {
  %0 = tt.call @twice(%n) : (i32) -> i32
  tt.store %p, %0 : !tt.ptr<i32>
  tt.return
}

// MARKED: tt.func private @twice
// MARKED-SAME: noinline = false
tt.func private @twice(%n: i32) -> i32 attributes {noinline = true} {
  %0 = arith.addi %n, %n : i32
  tt.return %0 : i32
}
