"""Mutated IR, attributes and PTX: a few of each kind that `./dev fuzz` has thousands of, and the C++ fuzz targets."""
# SPDX-License-Identifier: MIT

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "test" / "scripts" / "fuzz_inputs.py"
SEEDS = ROOT / "build" / "dev" / "bin" / "nereid-fuzz-seeds"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz") / "corpus"
    code = f"import sys; sys.path.insert(0, {str(SCRIPT.parent)!r}); import fuzz_inputs as f; folder = f.Path({str(folder)!r})"
    code += "; f.make_corpus(folder, 6); f.kernel_cases(folder, folder / 'kernels', 24)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    return folder


@pytest.mark.parametrize(
    "kind, count", [("ir", 100), ("attributes", 150), ("ptx", 60), ("kernels", 60)]
)
def test_mutated_texts_are_taken_or_refused(tmp_path, corpus, kind, count):
    progress = tmp_path / "progress"
    done = subprocess.run(
        [
            sys.executable,
            SCRIPT,
            kind,
            "--corpus",
            corpus / "kernels" if kind == "kernels" else corpus,
            "--work",
            f"0,{count},{progress}",
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "TRITON_ALWAYS_COMPILE": "1", "TRITON_CACHE_DIR": str(tmp_path)},
        timeout=300,
    )
    lines = progress.read_text().splitlines()
    assert done.returncode == 0 and lines[-1] == "ended", (lines[-1], done.stderr[-2000:])
    assert [line for line in lines if line.startswith("failed")] == [], done.stdout


def test_mutated_kernels_end_where_none_compiles(tmp_path):
    code = f"""
import sys
sys.path.insert(0, {str(SCRIPT.parent)!r})
import fuzz_sources
fuzz_sources.seeds_of = lambda path: [fuzz_sources.Seed(path.name, "x", [], set(), "")] if path.name.startswith("vector") else []
sys.exit(fuzz_sources.main())
"""
    options = ["--nereid", shutil.which("false"), "--keep", tmp_path, "--count", "1"]
    done = subprocess.run(
        [sys.executable, "-c", code, *options], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 1 and done.stdout.startswith(
        "none of 1 kernels compiles as it stands"
    ), done


@pytest.mark.skipif(not SEEDS.exists(), reason="the fuzz targets are not built here")
@pytest.mark.parametrize(
    "target, files, mutations",
    [
        ("SyntaxFuzz", "test/golden/syntax/*.in", 10),
        ("SemaFuzz", "examples/vector_add.py", 20),
        ("ModuleFuzz", "test/fuzz/seeds/*.ttir", 10),
        ("ArtifactFuzz", "test/fuzz/seeds/*.ttir", 50),
        ("PayloadFuzz", "test/fuzz/seeds/*.ttir", 50),
    ],
)
def test_fuzz_targets_hold_on_seeds(target, files, mutations):
    paths = sorted(ROOT.glob(files))[:40]
    command = [SEEDS, target, str(mutations), *paths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == f"{len(paths) * (mutations + 1)} inputs\n" and paths
