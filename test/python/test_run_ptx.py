"""triton.tools.ptx: arguments by the types of an entry's parameters, shared and scratch memory, errors."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
from triton.tools.ptx import run_ptx

HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n"


def entry(params: str, body: str, name: str = "k", directive: str = ".reqntid 32") -> str:
    return f"{HEAD}.visible .entry {name}({params})\n{directive}\n{{\n{body}\nret;\n}}\n"


def test_types_of_parameters() -> None:
    params = ".param .u64 out, .param .u8 a, .param .u16 b, .param .f32 c, .param .f64 d, .param .b16 e, .param .align 16 .b8 f[16]"
    body = """
      .reg .b64 %o, %d; .reg .b32 %a, %b, %c; .reg .b16 %h;
      ld.param.u64 %o, [out];
      ld.param.u8 %a, [a]; st.global.u32 [%o], %a;
      ld.param.u16 %b, [b]; st.global.u32 [%o+4], %b;
      ld.param.b32 %c, [c]; st.global.b32 [%o+8], %c;
      ld.param.b16 %h, [e]; st.global.b16 [%o+12], %h;
      ld.param.b64 %d, [d]; st.global.b64 [%o+16], %d;
      ld.param.b64 %d, [f+8]; st.global.b64 [%o+24], %d;"""
    out = np.zeros(32, np.uint8)
    run_ptx(entry(params, body), (1,), [out, -1, 40000, 1.5, -2.5, 0.25, bytes(range(16))])
    assert out[:8].view(np.uint32).tolist() == [255, 40000]
    assert out[8:12].view(np.float32)[0] == 1.5
    assert out[12:14].view(np.float16)[0] == 0.25
    assert out[16:24].view(np.float64)[0] == -2.5
    assert out[24:].tolist() == list(range(8, 16))


def test_scratch_memory_is_fresh_and_absent_where_its_size_is_0() -> None:
    body = """
      .reg .b64 %o, %s; .reg .b32 %a;
      ld.param.u64 %o, [out]; ld.param.u64 %s, [s]; ld.global.u32 %a, [%s]; st.global.u32 [%o], %a;
      ld.param.u64 %s, [t]; st.global.u64 [%o+8], %s;"""
    out = np.full(2, 7, np.uint64)
    run_ptx(
        entry(".param .u64 out, .param .u64 s, .param .u64 t", body), (1,), [out], scratch=[64, 0]
    )
    assert (
        out.tolist() == [0x00000000A5A5A5A5, 0] or out[0] & 0xFFFFFFFF == 0xA5A5A5A5 and out[1] == 0
    )


def test_the_number_of_warps() -> None:
    body = """
      .reg .b64 %o; .reg .b32 %t;
      ld.param.u64 %o, [out]; mov.u32 %t, %ntid.x; st.global.u32 [%o], %t;"""
    out = np.zeros(1, np.uint32)
    run_ptx(entry(".param .u64 out", body, directive=""), (1,), [out], num_warps=2)
    assert out[0] == 64
    run_ptx(entry(".param .u64 out", body, directive=".reqntid 96"), (1,), [out])
    assert out[0] == 96
    with pytest.raises(ValueError, match="say how many warps"):
        run_ptx(entry(".param .u64 out", body, directive=""), (1,), [out])


def test_the_entry() -> None:
    both = entry("", "", "one") + entry("", "", "two").removeprefix(HEAD)
    assert run_ptx(both, (2, 3), [], entry="two") == 32 * 6
    with pytest.raises(ValueError, match="2 entries, say which one is run: one, two"):
        run_ptx(both, (1,), [])
    with pytest.raises(ValueError, match="no entry `three`; there are: one, two"):
        run_ptx(both, (1,), [], entry="three")


def test_arguments_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="has 1 parameters; 0 were given"):
        run_ptx(entry(".param .u32 n", ""), (1,), [])
    with pytest.raises(ValueError, match="a parameter of 4 bytes got 2"):
        run_ptx(entry(".param .u32 n", ""), (1,), [b"ab"])


def test_an_unknown_instruction_is_an_error_with_its_line() -> None:
    with pytest.raises(
        RuntimeError, match=r"line 7 of the PTX: this instruction is not known: frobnicate"
    ):
        run_ptx(entry("", "frobnicate.b32 %r1;"), (1,), [])
