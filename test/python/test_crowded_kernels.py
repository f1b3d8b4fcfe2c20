"""The PTX of kernels with more values than a thread has registers, which ptxas must compile fast."""
# SPDX-License-Identifier: MIT

import re

import pytest
import triton
import triton.language as tl
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


def ptx_of(kernel, constants, arch=90, num_warps=4, **signature):
    constexprs = dict.fromkeys(constants, "constexpr")
    attrs = {(at,): [["tt.divisibility", 16]] for at in range(len(signature))}
    source = ASTSource(kernel, {**signature, **constexprs}, constants, attrs)
    with knobs.nvidia.scope():
        knobs.nvidia.ptxas = "/bin/true"  # only the text is checked
        made = triton.compile(source, GPUTarget("cuda", arch, 32), {"num_warps": num_warps})
    return made.asm["ptx"]


@triton.jit
def scaled(a, s, b, t, o, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 2)
    group = tl.arange(0, K // 32)
    acc = tl.dot_scaled(
        tl.load(a + m[:, None] * (K // 2) + k),
        tl.load(s + m[:, None] * (K // 32) + group),
        "e2m1",
        tl.load(b + k[:, None] * N + n),
        tl.load(t + n[:, None] * (K // 32) + group),
        "e2m1",
    )
    tl.store(o + m[:, None] * N + n, acc)


@pytest.mark.parametrize(("arch", "instruction"), [(80, "mma.sync"), (90, "wgmma.mma_async")])
@pytest.mark.parametrize("shape", [(64, 64, 64), (128, 128, 256)])
def test_scaled_dots_run_on_tensor_cores(arch, instruction, shape):
    pointers = {**dict.fromkeys("asbt", "*u8"), "o": "*fp32"}
    text = ptx_of(scaled, dict(zip("MNK", shape, strict=True)), arch, **pointers)
    assert re.search(rf"{instruction}\S*\.bf16", text)
    assert "fma.rn.f32" not in text
    decoded = (shape[0] + shape[1]) * shape[2] // 128  # values of a thread
    assert text.count("\n") < 3000 + 40 * decoded


@triton.jit
def polynomial(x, o, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    v = tl.load(x + at).to(tl.float32)
    tl.store(o + at, ((v * v + 1) * v + 2) * v + 3)


@triton.jit
def polynomials(x, o, count, SIZE: tl.constexpr):
    for block in range(count):
        at = block * SIZE + tl.arange(0, SIZE)
        v = tl.load(x + at).to(tl.float32)
        tl.store(o + at, ((v * v + 1) * v + 2) * v + 3)


@pytest.mark.parametrize(
    ("kernel", "size", "is_crowded"),
    [
        (polynomial, 1024, False),
        (polynomial, 8192, True),
        (polynomials, 8192, False),
        (polynomials, 65536, True),
    ],
)
def test_chains_end_one_after_the_other_where_all_have_no_room(kernel, size, is_crowded):
    """Emitted op by op, every step of the chain would have the whole tile live at once.

    A loop leaves the order to ptxas for longer than a kernel that runs once.
    """
    count = {"count": "i32"} if kernel is polynomials else {}
    text = ptx_of(kernel, {"SIZE": size}, x="*bf16", o="*fp32", **count)
    last_of_chain = max(at.start() for at in re.finditer(r"fma\.rn\.f32", text))
    first_store = text.index("st.global")
    assert (first_store < last_of_chain) == is_crowded


@pytest.mark.parametrize("limit", [None, 64])
def test_an_assembler_that_spills_for_company_is_told_that_one_block_will_do(
    limit, tmp_path, monkeypatch
):
    """A stub of ptxas takes 32 registers for a dot unless the PTX has a launch bound; users' limits stay."""
    program = tmp_path / "ptxas"
    program.write_text(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'release 97.2, V97'; exit 0; fi\n"
        "cp /proc/self/fd/3 /proc/self/fd/4\n"
        "if grep -q '^.minnctapersm 1$' /proc/self/fd/4; then registers=255 bytes=8; else registers=32 bytes=800; fi\n"
        'echo "    $bytes bytes stack frame, $bytes bytes spill stores, $bytes bytes spill loads"\n'
        'echo "ptxas info    : Used $registers registers"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    signature = {**dict.fromkeys("asbt", "*u8"), "o": "*fp32", **dict.fromkeys("MNK", "constexpr")}
    source = ASTSource(scaled, signature, dict.fromkeys("MNK", 64))
    with knobs.nvidia.scope():
        knobs.nvidia.ptxas = str(program)
        made = triton.compile(source, GPUTarget("cuda", 90, 32), {"maxnreg": limit})
    assert (made.n_regs, made.n_spills) == ((32, 200) if limit else (255, 2))
    assert (".minnctapersm 1\n" in made.asm["ptx"]) == (limit is None)


@triton.jit
def normals(o, seed, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(o + at, tl.randn(seed, at))


def test_random_numbers_have_no_paths_for_unusual_arguments():
    """Angles are below 2 pi and logarithms are of normal numbers, which their computation shows."""
    text = ptx_of(normals, {"SIZE": 1024}, o="*fp32", seed="i32")
    assert "bra" not in re.findall(r"\b\w+\b", text)
