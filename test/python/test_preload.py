"""triton.preload: the first launch of a recorded variant runs as later ones do."""
# SPDX-License-Identifier: MIT

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import triton
import triton.language as tl
from triton import knobs
from triton._C import libtriton
from triton.backends.sim.driver import SimDriver
from triton.runtime import driver, packs
from triton.runtime.errors import JitForbidden
from triton.runtime.packs import preloading
from triton.runtime.variants import jit_policy, recorded_kernels, variant_record
from triton.runtime.variants.variant_record import RecordError
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def scale(x_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor, mask=mask)


@triton.jit
def first_of_pair(out_ptr, pair, other):
    value = pair[0]
    if other is not None:
        value += 1
    tl.store(out_ptr, value)


@triton.jit
def annotated(x_ptr, n: tl.int32):
    tl.store(x_ptr, n.to(tl.float32))


@triton.jit
def of_descriptor(desc, factor):
    desc.store([0, 0], desc.load([0, 0]) * factor)


@triton.autotune([triton.Config({"BLOCK": 64}, num_warps=2)], key=["n"])
@triton.jit
def tuned(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 3.0, mask=offsets < n)


@triton.autotune([triton.Config({"BLOCK": block}) for block in (64, 128)], key=["n"])
@triton.jit
def chosen(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 3.0, mask=offsets < n)


@pytest.fixture
def record(tmp_path, own_cache, cpu_is_active):
    path = tmp_path / "run.jsonl"
    forget()
    with knobs.runtime.scope():
        knobs.runtime.record = str(path)
        yield path


def forget():
    """The kernels of this process; those on disk stay."""
    for kernel in (scale, first_of_pair, annotated, of_descriptor, tuned.fn, chosen.fn):
        kernel.device_caches.clear()
        kernel._c_clear()


class WithoutMemory:
    """As torch's tensors of no elements are."""

    dtype, device = tl.float32, SimpleNamespace(type="cpu", index=None)

    def data_ptr(self):
        return 0

    def ptr_range(self):
        return 0


def array(offset=0, dtype=np.float32):
    return np.ones(256, dtype)[offset:]


def preloaded(record):
    """What `triton.preload` leaves, in a process that compiles nothing from now on."""
    knobs.runtime.record = None
    forget()
    knobs.runtime.jit = "forbid"
    return triton.preload(str(record))


def goes_through_python(launch):
    names = []

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.endswith("runtime/jit.py"):
            names.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        launch()
    finally:
        sys.setprofile(None)
    return "run" in names


def described(dtype, block):
    return TensorDescriptor.from_tensor(np.ones((8, 16), dtype), block)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_tensor_descriptor(record, dtype):
    of_descriptor[(1,)](described(dtype, [4, 16]), 2)
    assert preloaded(record) == []
    desc = described(dtype, [4, 16])
    assert not goes_through_python(lambda: of_descriptor[(1,)](desc, 2))
    assert (desc.base[:4] == 2).all() and (desc.base[4:] == 1).all()
    with pytest.raises(JitForbidden):
        of_descriptor[(1,)](described(dtype, [8, 16]), 2)


@pytest.mark.parametrize("factor", [2.5, 3, 16, 1, 1 << 40, True], ids=str)
@pytest.mark.parametrize("offset", [0, 1], ids=["aligned", "unaligned"])
def test_first_launch_needs_no_python(record, offset, factor):
    x = array(offset)
    scale[(1,)](x, 64, factor, BLOCK=64)
    assert preloaded(record) == []
    x = array(offset)
    assert not goes_through_python(lambda: scale[(1,)](x, 32, factor, BLOCK=64))
    np.testing.assert_array_equal(x[:33], [float(factor)] * 32 + [1.0])


@pytest.mark.parametrize("other", [None, 5], ids=str)
def test_tuple_and_none(record, other):
    out = array(dtype=np.int32)
    first_of_pair[(1,)](out, (7, 16), other)
    assert preloaded(record) == []
    assert not goes_through_python(lambda: first_of_pair[(1,)](out, (9, 32), other))
    assert out[0] == 9 + (other is not None)


def test_options_in_another_order(record):
    scale[(1,)](array(), 64, 2.0, BLOCK=64, num_warps=2, num_stages=1)
    assert preloaded(record) == []
    x = array()
    assert not goes_through_python(
        lambda: scale[(1,)](x, 64, 2.0, num_stages=1, BLOCK=64, num_warps=2)
    )


def test_autotuned_kernel(record):
    tuned[(1,)](array(), 64)
    assert preloaded(record) == []
    x = array()
    tuned[(1,)](x, 64)
    np.testing.assert_array_equal(x[:65], [3.0] * 64 + [1.0])


def test_other_variants_are_still_refused(record):
    scale[(1,)](array(), 64, 2.0, BLOCK=64)
    assert preloaded(record) == []
    with pytest.raises(JitForbidden, match="BLOCK: 128"):
        scale[(1,)](array(), 64, 2.0, BLOCK=128)


def test_kernel_in_no_cache_is_told(record, tmp_path):
    scale[(1,)](array(), 64, 2.0, BLOCK=64)
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path / "empty")
        (problem,) = preloaded(record)
    assert problem.startswith(f"{record}:1: ") and "TRITON_JIT=forbid" in problem


def test_kernel_in_no_cache_is_left_where_nothing_shall_be_compiled(record, tmp_path):
    scale[(1,)](array(), 64, 2.0, BLOCK=64)
    knobs.runtime.record = None
    forget()
    with knobs.cache.scope(), jit_policy.cached_only():
        knobs.cache.dir = str(tmp_path / "empty")
        kernels, (problem,) = preloading.ready(variant_record.read(str(record)))
    assert kernels == [] and problem.endswith("scale is in no cache for this device")


@pytest.fixture
def pack(record, tmp_path):
    """A pack with what was recorded, for a process that has no other cache and compiles nothing."""
    opened = []

    def make():
        knobs.runtime.record = None
        variants = [recorded_kernels.variant_of(line) for line in variant_record.read(str(record))]
        items = [(each.compile()._code, variant_record.line_of(each)) for each in variants]
        path = tmp_path / "kernels.pack"
        path.write_bytes(libtriton.write_pack(items, packs.version(), ""))
        forget()
        knobs.cache.dir, knobs.runtime.jit = str(tmp_path / "empty"), "forbid"
        opened.append(triton.load_pack(path, preload=True))
        return opened[0]

    with knobs.cache.scope():
        yield make
    for each in opened:
        each.close()


def test_first_launch_of_a_kernel_of_a_pack_needs_no_python(pack):
    scale[(1,)](array(), 64, 2.0, BLOCK=64, num_warps=2)
    assert len(pack()) == 1
    x = array()
    assert not goes_through_python(lambda: scale[(1,)](x, 32, 2.0, BLOCK=64, num_warps=2))
    np.testing.assert_array_equal(x[:33], [2.0] * 32 + [1.0])


def test_changed_kernel_is_told(record):
    scale[(1,)](array(), 64, 2.0, BLOCK=64)
    line = json.loads(record.read_text())
    record.write_text(json.dumps(line | {"source": "0" * 64}))
    (problem,) = preloaded(record)
    assert problem.startswith(f"{record}:1: ") and "has changed since it was recorded" in problem


@pytest.mark.parametrize("kernel", ["no.such.module:f", f"{__name__}:gone"])
def test_unknown_kernel_is_told(record, kernel):
    scale[(1,)](array(), 64, 2.0, BLOCK=64)
    line = json.loads(record.read_text())
    record.write_text(json.dumps(line | {"kernel": kernel}))
    (problem,) = preloaded(record)
    assert problem.startswith(f"{record}:1: ") and kernel.partition(":")[2] in problem


def test_variants_of_other_devices_are_skipped(record):
    scale[(1,)](array(), 64, 2.0, BLOCK=64)
    line = json.loads(record.read_text())
    record.write_text(json.dumps(line | {"target": "cuda:90"}))
    assert preloaded(record) == []
    with pytest.raises(JitForbidden):
        scale[(1,)](array(), 64, 2.0, BLOCK=63 + 65)


@pytest.mark.parametrize("text", ['{"version": 2}', "[]", '{"version": 1}'])
def test_bad_line_is_located(record, text):
    record.write_text(text)
    with pytest.raises(RecordError, match=f"{record}:1: "):
        triton.preload(str(record))


def test_expect_needs_a_kernel():
    with pytest.raises(TypeError, match="compiled kernel"):
        scale._c_expect()


def test_expect_of_no_kernel_is_false(cpu_is_active):
    assert scale._c_expect(SimpleNamespace(function=None), array(), 1, 2, 3) is False


def test_warmup_of_a_preloaded_variant_needs_no_python(record):
    scale[(1,)](array(), 64, 2.0, BLOCK=64)
    assert preloaded(record) == []
    names = []
    sys.setprofile(lambda frame, event, _: names.append(frame.f_code.co_name))
    try:
        kernel = scale.warmup(array(), 48, 2.0, BLOCK=64, grid=(1,))
    finally:
        sys.setprofile(None)
    assert "_compile_only" not in names
    assert kernel is scale[(1,)](array(), 48, 2.0, BLOCK=64)


def test_autotuner_takes_the_decisions_of_locks(record, tmp_path):
    lock = tmp_path / "triton.lock"
    with knobs.autotuning.scope():
        knobs.autotuning.lock = str(lock)
        chosen[(1,)](array(), 64)
        decided = dict(chosen.cache)
        chosen.cache.clear()
        assert preloaded(record) == []
    assert chosen.cache == decided and len(decided) == 1
    x = array()
    chosen[(1,)](x, 64)  # forbidden, were it to be tuned
    np.testing.assert_array_equal(x[:65], [3.0] * 64 + [1.0])


@pytest.mark.parametrize("given", [3, {"options": []}, {"ones": 1}, {"empty": {}}], ids=str)
def test_bad_given_is_located(record, given):
    scale[(1,)](array(), 64, 2.0, BLOCK=64)
    line = json.loads(record.read_text())
    record.write_text(json.dumps(line | {"given": given}))
    with pytest.raises(RecordError, match=f"{record}:1: `given` must be"):
        triton.preload(str(record))


def test_bad_option_is_told(record):
    scale[(1,)](array(), 64, 2.0, BLOCK=64)
    line = json.loads(record.read_text())
    record.write_text(json.dumps(line | {"given": {"options": {"num_warps": {"x": 1}}}}))
    (problem,) = preloaded(record)
    assert problem.startswith(f"{record}:1: the specialization of {__name__}:scale cannot be read")


@pytest.mark.parametrize("count", [1, 5, 16], ids=str)
def test_annotated_integer(record, count):
    annotated[(1,)](array(), count)
    assert preloaded(record) == []
    x = array()
    assert not goes_through_python(lambda: annotated[(1,)](x, count))
    assert x[0] == count


def test_after_a_simulated_gpu_of_amd(record):
    """Its kernels differ with the sizes of arrays, which are the host's."""
    driver.set_active(SimDriver("sim:gfx942"))
    annotated[(1,)](array(), 5)
    driver.reset_active()
    x = array()
    annotated[(1,)](x, 5)
    assert preloaded(record) == []
    assert not goes_through_python(lambda: annotated[(1,)](x, 5))


def test_warmup_with_an_empty_array(record):
    """Engines ask by it for a kernel's resources, and launch the kernel with an array later."""
    empty = WithoutMemory()
    scale.warmup(empty, 64, 2.0, BLOCK=64, grid=(1,))
    assert preloaded(record) == []
    x = array()
    assert not goes_through_python(lambda: scale.warmup(empty, 64, 2.0, BLOCK=64, grid=(1,)))
    assert not goes_through_python(lambda: scale[(1,)](x, 64, 2.0, BLOCK=64))
