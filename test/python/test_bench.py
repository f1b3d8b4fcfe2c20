"""The benchmarks of bench/ run end to end, need neither torch nor matplotlib, and fail on wrong results only."""
# SPDX-License-Identifier: MIT

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
import triton
from triton.backends.nvidia.assembler import find_assembler

BENCH = pathlib.Path(__file__).resolve().parent.parent.parent / "bench"
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(triton.__file__)))


@pytest.fixture
def bench(tmp_path):
    """Runs bench/run.py on the CPU with some modules missing; returns its result and its JSON."""

    def run(*options, missing=("torch", "matplotlib"), edits=()):
        shadows = tmp_path / "shadows"
        shadows.mkdir(exist_ok=True)
        for name in missing:
            (shadows / f"{name}.py").write_text("raise ImportError('hidden')\n")
        script = BENCH / "run.py"
        if edits:
            script = edited_copy(tmp_path / "bench", edits) / "run.py"
        path = os.pathsep.join((str(shadows), PACKAGE, os.environ.get("PYTHONPATH", "")))
        done = subprocess.run(
            [sys.executable, script, "--quick", "--rounds", "1", "--device", "cpu"]
            + ["--json", tmp_path / "found.json", *options],
            capture_output=True,
            text=True,
            env=dict(os.environ, PYTHONPATH=path),
        )
        found = tmp_path / "found.json"
        return done, json.loads(found.read_text()) if found.exists() else None

    return run


def edited_copy(folder, edits):
    folder.mkdir()
    for file in BENCH.glob("*.py"):
        text = file.read_text()
        for name, old, new in edits:
            if file.name == name:
                assert old in text
                text = text.replace(old, new)
        (folder / file.name).write_text(text)
    return folder


def test_sections_end_to_end(bench):
    done, found = bench("--sections", "launch", "softmax", "--plots", "figures")
    assert done.returncode == 0, done.stderr
    assert "matplotlib is not installed" in done.stdout
    assert "torch: left out, it is not installed" in done.stdout
    assert found["device"] == "cpu" and found["machine"]["cores"] >= 1
    assert found["inputs"] == "standard normal, seed 0" and found["failures"] == []
    assert os.path.dirname(os.path.dirname(found["triton"]["file"])) == PACKAGE
    assert set(found["other_cores"]) == {"launch", "softmax"}
    softmax = [result for result in found["results"] if result["section"] == "softmax"]
    assert [result["name"] for result in softmax] == ["16x63", "16x64"]
    assert [result["bytes"] for result in softmax] == [2 * 4 * 16 * 63, 2 * 4 * 16 * 64]
    for result in found["results"]:
        assert set(result["samples"]) == {"nereid", "numpy"}
        for who, samples in result["samples"].items():
            low, high = min(samples), max(samples)
            assert len(samples) == 2 and 0 < low <= result["seconds"][who] <= high
        peer, ours = result["seconds"]["numpy"], result["seconds"]["nereid"]
        assert result["ratio"] == pytest.approx(peer / ours)
        assert re.search(rf"^{re.escape(result['title'])} ", done.stdout, re.MULTILINE)


def test_peer_takes_part(bench):
    done, found = bench("--sections", "add", "--peer", f"twin={PACKAGE}")
    assert done.returncode == 0, done.stderr
    assert found["peers"]["twin"]["file"] == found["triton"]["file"]
    assert all(set(on["samples"]) == {"nereid", "numpy", "twin"} for on in found["results"])


def test_absent_peer_is_no_failure_of_ours(bench, tmp_path):
    done, found = bench("--sections", "add", "--peer", f"absent={tmp_path}")
    assert done.returncode == 0, done.stderr
    assert [failure["who"] for failure in found["failures"]] == ["absent"]
    assert "FAILED start, absent: " in done.stdout
    assert len(found["results"]) == 2


def test_wrong_kernel_fails(bench):
    wrong = ("kernels.py", "mask=inside) + tl.load(y", "mask=inside) - tl.load(y")
    done, found = bench("--sections", "add", "gelu", edits=[wrong])
    assert done.returncode == 1
    failure = "FAILED add float32 2^10-1, nereid: ArithmeticError: the kernel is wrong in"
    assert failure in done.stdout
    assert {result["section"] for result in found["results"]} == {"gelu"}


def test_dead_process_fails_its_case_only(bench):
    dies = ("kernels.py", "np.add(x, y, out=out)", "import os; os._exit(7)")
    done, found = bench("--sections", "add", "gelu", edits=[dies])
    assert done.returncode == 1
    assert "the process ended with status 7" in done.stdout
    assert [result["section"] for result in found["results"]] == ["gelu", "gelu"]


def test_no_triton_fails(bench, tmp_path):
    done, found = bench("--sections", "add", missing=("torch", "triton"))
    assert done.returncode == 1 and found is None
    assert "FAILED nereid does not start: ImportError: hidden" in done.stdout


def test_registers_and_spills_beside_those_of_a_peer():
    ptxas = find_assembler(90).ptxas
    if not ptxas or not os.path.exists(os.path.join(os.path.dirname(ptxas), "cuobjdump")):
        pytest.skip("there is no ptxas, or no cuobjdump beside it; ./dev setup installs both")
    folders = dict(PYTHONPATH=PACKAGE, CUOBJDUMP_FOLDER=os.path.dirname(ptxas))
    command = [
        sys.executable,
        BENCH / "spills.py",
        "--quick",
        "--peer",
        f"{sys.executable}:{PACKAGE}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | folders)
    assert done.returncode == 0, done.stderr
    rows = re.findall(
        r"^  (ours  |Triton)  +(\d+) registers, +(\d+) accesses .*, +(\d+) shared$",
        done.stdout,
        re.MULTILINE,
    )
    assert [row[0] for row in rows] == ["ours  ", "Triton"] * 2, done.stdout
    assert rows[0][1:] == rows[1][1:] and rows[2][1:] == rows[3][1:], (
        "one package makes the same code twice"
    )
    assert all(int(registers) > 30 and spills == "0" for _, registers, spills, _ in rows)


RESULTS = [
    {
        "section": section,
        "group": "float32",
        "name": name,
        "bytes": 12 * size,
        "flops": flops * size,
        "seconds": {"nereid": 2e-9 * size, "torch": 3e-9 * size},
    }
    for section, flops in (("add", 0), ("matmul", 200))
    for name, size in (("small", 1000), ("large", 2000))
]


@pytest.mark.parametrize("section", ["add", "matmul"])
def test_plot_with_a_roofline(section, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "results.json").write_text(
        json.dumps([on for on in RESULTS if on["section"] == section])
    )
    script = f"""
import json, sys
sys.path.insert(0, {str(BENCH)!r})
import report
assert report.can_plot()
results = json.load(open("results.json"))
for roofline in ({{"bytes": 8e9, "flops": 90e9}}, None):
    print(report.plot(results, "figures", "cpu", "a machine, 2 cores", roofline), flush=True)
    print(open("figures/cpu-{section}.svg").read())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    _, with_roofline, without = done.stdout.split(f"figures/cpu-{section}.svg\n")
    words = [
        ">a machine, 2 cores<",
        ">nereid<",
        ">torch<",
        ">small<",
        ">large<",
        f">{section} float32<",
    ]
    unit, line = {
        "add": ("GB/s of input and output", ">roofline: 8 GB/s of memory<"),
        "matmul": ("GFLOP/s", ">roofline: 8 GB/s of memory, 90 GFLOP/s<"),
    }[section]
    for word in (*words, f">{unit}<"):
        assert word in with_roofline and word in without, word
    assert line in with_roofline and "roofline" not in without


def test_the_roofline_is_the_slower_of_memory_and_arithmetic():
    script = f"""
import sys
sys.path.insert(0, {str(BENCH)!r})
import report
for size, flops in ((8, 1), (8, 90), (0, 9)):
    print(report.seconds_at_least({{"bytes": size, "flops": flops}}, {{"bytes": 2, "flops": 9}}))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == ["4.0", "10.0", "1.0"], done.stderr


def test_matmul_and_the_roofline_end_to_end(bench):
    done, found = bench("--sections", "matmul")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [on["flops"] for on in found["results"]] == [2 * 64**3, 2 * 128**3]
    assert set(found["roofline"]) == {"bytes", "flops"} and min(found["roofline"].values()) > 0
    assert re.search(r"^roofline: [\d.]+ GB/s, \d+ GFLOP/s of float32$", done.stdout, re.MULTILINE)
    assert "nereid, GFLOP/s" in done.stdout


def test_searches_of_autotuners_end_to_end(tmp_path):
    pytest.importorskip("torch")
    found = tmp_path / "found.json"
    command = [sys.executable, BENCH / "tuning.py", "--quick", "--device", "cpu", "--json", found]
    environment = dict(os.environ, PYTHONPATH=PACKAGE)
    done = subprocess.run(
        [*command, "--only", "add_vectors"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    (row,) = map(json.loads, found.read_text().splitlines())
    assert row["of"] == "ours" and row["kernel"] == "add_kernel"
    assert row["configs"] == len(row["candidates"]) == 18 and row["model"]["timed"] <= 3
    again = subprocess.run(
        [*command, "--report", found], capture_output=True, text=True, env=environment
    )
    assert again.stdout == done.stdout and "geometric mean" in again.stdout
