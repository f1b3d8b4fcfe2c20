"""Imports the kernels of an LLM engine from its source folder, without the rest of the engine.

The engine is LightLLM (ModelTC/lightllm, Apache 2.0): its Triton kernels lie in plain
files beside the functions that launch them. Its packages import models and servers on the way;
here a package is only its folder, and the few modules that a kernel's file needs from elsewhere
are replaced.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import logging
import sys
import types
from pathlib import Path
from typing import Any

import torch

PACKAGE = "lightllm"


class Frozen(dict):
    """What the engine needs of `frozendict`: a dictionary that may be a key."""

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))


def _quiet_logger(name: str) -> logging.Logger:
    """The engine warns of each configuration file that a machine does not have."""
    logger = logging.getLogger(name)
    logger.setLevel(logging.ERROR)
    return logger


def _replaced() -> dict[str, dict[str, Any]]:
    """Modules of the engine that lead to its servers or to libraries of GPUs, and what kernels'
    files take from them.
    """
    return {
        f"{PACKAGE}.common.req_manager": {"ReqSamplingParamsManager": object, "ReqManager": object},
        f"{PACKAGE}.common.basemodel.layer_infer.cache_tensor_manager": {"g_cache_manager": None},
        f"{PACKAGE}.utils.dist_utils": {"get_current_device_id": lambda: 0},
        f"{PACKAGE}.utils.log_utils": {"init_logger": _quiet_logger},
        f"{PACKAGE}.utils.sgl_utils": {"HAS_SGL_KERNEL": False, "sgl_ops": None},
        f"{PACKAGE}.utils.vllm_utils": {"HAS_VLLM": False, "vllm_ops": None},
        f"{PACKAGE}.utils.light_utils": {"HAS_LIGHTLLM_KERNEL": False, "light_ops": None},
    }


def _cpu_replaced() -> dict[str, dict[str, Any]]:
    """The engine asks for a GPU's properties; this is what it hears on a CPU."""
    devices = {
        "is_tesla": lambda: False,
        "is_hopper": lambda: False,
        "get_current_device_name": lambda: "cpu",
        "get_device_sm_count": lambda: 4,
        "get_device_sm_regs_num": lambda: 65536,
        "get_device_sm_shared_mem_num": lambda: 65536,
        "get_device_warp_size": lambda: 32,
        "calcu_kernel_best_vsm_count": lambda kernel, num_warps: 4,
    }
    return {f"{PACKAGE}.utils.device_utils": devices}


class _FolderPackages(importlib.abc.MetaPathFinder):
    """Finds each package of the engine as its folder, whose `__init__.py` does not run."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname.partition(".")[0] != PACKAGE:
            return None
        folder = self.root.joinpath(*fullname.split("."))
        if not folder.is_dir():
            return None
        spec = importlib.machinery.ModuleSpec(fullname, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        return spec


def _module(name: str, attributes: dict[str, Any]) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update(attributes)
    return module


def _allocate_on_cpu() -> None:
    """Lets `torch.empty(..., device="cuda")`, which the engine's functions write, allocate on the CPU."""
    empty = torch.empty

    def empty_on_cpu(*shape: Any, **options: Any) -> torch.Tensor:
        if options.get("device") == "cuda":
            options["device"] = "cpu"
        return empty(*shape, **options)

    torch.empty = empty_on_cpu


def open_engine(folder: str, device: str) -> None:
    """Makes `import lightllm...` find the engine in `folder`; call it once, before such an import."""
    root = Path(folder).resolve()
    if not (root / PACKAGE / "models").is_dir():
        raise SystemExit(f"{root} has no folder {PACKAGE}/models; give a checkout of LightLLM")
    replaced = _replaced()
    if device == "cpu":
        replaced |= _cpu_replaced()
        _allocate_on_cpu()
    if importlib.util.find_spec("frozendict") is None:
        sys.modules["frozendict"] = _module("frozendict", {"frozendict": Frozen})
    for name, attributes in replaced.items():
        sys.modules[name] = _module(name, attributes)
    sys.meta_path.insert(0, _FolderPackages(root))


def load(name: str) -> types.ModuleType:
    """A module of the engine: `models.llama.triton_kernel.rmsnorm`."""
    return importlib.import_module(f"{PACKAGE}.{name}")


if __name__ == "__main__":
    # FOLDER DEVICE COMMAND...: a command of `nereid` that can import the engine
    open_engine(sys.argv[1], sys.argv[2])
    sys.argv[1:3] = []
    sys.argv[0] = "nereid"
    from nereid_triton.nereid.cli import main

    sys.exit(main())
