"""Threads that launch, clear and configure at once; without a GIL where the interpreter has none."""
# SPDX-License-Identifier: MIT

import sys
import sysconfig
import threading

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def scale(x, factor, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(x + at, tl.load(x + at) * factor)


def on_threads(*works):
    failures = []

    def guarded(work):
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failures and not any(thread.is_alive() for thread in threads), failures


def launch_often():
    for factor in range(2, 60):
        x = np.ones(16, np.float32)
        scale[(1,)](x, factor, B=16)
        assert (x == factor).all()


def clear_often():
    for _ in range(60):
        scale._c_clear()


def configure_often():
    for _ in range(60):
        triton.knobs._settings_changed()


def test_threads_launch_while_others_clear_and_configure():
    on_threads(launch_often, launch_often, clear_often, configure_often)


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"),
    reason="this Python has a GIL; try 3.13t or 3.14t",
)
def test_the_module_needs_no_gil():
    assert not sys._is_gil_enabled()
