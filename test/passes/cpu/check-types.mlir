// Types that the CPU does not support, and a call that remains, are errors at the op.
// RUN: nereid-opt %s --split-input-file --cpu-check-types="f16c=false arch=x86-64" --verify-diagnostics

tt.func public @half(%p: !tt.ptr<f16>, %v: f16) {
  // expected-error @+1 {{F16C}}
  %w = arith.addf %v, %v : f16
  tt.store %p, %w : !tt.ptr<f16>
  tt.return
}

// -----

tt.func public @caller(%n: i32) {
  // expected-error @+1 {{`again`}}
  %0 = tt.call @again(%n) : (i32) -> i32
  tt.return
}
tt.func private @again(%n: i32) -> i32 {
  %0 = tt.call @again(%n) : (i32) -> i32
  tt.return %0 : i32
}
