# A load that is contiguous along another dimension than the store is copied as it lies and transposed in registers.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:transposed_copy --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,i32,32,64' --emit plan -o - | FileCheck %s
# RUN: nereid compile %s:transposed_copy --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,i32,32,4' --emit plan -o - | FileCheck %s --check-prefix=FEW
# RUN: nereid compile %s:transposed_copy --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,i32,32,64' --emit asm -o - | FileCheck %s --check-prefix=ASM
# RUN: nereid compile %s:transposed_copy --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,i32,32,64' --emit llir -o - | FileCheck %s --check-prefix=AHEAD
# RUN: nereid compile %s:transposed_copy --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,i32,32,64' --emit llir -o - | FileCheck %s --check-prefix=WRITTEN
# RUN: nereid compile %s:dot_of_columns --target cpu:znver4 --signature '*bf16,*bf16,*fp32,i32' --emit plan -o - | FileCheck %s --check-prefix=OPERAND
# RUN: nereid compile %s:dot_of_columns --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32' --emit plan -o - | FileCheck %s --check-prefix=READ-BY-COLUMNS
# RUN: nereid compile %s:channels_first --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,32' --emit llir -o - | FileCheck %s --check-prefix=IN-PLACE
# RUN: nereid compile %s:channels_first --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,128' --emit llir -o - | FileCheck %s --check-prefix=WITH-COPY
import triton
import triton.language as tl


@triton.jit
def transposed_copy(x, y, rows, columns, BX: tl.constexpr, BY: tl.constexpr):
    i = tl.program_id(0) * BX + tl.arange(0, BX)[:, None]
    j = tl.program_id(1) * BY + tl.arange(0, BY)[None, :]
    inside = (i < rows) & (j < columns)
    tl.store(y + i * columns + j, tl.load(x + i + j * rows, inside), inside)


# The copy that is read where arrays overlap has the order of the load, or its strides would be those of neither.
# CHECK: f32 copied d0 innermost
# CHECK: b[[TILE:[0-9]+]] [32x64] f32 transposed{{$}}
# CHECK: b[[STAGED:[0-9]+]] [32x64] f32 staged d0 innermost
# CHECK: guard load0
# CHECK: loops (d1, d0) vector d0
# CHECK: materialise tt.load in b[[STAGED]] transposed into b[[TILE]]
# CHECK: loops (d0, d1) vector d1
# CHECK: read b[[TILE]]
# CHECK-NEXT: store

# Few elements along a dimension do not pay for the copy.
# FEW-NOT: staged

# ASM-NOT: vinsertps
# ASM: {{vperm[ti]2|vshuf|vunpck}}{{.*}}zmm

# The rows of both tiles lie apart: the next program's ones are prefetched while there is one.
# AHEAD: %[[NEXT:.*]] = icmp ult i32 %{{.*}}
# AHEAD: %[[DISTANCE:.*]] = select i1 %[[NEXT]], i64 128, i64 0
# AHEAD: %[[TILE:.*]] = getelementptr i8, ptr %{{.*}}, i64 %[[DISTANCE]]
# AHEAD: %[[ROW:.*]] = getelementptr i8, ptr %[[TILE]], i64
# AHEAD: call void @llvm.prefetch.p0(ptr %[[ROW]], i32 0, i32 2, i32 1)
# WRITTEN: call void @llvm.prefetch.p0(ptr %{{.*}}, i32 1, i32 2, i32 1)


@triton.jit
def dot_of_columns(x, y, out, stride):
    i = tl.arange(0, 32)[:, None]
    k = tl.arange(0, 64)
    j = tl.arange(0, 64)[None, :]
    product = tl.dot(tl.load(x + i + stride * k[None, :]), tl.load(y + k[:, None] * stride + j))
    tl.store(out + i * 64 + j, product)


# Pairs along K lie beside each other in the left operand of a bf16 dot, whose columns are contiguous in memory.
# OPERAND: b[[TILE:[0-9]+]] [32x64] bf16 operand
# OPERAND: b[[STAGED:[0-9]+]] [32x64] bf16 staged d0 innermost
# OPERAND: assign b[[STAGED]] transposed into b[[TILE]]
# OPERAND-NOT: read b[[TILE]]
# OPERAND: dot [32x64] by [64x64] of b[[TILE]]

# Where elements are read one by one, the operand stays in the order of memory.
# READ-BY-COLUMNS-NOT: staged


@triton.jit
def channels_first(x, y, pixels, Y: tl.constexpr):
    i = tl.program_id(1) * Y + tl.arange(0, Y)[:, None]
    j = tl.program_id(0) * 32 + tl.arange(0, 32)[None, :]
    tl.store(y + i * pixels + j, tl.load(x + i % 64 + j * 64 + i // 64 * 4096))


# A tile in which no remainder wraps is affine: it is transposed from memory, unless the arrays overlap.
# IN-PLACE: select i1
# IN-PLACE: call void @transpose.32x32.i32.rows(ptr {{.*}}, ptr {{.*}}, i64
# WITH-COPY: call void @transpose.32x128.i32.rows.arg2.512(
