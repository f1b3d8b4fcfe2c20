"""Several simulated GPUs: launches at the same time, flags between them, races across them."""
# SPDX-License-Identifier: MIT

import linecache
import re

import numpy as np
import pytest
import triton
import triton.language as tl
from _simulators import four_gpus  # noqa: F401 (a fixture)
from triton import knobs
from triton.tools import simulator

pytestmark = pytest.mark.usefixtures("four_gpus")


@triton.jit
def exchange(mine, theirs, my_flag, their_flag, out, SEM: tl.constexpr, SCOPE: tl.constexpr):
    i = tl.arange(0, 256)
    tl.store(mine + i, i * 3)
    tl.debug_barrier()
    tl.atomic_add(my_flag, 1, sem="release", scope=SCOPE)
    while tl.atomic_add(their_flag, 0, sem=SEM, scope=SCOPE) == 0:
        pass
    tl.debug_barrier()
    tl.store(out + i, tl.load(theirs + i))


def run_exchange(sem, scope, ranks=2, **options):
    data, out, flags = ([np.zeros(size, np.int32) for _ in range(ranks)] for size in (256, 256, 1))
    with simulator.together():
        for rank in range(ranks):
            other = (rank + 1) % ranks
            with simulator.device(rank):
                exchange[(1,)](
                    data[rank], data[other], flags[rank], flags[other], out[rank], sem, scope,
                    **options,
                )  # fmt: skip
    return out


def line_of(text):
    """The number of the line of `exchange` that contains a text."""
    lines = linecache.getlines(__file__)
    first = exchange.fn.__code__.co_firstlineno
    return next(n for n, line in enumerate(lines, 1) if n > first and text in line)


# --- Launches -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("seed", [0, 1, 7])
def test_kernels_that_wait_for_each_other_end(ranks, seed):
    knobs.runtime.sim_seed = seed
    for out in run_exchange("acquire", "sys", ranks):
        assert np.array_equal(out, np.arange(256) * 3)


def test_arguments_are_kept_until_the_launch_runs():
    out = np.zeros(256, np.int32)

    @triton.jit
    def copy(x, out):
        i = tl.arange(0, 256)
        tl.store(out + i, tl.load(x + i))

    for _ in range(2):
        with simulator.together():
            copy[(1,)](np.full(256, 5, np.int32), out)
            np.full(1 << 16, 7, np.int32)  # where the argument was, if it were free
            assert not out.any()
        assert (out == 5).all()
        out[:] = 0


def test_launches_on_one_gpu_run_in_order():
    @triton.jit
    def scale(x, factor, n: tl.constexpr):
        i = tl.program_id(0) * 64 + tl.arange(0, 64)
        tl.store(x + i, tl.load(x + i) * factor + 1)

    x = np.ones(4096, np.int32)
    with simulator.together(), simulator.device(1):
        for factor in (2, 3, 5):
            scale[(64,)](x, factor, 4096)
    assert (x == ((2 + 1) * 3 + 1) * 5 + 1).all()


def test_a_block_that_an_exception_leaves_runs_nothing():
    x = np.zeros(256, np.int32)
    with pytest.raises(KeyError), simulator.together():
        exchange[(1,)](x, x, x, x, x, "acquire", "sys")
        raise KeyError
    assert not x.any()
    run_exchange("acquire", "sys")


def test_blocks_do_not_nest():
    with pytest.raises(RuntimeError, match="being collected already"), simulator.together():  # noqa: SIM117
        with simulator.together():
            pass
    run_exchange("acquire", "sys")


def test_unknown_devices_are_named():
    expected = "no simulated GPU 4; there are 4, which TRITON_SIM_DEVICES"
    with pytest.raises(RuntimeError, match=expected), simulator.device(4):
        pass
    assert simulator.device_count() == 4
    with pytest.raises(ValueError, match="there are 4 simulated GPUs"):
        triton.runtime.driver.active.utils.get_device_properties(4)


def test_the_current_gpu_is_the_drivers():
    driver = triton.runtime.driver.active
    with simulator.device(2):
        assert driver.get_current_device() == 2
        driver.set_current_device(3)
        assert driver.get_current_device() == 3
    assert driver.get_current_device() == 0


def test_a_wait_that_nobody_ends_is_a_deadlock():
    flags = np.zeros(2, np.int32)

    @triton.jit
    def wait(flag):
        while tl.atomic_add(flag, 0, sem="acquire", scope="sys") == 0:
            pass

    expected = r"every program waits .*; program 0, 0, 0 of device [01]"
    with pytest.raises(RuntimeError, match=expected) as caught, simulator.together():
        for rank in range(2):
            with simulator.device(rank):
                wait[(1,)](flags[rank:])
    assert "test_simulated_gpus.py" in str(caught.value)
    assert "sim-deadlock" in str(caught.value)


def test_counters_are_those_of_each_launch():
    knobs.runtime.sim_counters = True

    @triton.jit
    def fill(x):
        tl.store(x + tl.program_id(0) * 128 + tl.arange(0, 128), 1)

    x = np.zeros(1024, np.int32)
    with simulator.together():
        with simulator.device(0):
            fill[(2,)](x)
        with simulator.device(1):
            kernel = fill[(4,)](x[512:])
    assert kernel.counters["global_store_bytes"] == 4 * 128 * 4
    assert x.sum() == 256 + 512


# --- Races ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [2, 4])
def test_correct_flags_are_no_race(ranks):
    run_exchange("acquire", "sys", ranks, sanitize="race")


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_missing_acquire_is_found(ranks):
    with pytest.raises(RuntimeError) as caught:
        run_exchange("relaxed", "sys", ranks, sanitize="race")
    text = str(caught.value)
    assert re.search(
        rf"test_simulated_gpus.py:{line_of('tl.load(theirs')}:\d+: error: race in element 0 of `theirs`",
        text,
    )
    assert re.search(
        rf"test_simulated_gpus.py:{line_of('tl.store(mine')}:\d+: note: the write by", text
    )
    devices = set(re.findall(r"of device (\d)|on device (\d)", text))
    assert len(devices) == 2


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_missing_system_scope_is_found(ranks):
    with pytest.raises(RuntimeError) as caught:
        run_exchange("acquire", "gpu", ranks, sanitize="race")
    text = str(caught.value)
    assert "have scopes that do not include each other" in text
    for line in (line_of('sem="release"'), line_of("while tl.atomic_add")):
        assert f"test_simulated_gpus.py:{line}:" in text


def test_gpu_scope_is_enough_on_one_gpu():
    data, out, flags = (
        np.zeros((2, 256), np.int32),
        np.zeros((2, 256), np.int32),
        np.zeros(2, np.int32),
    )

    @triton.jit
    def two_programs(data, flags, out):
        own = tl.program_id(0)
        i = tl.arange(0, 256)
        tl.store(data + own * 256 + i, i)
        tl.debug_barrier()
        tl.atomic_add(flags + own, 1, sem="release", scope="gpu")
        while tl.atomic_add(flags + 1 - own, 0, sem="acquire", scope="gpu") == 0:
            pass
        tl.debug_barrier()
        tl.store(out + own * 256 + i, tl.load(data + (1 - own) * 256 + i))

    with simulator.together(), simulator.device(1):
        two_programs[(2,)](data, flags, out, sanitize="race")
    assert (out == np.arange(256)).all()


@triton.jit
def produce(x, flag):
    i = tl.arange(0, 128)
    tl.store(x + i, i)


@triton.jit
def publish(flag):
    tl.atomic_add(flag, 1, sem="release", scope="sys")


@triton.jit
def consume(x, flag, out, WAITS: tl.constexpr):
    i = tl.arange(0, 128)
    if WAITS:
        while tl.atomic_add(flag, 0, sem="acquire", scope="sys") == 0:
            pass
        tl.debug_barrier()
    tl.store(out + i, tl.load(x + i))


def run_pipeline(waits):
    x, out, flag = np.zeros(128, np.int32), np.zeros(128, np.int32), np.zeros(1, np.int32)
    with simulator.together():
        with simulator.device(0):
            produce[(1,)](x, flag, sanitize="race")
            publish[(1,)](flag, sanitize="race")
        with simulator.device(1):
            publish[(1,)](np.zeros(1, np.int32), sanitize="race")
            consume[(1,)](x, flag, out, waits, sanitize="race")
    return out


def test_what_an_earlier_launch_has_written_is_published_by_a_later_one():
    assert np.array_equal(run_pipeline(True), np.arange(128))


def test_launches_on_different_gpus_are_in_no_order():
    with pytest.raises(RuntimeError, match=r"race in element 0 of `x`"):
        run_pipeline(False)


# --- Multicast memory -----------------------------------------------------------------------------


@triton.jit
def sum_by_switch(address, out):
    memory = address.to(tl.pointer_type(tl.float32))
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    a, b, c, d = tl.inline_asm_elementwise(
        "multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {$0, $1, $2, $3}, [$4];",
        "=f,=f,=f,=f,l",
        [memory + i * 4],
        dtype=(tl.float32,) * 4,
        is_pure=False,
        pack=1,
    )
    tl.store(out + i * 4, a)
    tl.store(out + i * 4 + 1, b)
    tl.store(out + i * 4 + 2, c)
    tl.store(out + i * 4 + 3, d)


@triton.jit
def halves_by_switch(address, other):
    i = tl.arange(0, 64)
    source, to = address.to(tl.pointer_type(tl.int32)), other.to(tl.pointer_type(tl.int32))
    words = tl.inline_asm_elementwise(
        "multimem.ld_reduce.relaxed.sys.global.add.acc::f32.v4.bf16x2 {$0, $1, $2, $3}, [$4];",
        "=r,=r,=r,=r,l",
        [source + i * 4],
        dtype=(tl.int32,) * 4,
        is_pure=False,
        pack=1,
    )
    tl.inline_asm_elementwise(
        "multimem.st.relaxed.sys.global.v4.bf16x2 [$1], {$2, $3, $4, $5}; mov.u32 $0, 0;",
        "=r,l,r,r,r,r",
        [to + i * 4, words[0], words[1], words[2], words[3]],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )


@triton.jit
def add_by_switch(address, x):
    memory = address.to(tl.pointer_type(tl.float32))
    i = tl.arange(0, 128)  # one for each thread
    tl.inline_asm_elementwise(
        "multimem.red.relaxed.sys.global.add.v4.f32 [$1], {$2, $2, $2, $2}; mov.u32 $0, 0;",
        "=r,l,f",
        [memory + i * 4, tl.load(x + i)],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )


def aligned(count, dtype=np.float32):
    """Zeros at a multiple of 16 bytes."""
    raw = np.zeros(count + 64 // np.dtype(dtype).itemsize, dtype)
    begin = -raw.ctypes.data % 64 // raw.itemsize
    return raw[begin : begin + count]


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_multimem_loads_add_the_memory_of_all(ranks):
    arrays = [aligned(1024) for _ in range(ranks)]
    for rank, array in enumerate(arrays):
        array[:] = np.arange(1024) + 10 * rank
    out, memory = np.zeros(1024, np.float32), simulator.Multicast(arrays)
    sum_by_switch[(2,)](memory.address, out)
    assert np.array_equal(out, sum(arrays))


def test_multimem_in_pairs_of_16_bits():
    arrays = [aligned(256, np.uint32) for _ in range(2)]
    arrays[0][:], arrays[1][:] = 0x3F804000, 0x40003F80  # 1 and 2; 2 and 1
    out = [aligned(256, np.uint32) for _ in range(3)]
    source, to = simulator.Multicast(arrays), simulator.Multicast(out)
    halves_by_switch[(1,)](source.address, to.address)
    for array in out:
        assert (array == 0x40404040).all()  # 3 and 3


def test_multimem_reductions_reach_all():
    arrays = [aligned(512) for _ in range(3)]
    x, memory = np.arange(128, dtype=np.float32), simulator.Multicast(arrays)
    for _ in range(2):
        add_by_switch[(1,)](memory.address, x)
    for array in arrays:
        assert np.array_equal(array, np.repeat(2 * x, 4))


def test_multicast_memory_is_for_multimem_alone_and_ends():
    arrays = [aligned(256) for _ in range(2)]
    memory, out = simulator.Multicast(arrays), np.zeros(1024, np.float32)

    @triton.jit
    def read(address, out):
        tl.store(out, tl.load(address.to(tl.pointer_type(tl.float32))))

    with pytest.raises(RuntimeError, match="access to no memory"):
        read[(1,)](memory.address, out)
    with pytest.raises(RuntimeError, match="sim-fault"):  # 512 elements of 256
        sum_by_switch[(1,)](memory.address, out)
    with pytest.raises(ValueError, match="arrays of one size, got"):
        simulator.Multicast([arrays[0], out])


@pytest.mark.parametrize("kernel", [sum_by_switch, halves_by_switch, add_by_switch])
def test_multimem_is_assembled(kernel):
    names = kernel.arg_names
    signature = {names[0]: "i64", names[1]: "i64" if names[1] == "other" else "*fp32"}
    source = triton.compiler.ASTSource(kernel, signature, {}, {})
    compiled = triton.compile(source, triton.backends.compiler.GPUTarget("cuda", 90, 32))
    assert ".v4." in re.search(r"multimem.*", compiled.asm["ptx"])[0]
    version = re.search(r"\.version (\S+)", compiled.asm["ptx"])[1]
    assert version == ("8.2" if kernel is halves_by_switch else "8.1")
    assert len(compiled.asm["cubin"])


def test_multicast_memory_is_contiguous():
    whole = np.zeros((2, 64), np.float32)
    with pytest.raises(ValueError, match="contiguous arrays; number 1 is none"):
        simulator.Multicast([whole[0], np.zeros(128, np.float32)[::2]])
