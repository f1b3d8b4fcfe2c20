"""`CompiledKernel` as packages wrap, override and create it: `__init__(src, metadata_group, hash)`."""
# SPDX-License-Identifier: MIT

import copy
import inspect
import json
import os
import pickle

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, CompiledKernel
from triton.compiler import compiler as module

pytestmark = pytest.mark.usefixtures("own_cache")


def new_kernel():
    @triton.jit
    def store(out_ptr, value, N: tl.constexpr):
        tl.store(out_ptr + tl.arange(0, N), value)

    return store


def launched(kernel=None):
    out = np.zeros(16, np.float32)
    made = (kernel or new_kernel())[(1,)](out, 2.5, N=16)
    assert (out == 2.5).all()
    return made


def test_parameters_are_those_of_triton():
    assert list(inspect.signature(CompiledKernel.__init__).parameters) == [
        "self",
        "src",
        "metadata_group",
        "hash",
    ]


@pytest.mark.parametrize("form", ["positional", "keywords", "any"])
def test_a_wrapped_initialiser_sees_every_kernel(form, monkeypatch):
    original, seen = CompiledKernel.__init__, []

    def note(self, src, metadata_group, hash):  # noqa: A002
        paths = [path for name, path in metadata_group.items() if name.endswith(".json")]
        with open(paths[0]) as file:
            seen.append(
                (
                    json.load(file)["name"],
                    src.fn.__name__,
                    hash == self.hash,
                    "tt.store" in self.asm["ttir"],
                )
            )

    def positional(self, src, metadata_group, hash):  # noqa: A002
        original(self, src, metadata_group, hash)
        note(self, src, metadata_group, hash)

    def keywords(self, src, metadata_group, hash):  # noqa: A002
        original(self, src=src, metadata_group=metadata_group, hash=hash)
        note(self, src, metadata_group, hash)

    def any_of_them(self, *args, **kwargs):
        original(self, *args, **kwargs)
        note(self, *args, **kwargs)

    monkeypatch.setattr(
        CompiledKernel,
        "__init__",
        {"positional": positional, "keywords": keywords}.get(form, any_of_them),
    )
    launched()
    assert seen == [("store", "store", True, True)]


def test_a_subclass_replaces_the_class(monkeypatch):
    class Counting(CompiledKernel):
        made = 0

        def __init__(self, src, metadata_group, hash):  # noqa: A002
            super().__init__(src, metadata_group, hash)
            Counting.made += 1

    monkeypatch.setattr(module, "CompiledKernel", Counting)
    assert isinstance(launched(), Counting) and Counting.made == 1


def test_a_kernel_is_made_again_from_its_group():
    first = launched()
    again = CompiledKernel(first.src, first.metadata_group, first.hash)
    out = np.zeros(16, np.float32)
    again[(1,)](out, 1.5)
    assert (out == 1.5).all() and again.metadata == first.metadata


def test_a_kernel_is_made_from_files_that_another_process_kept():
    source = ASTSource(
        new_kernel(), {"out_ptr": "*fp32", "value": "fp32", "N": "constexpr"}, {"N": 16}
    )
    first = triton.compile(source, target=GPUTarget("cpu", "", 32))
    again = CompiledKernel(first.src, dict(first.metadata_group), first.hash)
    out = np.zeros(16, np.float32)
    again[(1,)](out, 1.5)
    assert (out == 1.5).all() and again.name == first.name and again.metadata.num_warps == 4


@pytest.mark.parametrize("suffix", ["json", "ttir"])
def test_files_that_others_may_write_make_no_kernel(suffix):
    """Neither from the files of a process nor from those that a manager of a cache names."""
    first = launched()
    files = dict(first.metadata_group)
    path = files[f"store.{suffix}"]
    os.chmod(path, 0o666)
    with pytest.raises(
        PermissionError, match=rf"store.{suffix} of a compiled kernel is not read: .*chmod go-w"
    ):
        CompiledKernel(first.src, files, first.hash)
    os.chmod(path, 0o644)
    assert CompiledKernel(first.src, files, first.hash).name == "store"
    os.unlink(path)
    with pytest.raises(FileNotFoundError):
        CompiledKernel(first.src, files, first.hash)


def test_a_group_without_the_files_is_an_error(tmp_path):
    kernel = launched()
    with pytest.raises(ValueError, match="has no `.json`: a.so"):
        CompiledKernel(kernel.src, {"a.so": "a.so"}, "")
    described = {"store.json": kernel.metadata_group["store.json"]}
    with pytest.raises(ValueError, match="neither an artifact nor a `.ttir`: store.json"):
        CompiledKernel(kernel.src, described, "")


def test_kernels_and_groups_can_be_copied():
    kernel = launched()
    group = pickle.loads(pickle.dumps(kernel.metadata_group))
    assert group == kernel.metadata_group == copy.copy(kernel.metadata_group)
    assert (
        "store.so" in group and len(group) == len(dict(group)) and repr(group) == repr(dict(group))
    )
