"""Kernels whose TTIR, as printed by other compilers of the language, is read and run.

`CASES` names each with the types of its parameters. test/scripts/make_ttir.py compiles them with the
triton that it finds; so nothing here may need more than the language itself.
"""
# SPDX-License-Identifier: MIT

import _ttir_dots  # noqa: F401  (enters its kernels)
import triton
import triton.language as tl
from _ttir_case import CASES, Case, case  # noqa: F401
from triton.language.extra import libdevice

# --- pointwise, reductions ----------------------------------------------------------------------


@case(x="*fp32", y="*fp32", out="*fp32", n="i32", BLOCK=256)
@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@case(out="*fp32", x="*fp32", x_stride="i32", rows="i32", columns="i32", BLOCK=128)
@triton.jit
def fused_softmax(out, x, x_stride, rows, columns, BLOCK: tl.constexpr):
    first = tl.program_id(0)
    for row in tl.range(first, rows, tl.num_programs(0), num_stages=2):
        column = tl.arange(0, BLOCK)
        inside = column < columns
        value = tl.load(x + row * x_stride + column, mask=inside, other=-float("inf"))
        power = tl.exp(value - tl.max(value, axis=0))
        tl.store(out + row * x_stride + column, power / tl.sum(power, axis=0), mask=inside)


@case(x="*fp32", out="*fp32", n="i32", p="fp32", seed="i32", BLOCK=256)
@triton.jit
def seeded_dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    value = tl.load(x + i, mask=i < n)
    tl.store(out + i, tl.where(keep, value / (1 - p), 0.0), mask=i < n)


@case(
    x="*fp16", y="*fp16", w="*fp16", b="*fp16", mean="*fp32", rstd="*fp32",
    stride="i32", columns="i32", eps="fp32", BLOCK=128,
)  # fmt: skip
@triton.jit
def layer_norm(x, y, w, b, mean, rstd, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    y += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for offset in range(0, columns, BLOCK):
        column = offset + tl.arange(0, BLOCK)
        total += tl.load(x + column, mask=column < columns, other=0.0).to(tl.float32)
    average = tl.sum(total, axis=0) / columns
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for offset in range(0, columns, BLOCK):
        column = offset + tl.arange(0, BLOCK)
        value = tl.load(x + column, mask=column < columns, other=0.0).to(tl.float32)
        value = tl.where(column < columns, value - average, 0.0)
        square += value * value
    scale = 1 / tl.sqrt(tl.sum(square, axis=0) / columns + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, scale)
    for offset in range(0, columns, BLOCK):
        column = offset + tl.arange(0, BLOCK)
        inside = column < columns
        weight = tl.load(w + column, mask=inside)
        bias = tl.load(b + column, mask=inside)
        value = tl.load(x + column, mask=inside, other=0.0).to(tl.float32)
        tl.store(y + column, (value - average) * scale * weight + bias, mask=inside)


@case(
    dx="*fp32", dy="*fp32", dw="*fp32", db="*fp32", x="*fp32", w="*fp32", mean="*fp32",
    rstd="*fp32", lock="*i32", stride="i32", columns="i32", GROUPS=2, BLOCK=64,
)  # fmt: skip
@triton.jit
def layer_norm_backward(
    dx, dy, dw, db, x, w, mean, rstd, lock, stride, columns,
    GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    value = tl.load(x + row * stride + column, mask=inside, other=0)
    gradient = tl.load(dy + row * stride + column, mask=inside, other=0)
    weight = tl.load(w + column, mask=inside, other=0)
    scale = tl.load(rstd + row)
    normal = tl.where(inside, (value - tl.load(mean + row)) * scale, 0.0)
    weighted = tl.where(inside, weight * gradient, 0.0)
    c1 = tl.sum(normal * weighted, axis=0) / columns
    c2 = tl.sum(weighted, axis=0) / columns
    tl.store(dx + row * stride + column, (weighted - (normal * c1 + c2)) * scale, mask=inside)
    group = row % GROUPS
    mine = lock + group
    count = mine + GROUPS
    while tl.atomic_cas(mine, 0, 1) == 1:
        pass
    seen = tl.load(count)
    dw_row = dw + group * columns + column
    db_row = db + group * columns + column
    part_w = gradient * normal
    part_b = gradient
    if seen == 0:
        tl.atomic_xchg(count, 1)
    else:
        part_w += tl.load(dw_row, mask=inside)
        part_b += tl.load(db_row, mask=inside)
    tl.store(dw_row, part_w, mask=inside)
    tl.store(db_row, part_b, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(mine, 0)


@case(dw="*fp32", final="*fp32", groups="i32", columns="i32", ROWS=4, BLOCK=32)
@triton.jit
def column_sums(dw, final, groups, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The second kernel of layer norm's backward pass."""
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    for first in range(0, groups, ROWS):
        row = first + tl.arange(0, ROWS)
        inside = (row[:, None] < groups) & (column[None, :] < columns)
        total += tl.load(dw + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    tl.store(final + column, tl.sum(total, axis=0), mask=column < columns)


@case(x="*fp32", keep="*i1", out="*fp32", n="i32", p="fp32", BLOCK=64)
@triton.jit
def masked_dropout(x, keep, out, n, p, BLOCK: tl.constexpr):
    i = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    value = tl.load(x + i, mask=inside)
    kept = tl.load(keep + i, mask=inside)
    tl.store(out + i, tl.where(kept, value / (1 - p), 0.0), mask=inside)


@case(x="*fp32", sums="*fp32", where="*i32", rows="i32", BLOCK=32)
@triton.jit
def reductions(x, sums, where, rows, BLOCK: tl.constexpr):
    row = tl.arange(0, BLOCK)
    value = tl.load(x + row[:, None] * BLOCK + row[None, :], mask=row[:, None] < rows, other=0.0)
    largest, index = tl.max(value, axis=1, return_indices=True)
    tl.store(sums + row, tl.sum(value, axis=1) + largest, mask=row < rows)
    tl.store(where + row, index + tl.argmin(value, axis=1), mask=row < rows)


# --- control flow -------------------------------------------------------------------------------


@case(x="*i32", out="*i32", n="i32", BLOCK=32)
@triton.jit
def early_return(x, out, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    if program >= n:
        return
    i = program * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i)
    if program == 1:
        tl.store(out + i, -value)
        return
    tl.store(out + i, value * 2)


@triton.jit
def sign_of(value):
    if value > 0:
        return 1
    if value < 0:
        return -1
    return 0


@triton.jit(noinline=True)
def steps_of(value, limit):
    steps = 0
    while (value != 1) & (steps < limit):
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    return steps


@case(x="*i32", out="*i32", limit="i32")
@triton.jit
def calls(x, out, limit):
    program = tl.program_id(0)
    value = tl.load(x + program)
    tl.store(out + program, sign_of(value) * 1000 + steps_of(tl.abs(value), limit))


@case(x="*fp32", out="*fp32", n="i32", BLOCK=64)
@triton.jit
def loop_hints(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.assume(n > 0)
    total = tl.zeros([BLOCK], tl.float32)
    for block in tl.range(0, n, num_stages=3, loop_unroll_factor=2):
        offset = tl.multiple_of(block * BLOCK, 64)
        total += tl.load(x + offset + tl.max_contiguous(tl.multiple_of(i, 64), 64))
    for block in tl.range(0, n, disable_licm=True):
        total += tl.load(x + block * BLOCK + i, eviction_policy="evict_first") * 0.5
    for block in tl.range(0, n, flatten=True, disallow_acc_multi_buffer=True):
        total += tl.load(x + block * BLOCK + i, cache_modifier=".cg", volatile=True)
    tl.store(out + i, total, cache_modifier=".wb", eviction_policy="evict_last")


# --- memory -------------------------------------------------------------------------------------


@case(x="*fp32", out="*fp32", rows="i32", columns="i32", BLOCK=16)
@triton.jit
def block_pointers(x, out, rows, columns, BLOCK: tl.constexpr):
    source = tl.make_block_ptr(
        x, (rows, columns), (columns, 1), (tl.program_id(0) * BLOCK, 0), (BLOCK, BLOCK), (1, 0)
    )
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for _ in range(0, columns, BLOCK):
        total += tl.load(source, boundary_check=(0, 1), padding_option="zero")
        source = tl.advance(source, (0, BLOCK))
    target = tl.make_block_ptr(
        out, (rows, BLOCK), (BLOCK, 1), (tl.program_id(0) * BLOCK, 0), (BLOCK, BLOCK), (1, 0)
    )
    tl.store(target, total, boundary_check=(0,))


@case(x="*fp32", out="*fp32", rows="i32", columns="i32", BLOCK=16)
@triton.jit
def device_descriptors(x, out, rows, columns, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [BLOCK, 32])
    target = tl.make_tensor_descriptor(out, [rows, columns], [columns, 1], [BLOCK, 32])
    row = tl.program_id(0) * BLOCK
    for column in range(0, columns, 32):
        target.store([row, column], source.load([row, column]) * 2)
    target.atomic_add([row, 0], source.load([row, 32]))


@case(x="tensordesc<fp16[16,32]>", out="tensordesc<fp16[16,32]>", row="i32")
@triton.jit
def host_descriptors(x, out, row):
    out.store([row, 0], x.load([row, 8]) + 1)


@case(x="*fp32", out="*fp32", index="*i32", rows="i32", columns="i32", BLOCK=16)
@triton.jit
def descriptor_gather(x, out, index, rows, columns, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [1, 32])
    target = tl.make_tensor_descriptor(out, [rows, columns], [columns, 1], [1, 32])
    chosen = tl.load(index + tl.arange(0, BLOCK))
    target.scatter(source.gather(chosen, 32), chosen, 0)


@case(counts="*i32", unsigned="*u32", sums="*fp32", old="*i32", n="i32", BLOCK=64)
@triton.jit
def atomics(counts, unsigned, sums, old, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    inside = i < n
    tl.store(old + i, tl.atomic_add(counts + i, i + 1, mask=inside, sem="relaxed"), mask=inside)
    tl.atomic_and(counts + BLOCK + i, 12, mask=inside)
    tl.atomic_or(counts + 2 * BLOCK + i, 3, mask=inside, scope="sys")
    tl.atomic_xor(counts + 3 * BLOCK + i, i, mask=inside, sem="release")
    one = i * 0
    tl.atomic_max(counts + 4 * BLOCK + one, i - 5, mask=inside, scope="cta")
    tl.atomic_min(counts + 4 * BLOCK + 1 + one, i - 5, mask=inside)
    tl.atomic_max(unsigned + i % 2, i.to(tl.uint32), mask=inside)
    tl.atomic_min(unsigned + 2 + one, (i + 7).to(tl.uint32), mask=inside)
    tl.atomic_add(sums + one, i.to(tl.float32), mask=inside)
    tl.atomic_max(sums + 1 + one, i.to(tl.float32) - 3.5, mask=inside)
    tl.atomic_xchg(counts + 4 * BLOCK + 2, 77)
    tl.atomic_cas(counts + 4 * BLOCK + 3, 5, 6, sem="acquire")


# --- shapes, scans, sorting ---------------------------------------------------------------------


@triton.jit
def affine(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@case(x="*fp32", y="*i32", sums="*i32", products="*fp32", chained="*fp32", BLOCK=64)
@triton.jit
def scans(x, y, sums, products, chained, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.store(sums + i, tl.cumsum(tl.load(y + i), axis=0, reverse=True))
    tl.store(products + i, tl.cumprod(value, axis=0))
    _, shift = tl.associative_scan((value, value + 1), 0, affine)
    tl.store(chained + i, shift)


@case(x="*i32", y="*i32", out="*i32", BLOCK=32)
@triton.jit
def shapes(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i)
    b = tl.load(y + i)
    both = tl.arange(0, 2 * BLOCK)
    tl.store(out + both, tl.interleave(a, b))
    left, right = tl.split(tl.reshape(a, (BLOCK // 2, 2)))
    half = tl.arange(0, BLOCK // 2)
    out += 2 * BLOCK
    tl.store(out + half, left - right)
    out += BLOCK // 2
    square = tl.reshape(a, (4, BLOCK // 4))
    transposed = tl.ravel(tl.trans(square) + tl.expand_dims(tl.arange(0, 4), 0))
    tl.store(out + i, transposed)
    out += BLOCK
    tl.store(out + i, tl.gather(b, (a * 7) % BLOCK, axis=0))
    out += BLOCK
    tl.store(out + i, tl.flip(a, 0))
    out += BLOCK
    cube = tl.permute(tl.reshape(b, (2, 4, BLOCK // 8)), (2, 0, 1))
    tl.store(out + i, tl.reshape(cube, (BLOCK,)))


@case(x="*i32", out="*i32", BLOCK=64)
@triton.jit
def histogram(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    bins = tl.arange(0, 16)
    tl.store(out + bins, tl.histogram(value, 16))
    tl.store(out + 16 + bins, tl.histogram(value, 16, mask=i % 2 == 0))


@case(x="*i32", out="*i32", BLOCK=32)
@triton.jit
def concatenated(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    both = tl.cat(tl.load(x + i), tl.load(x + BLOCK + i), can_reorder=True)
    tl.store(out, tl.sum(both * both, axis=0))


@case(x="*fp32", ordered="*fp32", best="*fp32", ROWS=4, BLOCK=8)
@triton.jit
def sorting(x, ordered, best, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.arange(0, ROWS)[:, None]
    offsets = row * BLOCK + tl.arange(0, BLOCK)[None, :]
    value = tl.load(x + offsets)
    tl.store(ordered + offsets, tl.sort(value, descending=True))
    tl.store(best + row * 2 + tl.arange(0, 2)[None, :], tl.topk(value, 2))


@triton.jit
def clipped(a, b):
    if a > b:
        return b, a - b
    return a, a * 0


@case(x="*i32", y="*i32", low="*i32", rest="*i32", BLOCK=32)
@triton.jit
def map_elements(x, y, low, rest, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    least, more = tl.map_elementwise(clipped, tl.load(x + i), tl.load(y + i))
    tl.store(low + i, least)
    tl.store(rest + i, more)


# --- numbers ------------------------------------------------------------------------------------


@case(x="*fp32", y="*fp32", out="*fp32", high="*u32", BLOCK=64)
@triton.jit
def mathematics(x, y, out, high, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i)
    b = tl.load(y + i)
    r = tl.exp(a) + tl.exp2(a) + tl.log(b) + tl.log2(b) + tl.sin(a) + tl.cos(a) + tl.erf(a)
    r += tl.sqrt(b) + tl.sqrt_rn(b) + tl.rsqrt(b) + tl.div_rn(a, b) + tl.floor(a) + tl.ceil(a)
    r += tl.fma(a, b, a) + tl.clamp(a, -1.0, 1.0) + tl.abs(a) + tl.maximum(a, b) + a % b
    tl.store(out + i, r)
    tl.store(high + i, tl.umulhi((i * 123456789).to(tl.uint32), (i + 1 << 20).to(tl.uint32)))


@case(x="*fp32", half="*fp16", brain="*bf16", tiny="*fp8e4nv", wide="*fp8e5", back="*fp32", BLOCK=64)
@triton.jit
def conversions(x, half, brain, tiny, wide, back, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.store(half + i, value.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(brain + i, value.to(tl.bfloat16))
    tl.store(tiny + i, value.to(tl.float8e4nv))
    tl.store(wide + i, value.to(tl.float8e5))
    tl.store(back + i, value.to(tl.float8e5).to(tl.float32) + value.to(tl.int32, bitcast=True).to(tl.int8))


@case(x="*fp32", out="*fp32", BLOCK=64)
@triton.jit
def library_functions(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.store(out + i, libdevice.tanh(value) + libdevice.pow(value, value) + libdevice.cbrt(value))


@case(x="*i32", n="i32", debug=True, BLOCK=32)
@triton.jit
def checks(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.device_assert(value < n, "value too large")
    if tl.program_id(0) == 0:
        tl.device_print("value", value, n)
    tl.store(x + i, value + n)


# --- rarer forms --------------------------------------------------------------------------------


@case(x="*fp32", out="*fp32", n="i32", BLOCK=32)
@triton.jit
def rarer_forms(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    described = tl.make_tensor_descriptor(x, [n, n], [n, 1], [BLOCK, BLOCK], padding_option="nan")
    v = described.load([0, 0])
    v = tl.where(v != v, 0.0, v)
    r = v + tl.max(v, axis=0, keep_dims=True) + tl.sum(tl.ravel(v, can_reorder=True), axis=0)
    r += tl.maximum(v, 0.5, propagate_nan=tl.PropagateNan.ALL)
    r += tl.minimum(v.to(tl.float64), 1.0).to(tl.float32)
    small = v.to(tl.float8e5)
    r += tl.dot(small, tl.trans(small), max_num_imprecise_acc=16)
    r += tl.dot(v.to(tl.int8), v.to(tl.int8))
    r += (v.to(tl.int64) << 3).to(tl.float32)
    u = tl.load(x + i * 0 + 1, mask=i < n, other=1.0, volatile=True)
    r += tl.sum(u.to(tl.int16), axis=0)
    offsets = (out + i[:, None] * BLOCK + i[None, :]).to(tl.pointer_type(tl.int32), bitcast=True)
    tl.store(offsets, r.to(tl.int32, bitcast=True), mask=(i < n)[:, None] & (i < n)[None, :])
