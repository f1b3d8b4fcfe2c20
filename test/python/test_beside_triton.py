"""Nereid beside another Triton: which one is imported, and what importlib.metadata says of it. The folders
are laid out as pip leaves them, and each case is a Python that starts with them.
"""

# SPDX-License-Identifier: MIT
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import nereid_triton
import pytest
import triton

ROOT = Path(__file__).parents[2]
START = "import site, sys; site.addsitedir(sys.argv[1])\n"
WHOSE = """
import importlib.util
spec = importlib.util.find_spec("triton")
print("none" if spec is None else "nereid" if "nereid_triton" in spec.origin else spec.origin)
"""
VERSION = """
import importlib.metadata as metadata
try:
    print(metadata.version("triton"))
except metadata.PackageNotFoundError:
    print("none")
"""


def write_upstream(folder, version="3.7.1"):
    package = folder / "triton"
    (package / "language").mkdir(parents=True)
    (package / "__init__.py").write_text(f"__version__ = {version!r}\n")
    (package / "language" / "__init__.py").write_text("")
    info = folder / f"triton-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: triton\nVersion: {version}\n")
    (info / "entry_points.txt").write_text("[triton.backends]\nnvidia = triton.backends.nvidia\n")
    return package / "__init__.py"


@pytest.fixture
def site(tmp_path):
    """A site-packages folder as a wheel leaves it."""
    folder = tmp_path / "site-packages"
    inner = folder / "nereid_triton"
    inner.mkdir(parents=True)
    source = Path(nereid_triton.__file__).parent
    for name in ("triton", "nereid"):
        (inner / name).symlink_to(Path(nereid_triton.FOLDER) / name)
    shutil.copy(source / "__init__.py", inner)
    shutil.copy(ROOT / "cmake" / "wheel" / "nereid_triton.pth", folder)
    return folder


def run(site, code, *options, cwd=None, **variables):
    """What a Python prints whose site-packages folder is `site`; it must not print errors."""
    lost = ("PYTHONPATH", "NEREID")
    done = subprocess.run(
        [sys.executable, "-S", *options, "-c", START + code, str(site)],
        capture_output=True,
        text=True,
        cwd=cwd or site.parent,
        env={**{k: v for k, v in os.environ.items() if k not in lost}, **variables},
    )
    assert not done.stderr, done.stderr
    return done.stdout.strip()


def test_ours_alone(site):
    assert run(site, WHOSE + VERSION) == "nereid\n3.9.0"


def test_ours_beside_another_of_the_same_folder(site):
    write_upstream(site)
    code = "import triton, triton.language as tl; print(triton.__version__, triton.__nereid__, hasattr(tl, 'load'))"
    assert run(site, code) == f"3.9.0 {nereid_triton.__version__} True"


HOOK = """
from importlib.machinery import PathFinder
class Hook:
    find_spec = staticmethod(lambda name, path=None, target=None: PathFinder.find_spec(name, path))
sys.meta_path.insert(0, Hook())
import triton
print("nereid" if "nereid_triton" in triton.__file__ else triton.__file__)
"""


@pytest.mark.parametrize("switch", ["1", "0"])
def test_import_hook_before_the_finder(site, switch):
    upstream = write_upstream(site)
    expected = "nereid" if switch == "1" else str(upstream)
    assert run(site, HOOK, NEREID=switch) == expected


def test_import_hook_and_an_earlier_folder(site, tmp_path):
    write_upstream(site)
    earlier = write_upstream(tmp_path / "earlier")
    code = f"sys.path.insert(0, {str(tmp_path / 'earlier')!r})\n{HOOK}"
    assert run(site, code) == str(earlier)


def test_version_of_nereid(site):
    code = "import nereid, nereid_triton; print(nereid.__version__, nereid_triton.__version__)"
    assert run(site, code).split() == [nereid_triton.__version__] * 2
    code = "import nereid, triton; print(nereid.is_nereid(triton))"
    assert run(site, code) == "True"
    write_upstream(site)
    assert run(site, "sys.path.insert(0, sys.argv[1])\n" + code) == "True"
    assert run(site, code, NEREID="1") == "True"


@pytest.mark.parametrize("word", ["0", "off", "False", "no"])
def test_environment_switches_off(site, word):
    assert run(site, WHOSE + VERSION, NEREID=word) == "none\nnone"
    other = write_upstream(site)
    assert run(site, WHOSE + VERSION, NEREID=word) == f"{other}\n3.7.1"


def test_off_leaves_no_trace_in_the_path(site):
    code = "print(any('nereid' in entry for entry in sys.path), 'nereid' in sys.modules)"
    assert run(site, code, NEREID="0") == "False False"


@pytest.mark.parametrize("off", ["NEREID", "nereid off"])
def test_off_holds_for_every_installation(site, tmp_path, off):
    """As in an environment with --system-site-packages, where the system has Nereid, too."""
    outer = tmp_path / "outer"
    shutil.copytree(site, outer, symlinks=True)
    code = f"site.addsitedir({str(outer)!r})\n"
    assert run(site, code + WHOSE) == "nereid"
    if off == "nereid off":
        (site / "nereid_triton" / "switch").write_text("off\n")
    variables = {"NEREID": "0"} if off == "NEREID" else {}
    assert run(site, code + WHOSE + VERSION, **variables) == "none\nnone"
    other = write_upstream(outer)
    assert run(site, code + WHOSE + VERSION, **variables) == f"{other}\n3.7.1"


def test_program_switches_off_before_it_imports(site):
    other = write_upstream(site)
    assert run(site, "import os; os.environ['NEREID'] = '0'" + WHOSE) == str(other)


def test_metadata_of_a_switched_off_process_leaves_the_path(site):
    code = """
import importlib.metadata as metadata, os
before = list(sys.path)
os.environ["NEREID"] = "0"
print([each.version for each in metadata.distributions() if each.metadata["Name"] == "triton"], sys.path == before)
os.environ["NEREID"] = "1"
"""
    assert run(site, code + WHOSE) == "[] True\nnereid"


@pytest.mark.parametrize(
    "again", ["del sys.modules['nereid_triton']", "importlib.reload(nereid_triton)"]
)
def test_one_finder_however_often_the_module_is_imported(site, again):
    code = f"""
import importlib, nereid_triton
{again}
import nereid_triton
nereid_triton.register()
print(sum(type(each).__name__ == "Finder" for each in sys.meta_path))
"""
    assert run(site, code + WHOSE) == "1\nnereid"


def test_switch_of_the_environment(site):
    other = write_upstream(site)
    switch = site / "nereid_triton" / "switch"
    switch.write_text("off\n")
    assert run(site, WHOSE) == str(other)
    assert run(site, WHOSE, NEREID="1") == "nereid"
    switch.write_text("on\n")
    assert run(site, WHOSE) == "nereid"
    assert run(site, WHOSE, NEREID="0") == str(other)


def test_metadata_alone(site):
    code = """
import importlib.metadata as metadata
found = metadata.distribution("Triton")
print(found.metadata["Name"], found.version, metadata.requires("triton"), found.files, list(found.entry_points))
print(metadata.packages_distributions()["triton"])
print([each.version for each in metadata.distributions() if each.metadata["Name"] == "triton"])
"""
    assert run(site, code).splitlines() == ["triton 3.9.0 None None []", "['triton']", "['3.9.0']"]


def test_metadata_of_another_holds(site):
    """Its version is what others were installed for."""
    write_upstream(site)
    code = "print([each.version for each in metadata.distributions() if each.metadata['Name'] == 'triton'])"
    assert run(site, VERSION + code) == "3.7.1\n['3.7.1']"


def test_who_names_folders_is_told_what_is_there(site):
    """As pip does: it neither lists nor removes what it did not install."""
    code = "import importlib.metadata as metadata; print([each.version for each in metadata.distributions(path=sys.path) if each.metadata['Name'] == 'triton'])"
    assert run(site, code) == "[]"
    write_upstream(site)
    assert run(site, code) == "['3.7.1']"


def test_earlier_folder_of_the_path_wins(site, tmp_path):
    other = write_upstream(tmp_path / "checkout")
    assert run(site, WHOSE, PYTHONPATH=str(other.parents[1])) == str(other)
    shutil.rmtree(tmp_path / "checkout" / "triton-3.7.1.dist-info")
    assert run(site, WHOSE + VERSION, PYTHONPATH=str(other.parents[1])) == f"{other}\nnone"


def test_later_folder_of_the_path_does_not_win(site, tmp_path):
    other = write_upstream(tmp_path / "system")
    code = f"sys.path.append({str(other.parents[1])!r})\n"
    assert run(site, code + WHOSE) == "nereid"
    assert run(site, code + WHOSE, NEREID="0") == str(other)


def test_a_folder_without_init_does_not_win(site, tmp_path):
    (tmp_path / "triton").mkdir()
    assert run(site, "sys.path.insert(0, '')" + WHOSE, cwd=tmp_path) == "nereid"


def test_an_archive_with_a_triton_wins(site, tmp_path):
    archive = tmp_path / "app.pyz"
    with zipfile.ZipFile(archive, "w") as app:
        app.writestr("triton/__init__.py", "__version__ = 'of the archive'")
    code = "import triton; print(triton.__version__)"
    assert run(site, code, PYTHONPATH=str(archive)) == "of the archive"


def test_not_found_where_the_folder_left_the_path(site):
    """As in the isolated environments of builds."""
    code = "sys.path[:] = [entry for entry in sys.path if not entry.startswith(sys.argv[1])]\n"
    assert run(site, code + WHOSE + VERSION) == "none\nnone"


def test_path_for_pythonpath(site):
    """Without the .pth file's line, as after `pip install --target`."""
    (site / "nereid_triton.pth").unlink()
    write_upstream(site)
    assert "site-packages/triton/" in run(site, WHOSE)
    code = (
        "import triton, nereid; print(triton.__version__, triton.__nereid__ == nereid.__version__)"
    )
    assert run(site, code, PYTHONPATH=str(site / "nereid_triton")) == "3.9.0 True"
    shutil.rmtree(site / "triton-3.7.1.dist-info")
    assert run(site, code + VERSION, PYTHONPATH=str(site / "nereid_triton")) == "3.9.0 True\n3.9.0"


def test_off_for_one_process_holds_against_pythonpath(site):
    inner = str(site / "nereid_triton")
    assert run(site, WHOSE, PYTHONPATH=inner, NEREID="0") == "none"
    (site / "nereid_triton" / "switch").write_text("off\n")
    assert run(site, WHOSE, PYTHONPATH=inner) == "nereid"


def test_start_loads_one_module(site):
    """Python's start takes a file of our own and no module of the library."""
    code = "print(sorted(name for name in set(sys.modules) - before))"
    before = "before = set(sys.modules)\n"
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import site, sys\n{before}site.addsitedir(sys.argv[1])\n{code}", str(site)],
        capture_output=True, text=True, env={**os.environ, "NEREID": ""},
    )  # fmt: skip
    assert done.stdout.strip() == "['nereid_triton']", done.stderr


def test_nothing_is_said_where_only_the_pth_file_is_left(site):
    shutil.rmtree(site / "nereid_triton")
    assert run(site, WHOSE) == "none"


def test_names_of_files_are_no_modules(site):
    """The folder is on sys.path: it offers `triton` and `nereid` alone."""
    code = "import pkgutil; print(sorted(each.name for each in pkgutil.iter_modules([sys.argv[1] + '/nereid_triton'])))"
    assert run(site, code) == "['nereid', 'triton']"


def test_the_package_has_one_name(site):
    code = """
try:
    import nereid_triton.triton
except ImportError as error:
    print(error)
"""
    assert run(site, code) == "this package is imported as `triton`, not as `nereid_triton.triton`"


def test_walks_and_resources(site):
    code = """
import importlib.resources, pkgutil, triton
print((importlib.resources.files("triton") / "py.typed").is_file())
print("triton.language" in {each.name for each in pkgutil.walk_packages(triton.__path__, "triton.")})
"""
    assert run(site, code) == "True\nTrue"


def test_module_of_the_package_runs(site):
    write_upstream(site)
    code = "import runpy; sys.argv[1:] = ['--help']\nrunpy.run_module('triton.tools.compile', run_name='__main__', alter_sys=True)"
    assert "usage:" in run(site, code)


def test_backends_of_another_are_not_loaded(site):
    """Its entry points name modules of a package that is not imported."""
    write_upstream(site)
    assert run(site, "import triton; print(sorted(triton.backends.backends)[:1])") == "['amd']"


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_child_processes(method, tmp_path):
    """In this very environment, whose Python starts with the finder."""
    program = tmp_path / "program.py"
    program.write_text(f"""
import importlib.util, multiprocessing

def tell(queue):
    queue.put(importlib.util.find_spec("triton").origin)

if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    queue = context.SimpleQueue()
    child = context.Process(target=tell, args=(queue,))
    child.start()
    print(queue.get())
    child.join()
""")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    assert done.stdout.strip() == triton.__file__, done.stderr


DOCTOR = "\nfrom nereid_triton.nereid.doctor import report\nprint(report())"


def test_doctor_names_the_others(site):
    write_upstream(site)
    info = site / "torch-2.13.0.dist-info"
    info.mkdir()
    needs = (
        'Requires-Dist: triton-kernels\nRequires-Dist: triton==3.7.1; platform_system == "Linux"\n'
    )
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n{needs}")
    lines = run(site, DOCTOR).splitlines()
    assert lines[-1] == "True"
    assert (
        lines[1].startswith("triton       3.9.0 of Nereid") and "nereid_triton/triton" in lines[1]
    )
    assert lines[2] == f"beside it    triton 3.7.1 in {site}; NEREID=0 imports it"
    told = "torch        2.13.0, requires triton==3.7.1; "
    assert lines[3] == told + "triton 3.7.1 is installed for it"
    shutil.rmtree(site / "triton")
    shutil.rmtree(site / "triton-3.7.1.dist-info")
    assert told + "it is not installed; Nereid serves imports" in run(site, DOCTOR)


@pytest.mark.parametrize("record", ["triton/__init__.py,sha256=x,40\n", '"triton/__init__.py",,\n'])
def test_doctor_knows_owners_of_other_names(site, record):
    write_upstream(site)
    info = site / "pytorch_triton-3.7.1.dist-info"
    (site / "triton-3.7.1.dist-info").rename(info)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pytorch_triton\nVersion: 3.7.1\n")
    (info / "RECORD").write_text(f"bin/tool,,\n{record}")
    torch = site / "torch-2.13.0.dist-info"
    torch.mkdir()
    needs = "Requires-Dist: triton-kernels\nRequires-Dist: pytorch-triton==3.7.1\n"
    (torch / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n{needs}")
    lines = run(site, DOCTOR).splitlines()
    assert lines[2] == f"beside it    pytorch-triton 3.7.1 in {site}; NEREID=0 imports it"
    told = "requires pytorch-triton==3.7.1; pytorch-triton 3.7.1 is installed for it"
    assert lines[3] == f"torch        2.13.0, {told}" and lines[-1] == "True"


def test_doctor_knows_editable_installations(site, tmp_path):
    """The package is elsewhere, and reinstalling it from an index would lose the checkout."""
    info = site / "triton-3.7.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: triton\nVersion: 3.7.1\n")
    checkout = tmp_path / "a checkout"
    checkout.mkdir()
    origin = {"url": checkout.as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(origin))
    lines = run(site, DOCTOR).splitlines()
    assert lines[2] == f"beside it    triton 3.7.1 editable, from {checkout}; NEREID=0 imports it"
    assert lines[-1] == "True"
    checkout.rmdir()
    told = run(site, DOCTOR)
    assert "is gone; mend it by: " in told and "pip uninstall triton" in told
    (info / "direct_url.json").write_text("[]")
    assert "lacks files; mend it by: " in run(site, DOCTOR)


def test_doctor_tells_why_another_is_imported(site, tmp_path):
    other = write_upstream(tmp_path / "checkout")
    folder = str(other.parents[1])
    assert f"not Nereid's: {folder}/triton; its folder comes first in sys.path" in run(
        site, DOCTOR, PYTHONPATH=folder
    )
    assert "none: NEREID=0 switches Nereid off in this process" in run(site, DOCTOR, NEREID="0")
    (site / "nereid_triton" / "switch").write_text("off")
    assert "none: `nereid off` switched Nereid off in this environment" in run(site, DOCTOR)


def test_doctor_finds_what_is_broken(site):
    write_upstream(site)
    (site / "triton" / "__init__.py").unlink()
    told = run(site, DOCTOR)
    assert (
        "problem      triton 3.7.1 in " in told
        and "--force-reinstall --no-deps triton==3.7.1" in told
    )
    shutil.rmtree(site / "triton-3.7.1.dist-info")
    told = run(site, DOCTOR)
    assert f"problem      {site}/triton belongs to no distribution" in told and told.endswith(
        "False"
    )


def test_doctor_where_no_pth_file_is_read(site):
    (site / "nereid_triton.pth").unlink()
    told = run(site, DOCTOR)
    assert f"PYTHONPATH={site / 'nereid_triton'} takes its place" in told
    assert told.splitlines()[-2:] == [
        "problem      no triton is importable in this environment",
        "False",
    ]
