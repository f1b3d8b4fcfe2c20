"""Widths of accesses to global memory in PTX: hints in loops, atomic sums, results of dots. No GPU is needed."""
# SPDX-License-Identifier: MIT

import re
from collections import Counter

import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


def compiled(kernel, signature, arch=90, num_warps=4, aligned=(), **constexprs):
    source = ASTSource(
        fn=kernel,
        signature=signature | dict.fromkeys(constexprs, "constexpr"),
        constexprs=constexprs,
        attrs={(index,): [["tt.divisibility", 16]] for index in aligned},
    )
    return triton.compile(
        source, target=GPUTarget("cuda", arch, 32), options={"num_warps": num_warps}
    )


def accesses(made, pattern) -> Counter:
    return Counter(re.findall(pattern, made.asm["ptx"]))


# --- hints -----------------------------------------------------------------------------------


@triton.jit
def tile_of_pointers(x, out, size_ptr, B: tl.constexpr):
    size = tl.load(size_ptr)
    p = x + tl.arange(0, 32)[:, None] * size + tl.arange(0, 16)[None, :]
    acc = tl.zeros((32, 16), tl.float32)
    for _ in range(0, size, 16):
        tl.multiple_of(p, [16, 16])
        acc += tl.load(p)
        p += 16
    tl.store(out + tl.arange(0, 32)[:, None] * 16 + tl.arange(0, 16)[None, :], acc)


@triton.jit
def hint_that_is_used(x, out, size_ptr, B: tl.constexpr):
    size = tl.load(size_ptr)
    offset = size
    acc = tl.zeros((B,), tl.float32)
    for _ in range(size):
        offset = tl.multiple_of(offset, 16)
        acc += tl.load(x + offset + tl.arange(0, B))
        offset += size
    tl.store(out + tl.arange(0, B), acc)


@triton.jit
def hint_on_the_index(x, out, size_ptr, B: tl.constexpr):
    size = tl.load(size_ptr)
    acc = tl.zeros((B,), tl.float32)
    for k in range(size, 10 * size, size):
        tl.multiple_of(k, 16)
        acc += tl.load(x + k + tl.arange(0, B))
    tl.store(out + tl.arange(0, B), acc)


@triton.jit
def hint_in_while(x, out, size_ptr, B: tl.constexpr):
    size = tl.load(size_ptr)
    p = x + tl.arange(0, B) + size
    acc = tl.zeros((B,), tl.float32)
    k = 0
    while k < size:
        tl.multiple_of(p, 16)
        acc += tl.load(p)
        p += size
        k += 1
    tl.store(out + tl.arange(0, B), acc)


@triton.jit
def hint_in_inner_loop(x, out, size_ptr, B: tl.constexpr):
    size = tl.load(size_ptr)
    p = x + tl.arange(0, B) + size
    acc = tl.zeros((B,), tl.float32)
    for _ in range(size):
        for _ in range(size):
            tl.multiple_of(p, 16)
            acc += tl.load(p)
            p += size
    tl.store(out + tl.arange(0, B), acc)


@triton.jit
def hint_in_outer_loop(x, out, size_ptr, B: tl.constexpr):
    size = tl.load(size_ptr)
    p = x + tl.arange(0, B) + size
    acc = tl.zeros((B,), tl.float32)
    for _ in range(size):
        tl.multiple_of(p, 16)
        for _ in range(size):
            acc += tl.load(p)
            p += 16
    tl.store(out + tl.arange(0, B), acc)


@triton.jit
def hint_on_what_is_yielded(x, out, size_ptr, B: tl.constexpr):
    size = tl.load(size_ptr)
    p = x + tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for _ in range(size):
        acc += tl.load(p)
        p += size
        tl.multiple_of(p, 16)
    tl.store(out + tl.arange(0, B), acc)


@triton.jit
def hint_after_a_branch(x, out, size_ptr, B: tl.constexpr):
    size = tl.load(size_ptr)
    p = x + tl.arange(0, B)
    if size > 3:
        p = p + size
    else:
        p = p - size
    tl.multiple_of(p, 16)
    tl.store(out + tl.arange(0, B), tl.load(p))


@triton.jit
def load_at(x, offset, B: tl.constexpr):
    tl.multiple_of(offset, 16)
    return tl.load(x + offset + tl.arange(0, B))


@triton.jit
def hint_in_a_called_function(x, out, size_ptr, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), load_at(x, tl.load(size_ptr), B))


@triton.jit
def contiguous_in_loop(x, out, size_ptr, B: tl.constexpr):
    size = tl.load(size_ptr)
    offset = (size * B + tl.arange(0, B)) % size
    acc = tl.zeros((B,), tl.float32)
    for _ in range(size):
        tl.max_contiguous(tl.multiple_of(offset, B), B)
        acc += tl.load(x + offset)
        offset += size
    tl.store(out + tl.arange(0, B), acc)


@triton.jit
def assumed(x, out, size_ptr, B: tl.constexpr):
    size = tl.load(size_ptr)
    acc = tl.zeros((B,), tl.float32)
    for k in range(size):
        tl.assume(size % 16 == 0)
        acc += tl.load(x + k * size + tl.arange(0, B))
    tl.store(out + tl.arange(0, B), acc)


HINTED = [
    tile_of_pointers, hint_that_is_used, hint_on_the_index, hint_in_while, hint_in_inner_loop, hint_in_outer_loop,
    hint_on_what_is_yielded, hint_after_a_branch, hint_in_a_called_function, contiguous_in_loop, assumed,
]  # fmt: skip


@pytest.mark.parametrize("kernel", HINTED, ids=lambda kernel: kernel.fn.__name__)
def test_a_hint_in_a_loop_makes_wide_loads(kernel):
    made = compiled(
        kernel, {"x": "*fp32", "out": "*fp32", "size_ptr": "*i32"}, aligned=(0, 1), B=512
    )
    found = accesses(made, r"(?:ld|st)\.global\S*")
    narrow = [name for name in found if ".v4" not in name]
    assert sum(found[name] for name in narrow) == 1, found  # the load of the size
    assert any(name.startswith("ld") and ".v4" in name for name in found), found


@triton.jit
def not_hinted_after_the_loop(x, out, size_ptr, B: tl.constexpr):
    size = tl.load(size_ptr)
    p = x + tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for k in range(size):
        tl.multiple_of(p, 16)
        acc += tl.load(p)
        p += tl.load(size_ptr + k)
    tl.store(out + tl.arange(0, B), acc + tl.load(p))


def test_a_hint_in_a_loop_says_nothing_of_what_it_leaves():
    made = compiled(
        not_hinted_after_the_loop,
        {"x": "*fp32", "out": "*fp32", "size_ptr": "*i32"},
        aligned=(0, 1),
        B=512,
    )
    assert accesses(made, r"ld\.global\S*v4\S*").total() == 1
    assert accesses(made, r"ld\.global(?!\S*v4)\S*").total() >= 4


@triton.jit
def grouped(addresses, strides, out, groups, B: tl.constexpr):
    at, depth = tl.arange(0, B), tl.arange(0, 32)
    for group in range(groups):
        a = tl.load(addresses + 2 * group).to(tl.pointer_type(tl.float16))
        b = tl.load(addresses + 2 * group + 1).to(tl.pointer_type(tl.float16))
        k = tl.load(strides + group * 3)
        lda, ldb = tl.load(strides + group * 3 + 1), tl.load(strides + group * 3 + 2)
        a_at = a + at[:, None] * lda + depth[None, :]
        b_at = b + depth[:, None] * ldb + at[None, :]
        acc = tl.zeros((B, B), tl.float32)
        for _ in range(tl.cdiv(k, 32)):
            tl.multiple_of(a_at, [16, 16])
            tl.multiple_of(b_at, [16, 16])
            acc += tl.dot(tl.load(a_at), tl.load(b_at))
            a_at += 32
            b_at += 32 * ldb
        tl.store(out + at[:, None] * B + at[None, :], acc)


@pytest.mark.parametrize("arch", [80, 90])
def test_a_grouped_matmul_copies_16_bytes_at_a_time(arch):
    signature = {"addresses": "*i64", "strides": "*i32", "out": "*fp32", "groups": "i32"}
    made = compiled(grouped, signature, arch, aligned=(0, 1, 2), B=64)
    copies = accesses(made, r"cp\.async\.c[ag]\.shared\.global \[[^]]*\], \[[^]]*\], (?:0x)?(\d+)")
    assert copies and set(copies) <= {"16", "10"}, copies
    assert accesses(made, r"ld\.global\S*").total() == 5  # of addresses, sizes and strides


# --- atomic sums -----------------------------------------------------------------------------


@triton.jit
def add_all(x, v, old, n, BLOCK: tl.constexpr, USED: tl.constexpr, MASKED: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(v + i)
    mask = i < n if MASKED else None
    before = tl.atomic_add(x + i, value, mask=mask, sem="relaxed")
    if USED:
        tl.store(old + i, before)


def atomics_of(dtype, arch=90, per_thread=4, used=False, masked=False, aligned=(0, 1, 2, 3)):
    signature = {"x": f"*{dtype}", "v": f"*{dtype}", "old": f"*{dtype}", "n": "i32"}
    made = compiled(
        add_all, signature, arch, aligned=aligned, BLOCK=128 * per_thread, USED=used, MASKED=masked
    )
    return dict(accesses(made, r"(?:red|atom)\.\S*"))


@pytest.mark.parametrize(
    ("dtype", "per_thread", "form"),
    [
        ("fp32", 4, "v4.f32"), ("fp32", 2, "v2.f32"), ("fp32", 1, "f32"),
        ("fp16", 8, "noftz.v4.f16x2"), ("fp16", 4, "noftz.v2.f16x2"), ("fp16", 2, "noftz.f16x2"),
        ("bf16", 8, "noftz.v4.bf16x2"), ("bf16", 4, "noftz.v2.bf16x2"),
    ],
)  # fmt: skip
def test_neighbours_are_added_as_one(dtype, per_thread, form):
    assert atomics_of(dtype, per_thread=per_thread) == {f"red.relaxed.gpu.global.add.{form}": 1}
    assert atomics_of(dtype, per_thread=per_thread, used=True) == {
        f"atom.relaxed.gpu.global.add.{form}": 1
    }


def test_a_mask_that_cuts_no_vector_is_one_predicate():
    assert atomics_of("fp32", masked=True) == {"red.relaxed.gpu.global.add.v4.f32": 1}


@pytest.mark.parametrize(
    "options",
    [dict(arch=80), dict(masked=True, aligned=(0, 1, 2)), dict(aligned=(1, 2, 3))],
    ids=["sm_80", "mask", "alignment"],
)
def test_other_neighbours_are_added_one_by_one(options):
    assert atomics_of("fp32", **options) == {"red.relaxed.gpu.global.add.f32": 4}


# --- results of dots -------------------------------------------------------------------------


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, lda, ldb, ldc, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * lda + k[None, :])
    b = tl.load(b_ptr + k[:, None] * ldb + n[None, :])
    c = tl.dot(a, b).to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + m[:, None] * ldc + n[None, :], c)


@pytest.mark.parametrize("arch", [80, 90])
@pytest.mark.parametrize("out", ["fp16", "bf16", "fp32"])
@pytest.mark.parametrize(
    ("m", "n", "num_warps"), [(128, 128, 4), (128, 128, 8), (64, 64, 4), (32, 64, 4), (16, 128, 4)]
)
def test_results_of_dots_are_stored_16_bytes_at_a_time(arch, out, m, n, num_warps):
    signature = {
        "a_ptr": "*fp16",
        "b_ptr": "*fp16",
        "c_ptr": f"*{out}",
        "lda": "i32",
        "ldb": "i32",
        "ldc": "i32",
    }
    made = compiled(matmul, signature, arch, num_warps, aligned=range(6), M=m, N=n, K=64)
    stores = accesses(made, r"st\.global\S*")
    size = 4 if out == "fp32" else 2
    assert stores == {"st.global.v4.b32": m * n * size // 16 // (32 * num_warps)}, stores


# --- reductions in loops ---------------------------------------------------------------------


@triton.jit
def sums_of_rows(x, out, columns, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    acc = tl.zeros([M], tl.float32)
    most = tl.full([M], float("-inf"), tl.float32)
    for n in range(0, columns, N):
        j = n + tl.arange(0, N)[None, :]
        value = tl.load(x + m[:, None] * columns + j, mask=j < columns, other=0)
        acc += tl.sum(value, axis=1)
        most = tl.maximum(most, tl.max(value, axis=1))
    tl.store(out + m, acc + most)


def test_accumulated_reductions_shuffle_after_the_loop():
    made = compiled(
        sums_of_rows,
        {"x": "*fp32", "out": "*fp32", "columns": "i32"},
        aligned=(0, 1, 2),
        M=32,
        N=128,
    )
    body = re.search(r"scf\.for[\s\S]*?\n    }", made.asm["ttgir"]).group()
    assert made.asm["ttgir"].count('"tt.reduce"') == 4
    assert body.count('"tt.reduce"') == 2
    text = made.asm["ptx"]
    label = max(
        re.findall(r"bra(?:\.uni)? \t?(\$L__BB0_\d+)", text),
        key=lambda name: len(text) - text.index(name + ":"),
    )
    loop = text[text.index(label + ":") : text.rindex("bra")]
    assert "add.f32" in loop or "add.rn.f32" in loop
    assert "shfl" not in loop and "shfl" in text
