"""Modules with kernels in Gluon can be imported; running such a kernel is an error that names it."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language import extra


@gluon.jit
def plain(x, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    gl.store(x + gl.arange(0, N, layout), 1)


@gluon.jit
def of_both(x):
    gl.static_assert(True)


@gluon.jit(do_not_specialize=["n"])
def with_options(x, n):
    pass


def test_the_language_shares_what_triton_has():
    assert gl.exp is tl.exp and extra.libdevice is tl.extra.libdevice
    with pytest.raises(AttributeError, match="BlockedLayout"):
        gl.BlockedLayout  # noqa: B018


@pytest.mark.parametrize("kernel", [plain, with_options])
def test_running_a_kernel_names_it(kernel):
    assert isinstance(kernel, gluon.GluonJITFunction) and isinstance(kernel, triton.JITFunction)
    for run in (
        kernel[(1,)],
        lambda *a: kernel.run(*a, grid=(1,)),
        lambda *a: kernel.warmup(*a, grid=(1,)),
    ):
        with pytest.raises(
            NotImplementedError, match=rf"test_gluon.py:\d+: `{kernel.__name__}`.*Gluon"
        ):
            run(None, 4)


def test_compiling_a_kernel_names_it():
    """A Gluon kernel whose body uses only Triton's language is an error, too."""
    with pytest.raises(NotImplementedError, match="`of_both` is a kernel in Gluon"):
        triton.compile(triton.compiler.ASTSource(of_both, {"x": "*fp32"}))


@triton.jit
def gluon_elsewhere(x, HAS_GLUON: tl.constexpr):
    if HAS_GLUON:
        of_both(x)
    else:
        tl.store(x, 5)


def test_a_branch_that_is_not_taken_may_call_it():
    x = np.zeros(1, np.float32)
    gluon_elsewhere[(1,)](x, HAS_GLUON=False)
    assert x[0] == 5
