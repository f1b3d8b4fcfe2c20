"""Another compiler of the language reads the TTIR that is printed here, if one is available.

NEREID_PEERS names such compilers: `python3.12=/folder/with/triton:python3.12=/another`.
"""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys
from pathlib import Path

import pytest
import triton
from triton.compiler import ASTSource
from triton.runtime import driver

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "run" / "ttir"))
from _ttir_kernels import CASES  # noqa: E402

PEERS = [peer.split("=") for peer in os.environ.get("NEREID_PEERS", "").split(":") if peer]
# Features that the oldest peers lack: descriptors, barriers and cache hints in the newest form.
NEWEST_ONLY = {
    "attention", "descriptor_gather", "device_descriptors", "host_descriptors",
    "layer_norm_backward", "loop_hints",
}  # fmt: skip


def texts(folder):
    """Files with the kernels' TTIR as it is printed here, before and after the passes."""
    target, files = driver.active.get_current_target(), []
    for name, case in CASES.items():
        source = ASTSource(case.kernel, case.signature, case.constants)
        kernel = triton.compile(source, target=target, options={"debug": case.debug})
        files.append(folder / f"{name}.ttir")
        files[-1].write_text(kernel.asm["ttir"])
    return files


@pytest.mark.parametrize("peer", PEERS or [None], ids=lambda peer: peer and Path(peer[1]).name)
def test_a_peer_reads_what_is_printed(peer, tmp_path):
    if peer is None:
        pytest.skip("NEREID_PEERS names no other compiler of the language")
    python, folder = peer
    asked = "import triton; print(triton.__version__)"
    environment = {**os.environ, "PYTHONPATH": folder}
    version = subprocess.run(
        [python, "-c", asked], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()
    files = texts(tmp_path)
    if version.startswith("3.6"):
        files = [path for path in files if path.stem not in NEWEST_ONLY]
    done = subprocess.run(
        [python, ROOT / "test" / "scripts" / "read_ttir.py", *files],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
