"""The package is typed: a type checker accepts the examples and finds wrong names."""
# SPDX-License-Identifier: MIT

import subprocess
import sys
from pathlib import Path

import pytest
import triton
import triton.language as tl

ROOT = Path(__file__).resolve().parents[2]
# As for an installed package: errors in its own modules are not shown to the user.
OPTIONS = ["--ignore-missing-imports", "--check-untyped-defs", "--follow-imports=silent"]


@pytest.fixture(scope="module")
def check_types(tmp_path_factory):
    """Runs the type checker; the second run reuses the cache of the first."""
    pytest.importorskip("mypy", reason="mypy is not installed; ./dev setup does")
    package, cache = Path(triton.__file__).parent.parent, tmp_path_factory.mktemp("mypy")

    def run(*files):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", *OPTIONS, f"--cache-dir={cache}", *map(str, files)],
            capture_output=True,
            text=True,
            env={"MYPYPATH": str(package), "PATH": "", "HOME": str(cache)},
        )
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.mark.full
def test_a_type_checker_passes_over_the_examples(check_types):
    examples = sorted((ROOT / "examples").glob("*.py"))
    if not examples:
        pytest.skip("the examples are not here")
    status, output = check_types(*examples)
    assert status == 0, output


def test_a_type_checker_knows_names_and_parameters(tmp_path, check_types):
    text = """
import triton.language as tl
def f(x: tl.tensor) -> None:
    y = tl.exp(x).to(tl.float32)
    z = (y + 1).sum(axis=0)
    tl.store(x, y, mask=z > 0)
    tl.expp(x)
    tl.exp(x, 1, 2)
    x.summ()
"""
    path = tmp_path / "wrong.py"
    path.write_text(text)
    status, output = check_types(path)
    lines = [line.split(":")[1] for line in output.splitlines() if ": error: " in line]
    assert status == 1 and list(dict.fromkeys(lines)) == ["7", "8", "9"], output


def test_constants_of_kernels_are_numbers_texts_and_types(tmp_path, check_types):
    text = """
import triton
import triton.language as tl
N = tl.constexpr(8)
M: tl.constexpr = tl.constexpr(4)
SIZES = (tl.constexpr(1), N)
@triton.jit(do_not_specialize=["n"])
def f(x, n, B: tl.constexpr, D: tl.constexpr = tl.float32, FLAG: tl.constexpr = False, S: tl.constexpr = "a") -> None:
    half: tl.constexpr = B // 2
    even: tl.constexpr = B % 2 == 0 and not FLAG
    shifted: tl.constexpr = 1 << -B
    name: tl.constexpr = S + "b"
    some: tl.constexpr = [1, 2, 3][B:]
    tile = tl.zeros([B, half], D) * B + half
    for i in range(B):
        tile += i ** B
    tl.store(x, tile, mask=n > N + M)
def run(x: object, size: int) -> None:
    f[(size,)](x, size, B=64, num_warps=4)
"""
    path = tmp_path / "constants.py"
    path.write_text(text)
    status, output = check_types(path)
    assert status == 0, output


def test_stubs_name_what_the_package_has():
    folder = Path(tl.__file__).parent
    text = (folder / "__init__.pyi").read_text()
    names = {line.split(" as ")[1] for line in text.splitlines() if " as " in line}
    missing = {name for name in tl.__all__ if not name.startswith("_")} - names
    assert not missing, f"no stub names {', '.join(sorted(missing))}"
    absent = [name for name in names if not hasattr(tl, name)]
    assert not absent, f"stubs name {', '.join(absent)}, which are not there"
    assert (folder.parent / "py.typed").exists()


def test_stubs_are_beside_links_to_the_package(tmp_path):
    """The script that links the package leaves what the build made, and no link whose source is gone."""
    source, build = tmp_path / "source", tmp_path / "build"
    for name in ("triton/language/extra/core.py", "triton/runtime/jit.py", "triton/_C/note.py"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("")
    (build / "triton").mkdir(parents=True)
    (build / "triton" / "language").symlink_to(source / "triton" / "language")  # as it once was

    def link():
        subprocess.run(
            [sys.executable, ROOT / "cmake" / "link_python.py", source, build], check=True
        )

    link()
    (build / "triton" / "language" / "extra" / "core.pyi").write_text("stub")
    (source / "triton" / "language" / "extra" / "core.py").rename(
        source / "triton" / "language" / "other.py"
    )
    link()
    assert not list(source.rglob("*.pyi"))
    assert (build / "triton" / "runtime").is_symlink() and not (
        build / "triton" / "_C"
    ).is_symlink()
    found = {
        path.relative_to(build).as_posix() for path in (build / "triton" / "language").rglob("*")
    }
    assert found == {
        "triton/language/extra",
        "triton/language/extra/core.pyi",
        "triton/language/other.py",
    }
