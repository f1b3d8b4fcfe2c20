"""`knobs.runtime.add_stages_inspection_hook`: sees, wraps and replaces the stages of compilations."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.sim.driver import SimDriver
from triton.compiler import ASTSource
from triton.runtime import driver

CUDA = GPUTarget("cuda", 90, 32)


@pytest.fixture(autouse=True)
def settings(tmp_path, cpu_is_active):
    with knobs.cache.scope(), knobs.runtime.scope():
        knobs.cache.dir = str(tmp_path)
        yield


def new_kernel():
    @triton.jit
    def shift(x_ptr, n):
        tl.store(x_ptr, tl.load(x_ptr) + n)

    return shift


class Hook:
    """Records the stages; a subclass changes them."""

    name = "hook"

    def __init__(self):
        self.calls, self.ran = [], []

    def __call__(self, backend=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return f"key of {self.name}", self.name
        self.calls.append((type(backend).__name__, list(stages), capability))
        self.change(backend, stages, options, capability)
        return None

    def change(self, backend, stages, options, capability):
        for name, stage in list(stages.items()):
            stages[name] = self.recording(name, stage)

    def recording(self, name, stage):
        def run(src, metadata):
            self.ran.append(name)
            return stage(src, metadata)

        return run


class Subtracting(Hook):
    """Edits the text of one stage."""

    name = "subtracting"

    def __init__(self, stage, word="arith.addf", other="arith.subf"):
        super().__init__()
        self.stage, self.word, self.other = stage, word, other

    def change(self, backend, stages, options, capability):
        before = stages[self.stage]
        stages[self.stage] = lambda src, metadata: str(before(src, metadata)).replace(
            self.word, self.other
        )


def shifted(kernel):
    x = np.full(1, 10, np.float32)
    kernel[(1,)](x, 3.0)
    return x[0]


@pytest.mark.parametrize("device", ["cpu", "sim", "sim:gfx942"])
def test_sees_the_stages_in_order(device):
    if device != "cpu":
        driver.set_active(SimDriver(device))
    knobs.runtime.add_stages_inspection_hook = hook = Hook()
    kernel = new_kernel()
    assert shifted(kernel) == 13 and shifted(kernel) == 13
    ((backend, stages, capability),) = hook.calls
    assert stages[0] == "ttir" and hook.ran == stages
    assert capability == {"sim": 90, "sim:gfx942": "gfx942"}.get(device, capability)


@pytest.mark.parametrize(
    "device, hook",
    [
        ("cpu", Subtracting("ttir")),
        ("sim", Subtracting("ttir")),
        ("sim", Subtracting("ttgir")),
        ("sim", Subtracting("llir", "fadd", "fsub")),
        ("sim", Subtracting("ptx", "add.f32", "sub.f32")),
        ("sim:gfx942", Subtracting("ttgir")),
    ],
)
def test_an_edited_stage_is_compiled(device, hook):
    if device != "cpu":
        driver.set_active(SimDriver(device))
    kernel = new_kernel()
    assert shifted(kernel) == 13
    knobs.runtime.add_stages_inspection_hook = hook
    assert shifted(kernel) == 7 and shifted(kernel) == 7
    assert len(hook.calls) == 1
    knobs.runtime.add_stages_inspection_hook = None
    assert shifted(kernel) == 13


def test_methods_of_the_backend_make_the_stages():
    class Wrapping(Hook):
        def change(self, backend, stages, options, capability):
            def ttgir(src, metadata):
                self.ran.append("ttgir")
                return backend.make_ttgir(src, metadata, options, capability)

            stages["ttir"] = lambda src, metadata: backend.make_ttir(
                src, metadata, options, capability
            )
            stages["ttgir"] = ttgir

    knobs.runtime.add_stages_inspection_hook = hook = Wrapping()
    source = ASTSource(new_kernel(), {"x_ptr": "*fp32", "n": "fp32"})
    made = triton.compile(source, target=CUDA)
    assert hook.ran == ["ttgir"] and "arith.addf" in made.asm["ttgir"]


def test_its_hash_distinguishes_kernels():
    knobs.runtime.add_stages_inspection_hook = hook = Hook()
    kernel = new_kernel()
    shifted(kernel)
    hook.name = "another"
    shifted(kernel)
    hook.name = "hook"
    shifted(kernel)
    assert len(hook.calls) == 2


def test_a_stage_that_cannot_be_replaced_is_an_error():
    knobs.runtime.add_stages_inspection_hook = Subtracting("llir", "fadd", "fsub")
    with pytest.raises(triton.CompilationError, match="shift.llir; on target `cpu` it replaces"):
        shifted(new_kernel())
