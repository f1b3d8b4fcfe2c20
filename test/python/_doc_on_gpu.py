"""Runs a program for a GPU on a machine without one: each kernel is compiled for cuda:90 when it is called, and runs
on the CPU, where the arrays are.

    python test/python/_doc_on_gpu.py PROGRAM.py
"""
# SPDX-License-Identifier: MIT

import pathlib
import runpy
import sys

import triton
from torch.overrides import TorchFunctionMode
from triton.runtime import driver
from triton.runtime.jit import JITFunction

sys.path[0] = ""  # as for the program alone
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "run"))

import _gpu  # noqa: E402

compiled: list[str] = []
launch = JITFunction.__getitem__


class OnCpu(TorchFunctionMode):
    """Tensors for the device "cuda" are made on the CPU."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if kwargs.get("device") == "cuda":
            kwargs["device"] = "cpu"
        return function(*args, **kwargs)


def compile_and_launch(kernel, grid):
    def call(*args, **named):
        driver.set_active(_gpu.CompilingDriver(_gpu.target_of("90")))
        _gpu.check_stages(kernel.warmup(*args, grid=grid, **named), 90)
        compiled.append(kernel.__name__)
        driver.reset_active()
        driver.set_active_to_cpu()
        return launch(kernel, grid)(*args, **named)

    return call


def main() -> None:
    assert triton.backends.nvidia.assembler.find_assembler(90).ptxas, "there is no ptxas"
    JITFunction.__getitem__ = compile_and_launch
    sys.argv = sys.argv[1:]
    with OnCpu():
        runpy.run_path(sys.argv[0], run_name="__main__")
    assert compiled, "no kernel was launched"


if __name__ == "__main__":
    main()
