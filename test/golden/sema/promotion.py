# The element type in which two operands are computed.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:floats --signature '*fp32,fp16,bf16,fp32,fp64,i32' --target cpu --emit ttir --no-locations -o - | FileCheck %s --check-prefix FLOATS
# RUN: nereid compile %s:integers --signature '*i64,i8,u8,i32,u32,i64,i1' --target cpu --emit ttir --no-locations -o - | FileCheck %s --check-prefix INTS
import triton
import triton.language as tl


@triton.jit
def floats(out, h, b, f, d, i):
    # FLOATS-LABEL: tt.func public @floats
    # A Python number takes the tensor's type.
    # FLOATS: arith.addf %{{.+}}, %{{.+}} : f16
    tl.store(out, h + 1)
    # FLOATS: arith.mulf %{{.+}}, %{{.+}} : bf16
    tl.store(out, b * 0.5)
    # 16-bit floats are divided in fp32.
    # FLOATS: arith.divf %{{.+}}, %{{.+}} : f32
    tl.store(out, h / 3)
    # FLOATS: arith.remf %{{.+}}, %{{.+}} : f32
    tl.store(out, b % b)
    # FLOATS: arith.addf %{{.+}}, %{{.+}} : f16
    tl.store(out, h + b)
    # FLOATS: arith.subf %{{.+}}, %{{.+}} : f32
    tl.store(out, b - i)
    # FLOATS: arith.subf %{{.+}}, %{{.+}} : f16
    tl.store(out, h - i)
    # FLOATS: arith.addf %{{.+}}, %{{.+}} : f64
    tl.store(out, f + d)
    # An integer and a Python float are computed in fp32.
    # FLOATS: arith.mulf %{{.+}}, %{{.+}} : f32
    tl.store(out, i * 1.5)
    # FLOATS: arith.divf %{{.+}}, %{{.+}} : f32
    tl.store(out, i / i)


@triton.jit
def integers(out, i8, u8, i32, u32, i64, flag):
    # INTS-LABEL: tt.func public @integers
    # INTS: arith.addi %{{.+}}, %{{.+}} : i8
    # INTS: arith.extsi
    tl.store(out, i8 + 1)
    # At equal width the result is unsigned.
    # INTS: arith.addi %{{.+}}, %{{.+}} : i8
    # INTS: arith.extui
    tl.store(out, i8 + u8)
    # INTS: arith.addi %{{.+}}, %{{.+}} : i64
    tl.store(out, u32 + i64)
    # INTS: arith.divsi
    tl.store(out, i32 // 4)
    # INTS: arith.remui
    tl.store(out, u32 % 3)
    # INTS: arith.shrsi
    tl.store(out, i32 >> 1)
    # INTS: arith.shrui
    tl.store(out, u32 >> 1)
    # INTS: arith.cmpi ult
    tl.store(out, u32 < 5)
    # INTS: arith.cmpi sge
    tl.store(out, i32 >= i8)
    # INTS: arith.xori %{{.+}}, %{{.+}} : i1
    tl.store(out, not flag)
    # A bool and a larger number are computed in int32.
    # INTS: arith.extui %{{.+}} : i1 to i32
    # INTS: arith.addi %{{.+}}, %{{.+}} : i32
    tl.store(out, flag + 2)
