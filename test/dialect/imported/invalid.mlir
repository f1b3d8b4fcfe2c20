// RUN: nereid-opt %s --split-input-file --verify-diagnostics
// Violates each rule once.

tt.func @assume_what(%x: i32) {
  // expected-error @+1 {{the condition has type 'i32'; it must be i1}}
  llvm.intr.assume %x : i32
  tt.return
}

// -----
// expected-error @+1 {{`#llvm.linkage` is not known; kernels have `#llvm.loop_*` only}}
tt.func @linkage() attributes {a = #llvm.linkage<internal>} {
  tt.return
}

// -----
tt.func @unknown(%x: i1) {
  // expected-error @+1 {{custom op 'llvm.intr.expect' is unknown}}
  llvm.intr.expect %x : i1
  tt.return
}
