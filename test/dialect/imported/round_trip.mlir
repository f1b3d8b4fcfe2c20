// RUN: nereid-opt %s | nereid-opt | FileCheck %s
// Ops and attributes of other dialects in kernels round-trip.

#loop_licm = #llvm.loop_licm<disable = true, versioningDisable = true>
#loop_annotation = #llvm.loop_annotation<licm = #loop_licm>

// CHECK-LABEL: tt.func public @hints
tt.func public @hints(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %positive = arith.cmpi sgt, %n, %c0 : i32
  // CHECK: llvm.intr.assume %{{.*}} : i1
  llvm.intr.assume %positive : i1
  scf.for %i = %c0 to %n step %c1 : i32 {
    // CHECK: gpu.barrier
    gpu.barrier
  // CHECK: {llvm.loop_annotation = #llvm.loop_annotation<licm = #llvm.loop_licm<disable = true, versioningDisable = true>>}
  } {llvm.loop_annotation = #loop_annotation}
  // CHECK: ttg.barrier {{"?all"?}}
  ttg.barrier all
  tt.return
}
