"""How lit runs the golden (.py) and ir (.mlir, .test) tests; the parameter `level` picks one of the two."""
# SPDX-License-Identifier: MIT
# ruff: noqa: F821  (lit defines config and lit_config)

import os
import shutil
import sys

import lit.formats

SUFFIXES = {"golden": [".py"], "ir": [".mlir", ".test"]}

config.name = "nereid"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.nereid_build, "test")
level = lit_config.params.get("level")
config.suffixes = (
    SUFFIXES[level] if level else [suffix for suffixes in SUFFIXES.values() for suffix in suffixes]
)
# These hold tests of other kinds: gtest, pytest, libFuzzer, public libraries' kernels.
config.excludes = [
    "run",
    "sim",
    "python",
    "runner",
    "scripts",
    "unit",
    "fuzz",
    "exhaustive",
    "stress",
    "xla",
    "libraries",
    "Inputs",
    "inputs",
    "_brief.py",
    "_lists.py",
    "conftest.py",
    "lit.cfg.py",
    "lit.local.cfg.py",
]

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.nereid_build, "bin"), config.llvm_tools, config.environment["PATH"]]
)
if "NEREID_FAULT" in os.environ:  # test/scripts/mutants.py
    config.environment["NEREID_FAULT"] = os.environ["NEREID_FAULT"]
config.environment["PYTHONPATH"] = os.path.join(config.nereid_build, "python")
config.substitutions.append(("%python", config.python))
for name, library in (("%stub_libcuda", "libcuda.so.1"), ("%stub_libhip", "libamdhip64.so.6")):
    config.substitutions.append((name, os.path.join(config.nereid_build, "test", "stub", library)))
config.substitutions.append(("%root", os.path.dirname(config.test_source_root)))

# A ptxas where `nereid` looks for one, or the one of ./dev setup.
ptxas = os.environ.get("TRITON_PTXAS_PATH")
for folder in sys.path:
    candidate = os.path.join(folder, "nvidia", "cu13", "bin", "ptxas")
    if not ptxas and os.path.exists(candidate):
        ptxas = candidate
if ptxas:
    config.environment["TRITON_PTXAS_PATH"] = ptxas
if ptxas or os.path.exists("/usr/local/cuda/bin/ptxas") or shutil.which("ptxas"):
    config.available_features.add("ptxas")
