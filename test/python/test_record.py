"""TRITON_RECORD: the lines that launches write, and the kernels that are compiled from them."""
# SPDX-License-Identifier: MIT

import json
import subprocess
import sys
from collections import namedtuple

import numpy as np
import pytest
import triton
import triton.language as tl
from triton import knobs
from triton.backends import GPUTarget
from triton.runtime.variants import recorded_kernels, variant_record
from triton.runtime.variants.variant_record import RecordError

Pair = namedtuple("Pair", "first second")


@triton.jit
def double(value):
    return value * 2


@triton.jit
def scale(x_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, OP(tl.load(x_ptr + offsets, mask=mask)), mask=mask)


@triton.jit
def constant(out_ptr, VALUE: tl.constexpr):
    tl.store(out_ptr, 1)


@triton.jit
def sum_of_pair(out_ptr, pair):
    tl.store(out_ptr, pair.first + pair.second)


@pytest.fixture
def record(tmp_path, own_cache, cpu_is_active):
    path = tmp_path / "run.jsonl"
    for kernel in (scale, constant, sum_of_pair):
        kernel.device_caches.clear()
    with knobs.runtime.scope():
        knobs.runtime.record = str(path)
        yield path


def launch(n=64, offset=0, **options):
    x = np.ones(256, np.float32)[offset:]
    return scale[(1,)](x, n, OP=double, BLOCK=64, **options)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_has_the_documented_fields(record):
    launch()
    (line,) = lines(record)
    assert set(line) == {
        *("abi", "file", "given", "kernel", "source"),
        *("specialization", "target", "version"),
    }
    assert line["file"] == __file__ and line["kernel"] == f"{__name__}:scale"
    assert line["version"] == 1 and line["source"] == scale.cache_key
    assert line["target"].startswith("cpu:")


def test_each_variant_is_written_once(record):
    for _ in range(2):
        launch()
        launch(n=1)
        launch(n=63)
        launch(offset=1)
        launch(num_warps=8)
        scale.device_caches.clear()
    assert len(lines(record)) == 5


def test_a_kernel_in_memory_is_recorded_when_recording_begins(record):
    knobs.runtime.record = None
    launch()
    assert not record.exists()
    knobs.runtime.record = str(record)
    launch()
    assert len(lines(record)) == 1


def test_a_kernel_from_disk_is_recorded(record):
    knobs.runtime.record = None
    launch()
    scale.device_caches.clear()
    knobs.runtime.record = str(record)
    assert launch()._code.cache_hit
    assert len(lines(record)) == 1


def test_a_compilation_by_hand_is_recorded(record):
    source = triton.compiler.ASTSource(
        scale, {"x_ptr": "*fp16", "n": "i32"}, {"OP": double, "BLOCK": 32}
    )
    triton.compile(source, target=GPUTarget("hip", "gfx942", 64))
    (line,) = lines(record)
    assert line["target"] == "hip:gfx942" and line["abi"] == "plain"


def test_a_line_compiles_to_the_same_kernel(record):
    first = launch(n=63, num_warps=8)
    (entry,) = variant_record.read(str(record))
    assert recorded_kernels.variant_of(entry).compile().hash == first.hash


def test_code_for_launches_elsewhere_is_recorded_as_such(record):
    domain = {"x_ptr": np.float32, "n": 64, "OP": [double], "BLOCK": 64}
    (kernel,) = scale.compile_all(domain, target="cuda:90")
    (line,) = lines(record)
    assert (line["abi"], line["target"]) == ("own", "cuda:90")
    (entry,) = variant_record.read(str(record))
    again = recorded_kernels.variant_of(entry).compile()
    assert again.hash == kernel.hash and again._code.cache_hit


def test_a_line_for_another_target_keeps_the_options_that_were_given(record):
    launch(num_warps=2)
    (entry,) = variant_record.read(str(record))
    variant = recorded_kernels.variant_of(entry, GPUTarget("cuda", 80, 32))
    assert variant.changed_options == {"num_warps": 2} and variant.options.arch == "sm80"
    source = triton.compiler.ASTSource(
        scale,
        {"x_ptr": "*fp32", "n": "i32"},
        {"OP": double, "BLOCK": 64},
        {(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]},
    )
    by_hand = triton.compile(source, GPUTarget("cuda", 80, 32), {"num_warps": 2})
    assert variant.compile().asm["ptx"] == by_hand.asm["ptx"]


def test_classes_of_storage_are_those_of_the_target(record):
    """On AMD GPUs tensors of at most 2 GiB are a class of their own, and the common one."""
    domain = {"x_ptr": np.float32, "n": 63, "OP": [double], "BLOCK": 64}
    launch(n=63)
    (from_cpu,) = variant_record.read(str(record))
    (on_amd,) = scale.specializations(domain, target="hip:gfx942")
    assert recorded_kernels.variant_of(from_cpu, on_amd.target).compile().hash == (
        on_amd.compile().hash
    )
    from_amd = variant_record.read(str(record))[-1]
    assert from_amd.target == "hip:gfx942"
    (on_cuda,) = scale.specializations(domain, target="cuda:80")
    on_cuda.abi = from_amd.abi
    assert recorded_kernels.variant_of(from_amd, on_cuda.target).compile().hash == (
        on_cuda.compile().hash
    )


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 3, 2.5, float("inf"), "text", tl.float16, double, (1, (None, 2.0))),
        *(Pair(1, Pair(2, 3)), tl.constexpr(4), triton.cdiv),
    ],
    ids=repr,
)
def test_constants_have_a_text(record, value):
    first = constant[(1,)](np.zeros(1, np.int32), value)
    (entry,) = variant_record.read(str(record))
    assert recorded_kernels.variant_of(entry).compile().hash == first.hash


def test_named_tuples_keep_their_class(record):
    first = sum_of_pair[(1,)](np.zeros(1, np.int32), Pair(3, 16))
    (entry,) = variant_record.read(str(record))
    variant = recorded_kernels.variant_of(entry)
    assert type(variant.signature["pair"]) is Pair and variant.compile().hash == first.hash


def test_a_constant_without_a_text_is_named_once(record):
    class Local:
        pass

    with pytest.warns(UserWarning, match="`constant` is not recorded: .*Local"):
        constant[(1,)](np.zeros(1, np.int32), Local)
    assert not record.exists()


def test_a_file_that_cannot_be_written_is_named(record, tmp_path):
    knobs.runtime.record = str(tmp_path / "absent" / "run.jsonl")
    with pytest.warns(UserWarning, match="absent.*not recorded: No such file"):
        launch()


PROGRAM = """
import sys
import numpy as np
import triton
import triton.language as tl

@triton.jit
def fill(x_ptr, VALUE: tl.constexpr):
    tl.store(x_ptr, VALUE)

if __name__ == "__main__":
    for value in range(int(sys.argv[1]), int(sys.argv[1]) + 12):
        fill[(1,)](np.zeros(1, np.int32), value)
"""


def run_programs(tmp_path, first_values, text=PROGRAM):
    program, path = tmp_path / "program.py", tmp_path / "run.jsonl"
    program.write_text(text)
    command = [sys.executable, str(program)]
    with knobs.runtime.scope(), knobs.cache.scope():
        knobs.runtime.record, knobs.cache.dir = str(path), str(tmp_path / "cache")
        knobs.runtime.device = "cpu"
        running = [subprocess.Popen([*command, str(value)]) for value in first_values]
        assert [process.wait(timeout=120) for process in running] == [0] * len(running)
    return path


def test_several_processes_append_to_one_file(tmp_path):
    path = run_programs(tmp_path, [0, 100, 200])
    values = [line["specialization"]["constant_vals"] for line in lines(path)]
    expected = [[value] for first in (0, 100, 200) for value in range(first, first + 12)]
    assert sorted(values) == expected


def test_a_kernel_of_a_program_is_loaded_without_running_it(tmp_path):
    path = run_programs(tmp_path, [0])
    variants = list(map(recorded_kernels.variant_of, variant_record.read(str(path))))
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path / "cache")
        assert all(variant.compile()._code.cache_hit for variant in variants)
    assert len(variants) == 12


MADE = """
import numpy as np
import triton
import triton.language as tl

def made(plus):
    @triton.jit
    def fill(x_ptr, VALUE: tl.constexpr):
        tl.store(x_ptr, VALUE + plus)
    return fill

table = {plus: made(tl.constexpr(plus)) for plus in (1, 2)}

if __name__ == "__main__":
    for kernel in table.values():
        kernel[(1,)](np.zeros(1, np.int32), 3)
"""


def test_kernels_that_an_import_makes_are_found_by_their_source(tmp_path):
    path = run_programs(tmp_path, [0], MADE)
    variants = list(map(recorded_kernels.variant_of, variant_record.read(str(path))))
    assert len(variants) == 2 and len({variant.function for variant in variants}) == 2
    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path / "cache")
        assert all(variant.compile()._code.cache_hit for variant in variants)


def entry_of(record, **changes):
    launch()
    (line,) = lines(record)
    record.write_text(json.dumps({**line, **changes}) + "\n")
    (entry,) = variant_record.read(str(record))
    return entry


def test_unknown_fields_are_ignored(record):
    assert entry_of(record, more=[1]).kernel == f"{__name__}:scale"


@pytest.mark.parametrize("version", [2, "1", None, True])
def test_another_version_is_refused_with_its_line(record, version):
    with pytest.raises(RecordError, match=r"run.jsonl:1: the line has version .*reads version 1"):
        entry_of(record, version=version)


@pytest.mark.parametrize(
    "text, problem",
    [
        ("{", "not a JSON object"),
        ("[]", "expected a JSON object, got list"),
        ('{"version": 1}', "`abi` must be a text, got None"),
        ("[" * 100000, "not a JSON object"),
    ],
    ids=["cut", "list", "empty", "deep"],
)
def test_a_bad_line_is_named(record, text, problem):
    launch()
    with record.open("a") as file:
        file.write(f"{text}\n")
    with pytest.raises(RecordError, match=f"run.jsonl:2: {problem}"):
        variant_record.read(str(record))


def test_a_record_that_is_no_text(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="run.jsonl: not a text of UTF-8"):
        variant_record.read(str(path))


@pytest.mark.parametrize(
    "changes, problem",
    [
        ({"source": "0" * 64}, "has changed since it was recorded"),
        ({"kernel": f"{__name__}:absent"}, "defines no kernel `absent`"),
        ({"kernel": f"{__name__}:lines"}, "defines no kernel `lines`"),
        ({"kernel": f"{__name__}:f.<locals>.g"}, "is defined in a function"),
        ({"kernel": "gone:scale", "file": "/absent.py"}, "/absent.py.*cannot be imported"),
        ({"kernel": "__main__:scale", "file": "/absent.py"}, "/absent.py.*is absent"),
        ({"specialization": {}}, "the specialization of .* cannot be read: KeyError"),
    ],
)
def test_a_line_whose_kernel_is_not_there(record, changes, problem):
    with pytest.raises(RecordError, match=f"run.jsonl:1: .*{problem}"):
        recorded_kernels.variant_of(entry_of(record, **changes))


def test_a_variant_of_a_line_writes_the_same_line(record):
    launch(num_warps=2)
    variant = recorded_kernels.variant_of(variant_record.read(str(record))[0])
    assert variant_record.line_of(variant) + "\n" == record.read_text()
    assert json.loads(record.read_text())["given"] == {
        "empty": [],
        "ones": [],
        "options": {"num_warps": 2},
    }
