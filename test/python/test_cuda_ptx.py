"""What PTX must hold that no GPU is needed to see."""
# SPDX-License-Identifier: MIT

import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def chase(start, out, n):
    address = tl.load(start)
    for i in range(n):
        address = tl.load(address.to(tl.pointer_type(tl.int64)), mask=i < n - 1, other=0)
    tl.store(out, address)


@triton.jit
def spin(flag, out):
    while tl.load(flag, cache_modifier=".cv", eviction_policy="evict_last") == 0:
        pass
    tl.store(out, 1)


def ptx_of(kernel, **signature):
    source = ASTSource(fn=kernel, signature=signature, constexprs={})
    return triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"]


def test_a_masked_load_keeps_its_address():
    """`other` is written to the result before the address is read."""
    text = ptx_of(chase, start="*i64", out="*i64", n="i32")
    loads = re.findall(r"@%p\d+ ld\.global\.b64 (%rd\d+), \[(%rd\d+)\]", text)
    assert loads
    assert all(result != address for result, address in loads)


def test_a_loop_reads_a_flag_anew_in_every_turn():
    text = ptx_of(spin, flag="*i32", out="*i32")
    label, body = re.search(r"(\$L__BB\d+_\d+):((?:(?!\$L__BB)[\s\S])*?)bra", text).groups()
    assert "ld.global.cv" in body, (label, body)
