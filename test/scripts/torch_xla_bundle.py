"""Packs PyTorch/XLA 2.8.1 and its torch for a GPU machine without a network: a tar.xz in parts.

usage: torch_xla_bundle.py FOLDER [PART_MIB]    writes FOLDER/torch-xla.part-0, -1, ...

torch's own GPU code and headers are omitted, and libraries are stripped. PyTorch/XLA's own GPU code is in
the plugin of JAX (jax-cuda13-plugin), which must be installed; test/xla/gpu/README.md has the next steps.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

SCRIPTS = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ("torch==2.8.0", "torch_xla==2.8.1")
PYTHON = "3.12"
# CUDA 13's packages contain these under the names that torch, built for CUDA 12, uses.
PRESENT = ("libcudnn.so.9", "libcusparseLt.so.0", "libcufile.so.0")
LEFT_OUT = (
    "torch/include/",
    "torch/share/",
    "torch/test/",
    "torch/bin/protoc",
    "torch/lib/libtorch_cuda_linalg.so",
    "torchax/",
)
PART_MIB = 54


def fetch(folder: str) -> None:
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary=:all:", "--implementation", "cp", "--python-version", PYTHON]
    command += ["--platform", "manylinux_2_28_x86_64", "-d", folder, *PACKAGES]
    subprocess.run(command, check=True)


def unpack(wheel: str, folder: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            if member.filename.startswith(LEFT_OUT) or member.filename.endswith((".pyi", ".a")):
                continue
            path = archive.extract(member, folder)
            if member.external_attr >> 16 & 0o111:
                os.chmod(path, 0o755)


def trim(folder: str) -> None:
    library = os.path.join(folder, "torch", "lib")
    finish = os.path.join(SCRIPTS, "finish-xla-torch.py")
    subprocess.run([sys.executable, finish, library, *PRESENT], check=True)
    modules = [
        *glob.glob(os.path.join(library, "*.so")),
        *glob.glob(os.path.join(folder, "_XLAC*.so")),
    ]
    subprocess.run(["strip", "--strip-unneeded", *modules], check=True)


def pack(folder: str, target: str, part_bytes: int) -> int:
    """Returns the number of parts."""
    archive = os.path.join(target, "torch-xla.tar.xz")
    with tarfile.open(archive[:-3], "w") as tar:
        tar.add(folder, arcname=".")
    subprocess.run(["xz", "-T0", "-4", "--force", archive[:-3]], check=True)
    count = 0
    with open(archive, "rb") as whole:
        while chunk := whole.read(part_bytes):
            with open(os.path.join(target, f"torch-xla.part-{count}"), "wb") as file:
                file.write(chunk)
            count += 1
    os.unlink(archive)
    return count


def main() -> None:
    target = sys.argv[1]
    part_bytes = int(sys.argv[2] if len(sys.argv) > 2 else PART_MIB) << 20
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    with tempfile.TemporaryDirectory(dir=target) as work:
        wheels, tree = os.path.join(work, "wheels"), os.path.join(work, "tree")
        fetch(wheels)
        for wheel in sorted(glob.glob(os.path.join(wheels, "*.whl"))):
            unpack(wheel, tree)
        trim(tree)
        print(f"{pack(tree, target, part_bytes)} parts in {target}")


if __name__ == "__main__":
    main()
