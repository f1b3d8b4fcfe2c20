"""Runs a program in PyTorch/XLA on a GPU, by the CUDA plugin of JAX.

usage: with_plugin.py [--jaxlib] PROGRAM [ARGUMENT...]    (run.sh sets the environment)

--jaxlib: payloads are for the handler of jaxlib, which then runs them instead of ours.
"""
# SPDX-License-Identifier: MIT

import functools
import os
import runpy
import sys


def register_plugin() -> None:
    """PJRT_FORWARDER names the forwarder, PJRT_FORWARD_TO the plugin behind it."""
    from torch_xla.experimental import plugins

    class JaxCuda(plugins.DevicePlugin):
        def library_path(self):
            return os.environ["PJRT_FORWARDER"]

        def client_create_options(self):
            return {"platform_name": "gpu", "allocator": "default", "preallocate": False}

        def configure_single_process(self):
            pass

        def physical_chip_count(self):
            return 1

    plugins.register_plugin("CUDA", JaxCuda())


def use_jaxlib() -> None:
    import importlib.metadata

    from jax_cuda13_plugin import _triton
    from triton.xla import torch_xla

    version = importlib.metadata.version("jax-cuda13-plugin")
    torch_xla.make_call = functools.partial(torch_xla.make_call, jaxlib=version)
    torch_xla.use_cuda_handler(_triton.get_custom_call())


def main() -> None:
    os.environ.update(PJRT_DEVICE="CUDA", PJRT_DYNAMIC_PLUGINS="1")
    arguments = sys.argv[1:]
    register_plugin()
    if arguments[0] == "--jaxlib":
        use_jaxlib()
        arguments = arguments[1:]
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
