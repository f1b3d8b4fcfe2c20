"""The submodules of Triton's native module: programs import them, and what is not there is an error at its use."""
# SPDX-License-Identifier: MIT

import importlib

import pytest
from triton._C import libtriton

NAMES = ["amd", "gluon_ir", "gsan_testing", "interpreter", "ir", "linear_layout", "llvm", "nvidia", "passes", "proton"]


@pytest.mark.parametrize("name", NAMES)
def test_submodules_can_be_imported(name):
    scope = {}
    exec(f"from triton._C.libtriton import {name}", scope)
    assert scope[name] is getattr(libtriton, name)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "ir"])
def test_a_missing_name_is_an_error_at_its_use(name):
    module = importlib.import_module(f"triton._C.libtriton.{name}")
    assert not hasattr(module, "add_everything")
    with pytest.raises(AttributeError, match=rf"module 'triton._C.libtriton.{name}' has no attribute 'add_everything' in Nereid; ."):
        module.add_everything(1)


def test_what_is_there():
    from triton._C.libtriton.linear_layout import LinearLayout

    assert LinearLayout is libtriton.LinearLayout
