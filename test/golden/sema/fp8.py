# fp8: conversions with a rounding mode; fp8e4b15 is an i8 that the library converts.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:formats --signature '*fp8e5,*fp8e4nv,*fp8e5b16,*fp8e4b8,fp32,fp16,bf16,i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s --check-prefix FORMATS
# RUN: nereid compile %s:bits --signature '*fp8e4b15,*fp16' --target cpu --emit ttir --no-locations -o - | FileCheck %s --check-prefix BITS
import triton
import triton.language as tl


@triton.jit
def formats(a_ptr, b_ptr, c_ptr, d_ptr, f, h, w, i):
    # FORMATS-LABEL: tt.func public @formats(
    # FORMATS-SAME: !tt.ptr<f8E5M2>{{.*}}!tt.ptr<f8E4M3FN>{{.*}}!tt.ptr<f8E5M2FNUZ>{{.*}}!tt.ptr<f8E4M3FNUZ>
    # FORMATS: tt.fp_to_fp %f, rounding = rtne : f32 -> f8E5M2
    tl.store(a_ptr, f.to(tl.float8e5))
    # FORMATS: tt.fp_to_fp %h, rounding = rtz : f16 -> f8E4M3FN
    tl.store(b_ptr, h.to(tl.float8e4nv, fp_downcast_rounding="rtz"))
    # FORMATS: tt.fp_to_fp %w, rounding = rtne : bf16 -> f8E5M2FNUZ
    tl.store(c_ptr, w)
    # An integer and another format go through fp32.
    # FORMATS: %[[SINGLE:.+]] = arith.sitofp %i : i32 to f32
    # FORMATS: tt.fp_to_fp %[[SINGLE]], rounding = rtne : f32 -> f8E4M3FNUZ
    tl.store(d_ptr, i)
    # FORMATS: %[[OTHER:.+]] = tt.fp_to_fp %{{.+}} : f8E5M2 -> f32
    # FORMATS: tt.fp_to_fp %[[OTHER]], rounding = rtne : f32 -> f8E4M3FN
    tl.store(b_ptr, tl.load(a_ptr))


@triton.jit
def bits(x_ptr, h_ptr):
    # BITS-LABEL: tt.func public @bits(
    # BITS-SAME: !tt.ptr<i8>
    # BITS: tt.load {{.*}} : !tt.ptr<i8>
    # BITS-NOT: fp_to_fp
    # BITS: tt.bitcast %{{.+}} : i16 -> f16
    tl.store(h_ptr, tl.load(x_ptr))
    # BITS: tt.store %x_ptr, %c112_i8
    tl.store(x_ptr, tl.full((), 0.5, tl.float8e4b15))
