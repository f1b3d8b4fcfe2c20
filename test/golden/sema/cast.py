# Conversions between element types: widening, narrowing, signedness, bits and pointers.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:floats --signature '*fp16,*bf16,*fp64,fp32,fp16' --target cpu --emit ttir --no-locations -o - | FileCheck %s --check-prefix FLOATS
# RUN: nereid compile %s:integers --signature '*i64,*i8,i32,u32,fp32' --target cpu --emit ttir --no-locations -o - | FileCheck %s --check-prefix INTS
# RUN: nereid compile %s:pointers --signature '*fp32,*i64,*i1' --target cpu --emit ttir --no-locations -o - | FileCheck %s --check-prefix PTRS
import triton
import triton.language as tl


@triton.jit
def floats(h_ptr, b_ptr, d_ptr, f, h):
    # FLOATS-LABEL: tt.func public @floats(
    # FLOATS: arith.truncf %f : f32 to f16
    tl.store(h_ptr, f.to(tl.float16))
    # FLOATS: tt.fp_to_fp %f, rounding = rtz : f32 -> f16
    tl.store(h_ptr, f.to(tl.float16, fp_downcast_rounding="rtz"))
    # 16-bit floats are converted through fp32.
    # FLOATS: %[[WIDE:.+]] = arith.extf %h : f16 to f32
    # FLOATS: arith.truncf %[[WIDE]] : f32 to bf16
    tl.store(b_ptr, h.to(tl.bfloat16))
    # FLOATS: arith.extf %f : f32 to f64
    tl.store(d_ptr, tl.cast(f, tl.float64))
    # FLOATS: tt.bitcast %h : f16 -> bf16
    tl.store(b_ptr, tl.cast(h, tl.bfloat16, bitcast=True))


@triton.jit
def integers(w_ptr, n_ptr, i, u, f):
    # INTS-LABEL: tt.func public @integers(
    # INTS: arith.extsi %i : i32 to i64
    tl.store(w_ptr, i.to(tl.int64))
    # INTS: arith.extui %u : i32 to i64
    tl.store(w_ptr, u)
    # INTS: arith.trunci %i : i32 to i8
    tl.store(n_ptr, i.to(tl.uint8))
    # INTS: %[[TRUE:.+]] = arith.cmpi ne, %i
    # INTS: arith.extui %[[TRUE]] : i1 to i8
    tl.store(n_ptr, i.to(tl.int1))
    # INTS: arith.fptosi %f : f32 to i64
    tl.store(w_ptr, f)
    # INTS: arith.fptoui %f : f32 to i32
    tl.store(w_ptr, f.to(tl.uint32))
    # INTS: arith.uitofp %u : i32 to f32
    tl.store(w_ptr, u.to(tl.float32).to(tl.int64, bitcast=False))


@triton.jit
def pointers(f_ptr, i_ptr, b_ptr):
    # PTRS-LABEL: tt.func public @pointers
    # PTRS: tt.ptr_to_int %f_ptr : !tt.ptr<f32> -> i64
    tl.store(i_ptr, f_ptr.to(tl.int64))
    # PTRS: %[[BYTES:.+]] = tt.bitcast %b_ptr : !tt.ptr<i1> -> !tt.ptr<i8>
    # PTRS: %[[BYTE:.+]] = tt.load %[[BYTES]] : !tt.ptr<i8>
    # PTRS: arith.cmpi ne, %[[BYTE]]
    flag = tl.load(b_ptr)
    # PTRS: %[[ADDRESS:.+]] = tt.load %i_ptr : !tt.ptr<i64>
    # PTRS: tt.int_to_ptr %[[ADDRESS]] : i64 -> !tt.ptr<f32>
    tl.store(tl.load(i_ptr).to(f_ptr.dtype), flag.to(tl.float32))
