"""The names of an installation: the distribution, its extras, the commands in errors."""

# SPDX-License-Identifier: MIT
import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path

import nereid_triton
import pytest
import triton

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def project():
    tomllib = pytest.importorskip("tomllib", reason="tomllib came with Python 3.11")
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_distribution_is_not_the_deprecated_package_of_that_name(project):
    assert project["name"] == "nereid-triton"


@pytest.fixture(scope="module")
def version():
    """The one place of the version; the build writes it into the others."""
    cmake = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(nereid VERSION ([\d.]+)", cmake)[1]


def test_installed_distributions_are_ours_and_triton(project, version):
    assert importlib.metadata.version(project["name"]) == version
    assert triton.__version__ == "3.9.0"
    assert importlib.metadata.version("triton")
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("nereid")


def test_pythons_from_3_10_to_3_14(project):
    assert project["requires-python"] == ">=3.10"
    versions = {line.rsplit(" ", 1)[-1] for line in project["classifiers"] if "3." in line}
    assert versions == {"3.10", "3.11", "3.12", "3.13", "3.14"}


def test_extra_cuda_brings_the_assemblers(project):
    names = {re.match(r"[\w-]+", need)[0] for need in project["optional-dependencies"]["cuda"]}
    assert names == {"nvidia-cuda-nvcc", "nvidia-nvjitlink"}


def test_versions_agree(project, version):
    assert "version" in project["dynamic"]
    import nereid

    assert nereid.__version__ == nereid_triton.__version__ == triton.__nereid__ == version
    told = subprocess.run(
        [sys.executable, "-m", "nereid", "--version"], capture_output=True, text=True
    )
    assert told.stdout.startswith(f"nereid {version} (build ")


def test_a_release_is_in_the_list_of_changes(version):
    assert re.search(rf"^## {re.escape(version)} \(", (ROOT / "CHANGELOG.md").read_text(), re.M)


def test_numbers_of_the_version_stand_nowhere_else(version):
    """Pages that name a wheel leave them out, so that a release changes one line."""
    files = subprocess.run(["git", "grep", "-lF", f"nereid_triton-{version}"], cwd=ROOT, capture_output=True, text=True)  # fmt: skip
    assert not files.stdout


def test_commands_name_the_distribution():
    """No command in an error installs the package that PyPI calls `nereid`."""
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if files.returncode != 0:
        pytest.skip("no git repository")
    command = re.compile(r"pip (?:un)?install[^\n`]*\bnereid\b(?![-_]triton)")
    told = [
        f"{name}: {found[0]}"
        for name in files.stdout.split("\0")
        if name.endswith((".py", ".md", ".cpp", ".sh", ".toml", "dev")) and name != "test/python/test_distribution.py"
        for found in command.finditer((ROOT / name).read_text(errors="replace"))
    ]  # fmt: skip
    assert not told


def test_a_missing_module_names_the_command(tmp_path):
    package = tmp_path / "triton" / "_C"
    package.mkdir(parents=True)
    (tmp_path / "triton" / "__init__.py").write_text("")
    (package / "__init__.py").write_text(
        (Path(triton.__file__).parent / "_C" / "__init__.py").read_text()
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import triton._C"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install --force-reinstall --no-deps nereid_triton-VERSION-*.whl" in done.stderr
