"""Installing and removing Nereid's wheel beside another Triton by pip, with a wheel that is packed out of
the build. test/scripts/install_matrix.py tries every order.
"""

# SPDX-License-Identifier: MIT
import csv
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import nereid_triton
import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "dev"
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "test" / "scripts")]
import install_matrix  # noqa: E402
import pack_wheel  # noqa: E402

pytestmark = pytest.mark.skipif(
    Path(nereid_triton.FOLDER) != BUILD / "python", reason="packs the wheel of the build folder"
)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    install_matrix.write_stand_ins(folder)
    pack_wheel.pack(BUILD, folder)
    return folder


@pytest.fixture(scope="module")
def environment(wheels, tmp_path_factory):
    return install_matrix.Environment(tmp_path_factory.mktemp("environment"), wheels)


def test_the_wheel_owns_one_folder(wheels):
    (path,) = wheels.glob("nereid_triton-*.whl")
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        info = next(name.split("/")[0] for name in names if name.endswith(".dist-info/METADATA"))
        assert {name.split("/")[0] for name in names} == {
            "nereid_triton",
            "nereid_triton.pth",
            info,
        }
        listed = {row[0] for row in csv.reader(wheel.read(f"{info}/RECORD").decode().splitlines())}
        assert listed == set(names)
        for name in ("nereid", "nereid-opt", "nereid-layout"):
            mode = wheel.getinfo(f"nereid_triton/triton/_C/bin/{name}").external_attr >> 16
            assert mode & stat.S_IXUSR
        assert set(pack_wheel.WANTED) <= set(names)


def test_beside_torch_and_its_triton(environment):
    """One order with what belongs to it; the other orders are of install_matrix.py."""
    before = environment.files()
    for name in "NR":
        environment.install(install_matrix.NAMES[name])
    assert not install_matrix.faults_of(environment, {"N", "R", "T"})
    listed = environment.pip("freeze")
    assert "triton==3.7.1" in listed and "3.9.0" not in listed
    check_commands(environment)
    environment.remove("triton")
    assert not install_matrix.faults_of(environment, {"N", "R"})
    environment.remove("nereid-triton")
    environment.install("triton")
    assert not install_matrix.faults_of(environment, {"R", "T"})
    environment.remove("torch")
    environment.remove("triton")
    assert environment.files() == before


def command(environment, *words, **variables):
    program = Path(environment.python).parent / words[0]
    return subprocess.run([program, *words[1:]], capture_output=True, text=True, env=environment.environ(**variables))  # fmt: skip


def imported(environment, **variables):
    return environment.run("-c", install_matrix.PROBE, **variables).stdout.split()[0]


def check_commands(environment):
    folder = command(environment, "nereid", "path").stdout.strip()
    assert folder.endswith("site-packages/nereid_triton") and os.path.isdir(folder + "/triton")
    told = command(environment, "nereid", "doctor")
    assert told.returncode == 0, told.stdout + told.stderr
    for line in (
        "triton       3.9.0 of Nereid",
        "beside it    triton 3.7.1",
        "torch        2.13.0, requires triton==3.7.1",
    ):
        assert line in told.stdout
    assert "nereid " in told.stdout and "disk cache" in told.stdout

    kept = os.stat(folder + "/switch").st_ino
    assert command(environment, "nereid", "off").returncode == 0
    assert (
        os.stat(folder + "/switch").st_ino != kept
    )  # replaced: another environment may share the file
    assert imported(environment) == "upstream" and imported(environment, NEREID="1") == "nereid"
    told = command(environment, "nereid", "doctor").stdout
    assert "not Nereid's" in told and "`nereid off` switched Nereid off" in told
    assert command(environment, "nereid", "on").returncode == 0
    assert imported(environment) == "nereid"
    assert command(environment, "nereid-layout", "--help").returncode == 0
    assert "nereid" in command(environment, "nereid-opt", "--help").stdout.lower()


def ensure_nereid(environment):
    if not (Path(environment.python).parent / "nereid").exists():
        environment.install("nereid-triton")


def test_headers_and_library_of_the_wheel(environment, tmp_path):
    """`find_package(Nereid)` in a project of its own, by the folder that `nereid path` names."""
    ensure_nereid(environment)
    prefix = command(environment, "nereid", "path").stdout.strip() + "/triton/_C"
    (tmp_path / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES NONE)
find_package(Nereid REQUIRED CONFIG)
get_target_property(library nereid::nereid IMPORTED_LOCATION)
get_target_property(headers nereid::nereid INTERFACE_INCLUDE_DIRECTORIES)
if(NOT EXISTS ${library} OR NOT EXISTS ${headers}/nereid/Kernel.h)
  message(FATAL_ERROR "${library} ${headers}")
endif()
""")
    built = ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = subprocess.run(built, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare"), reason="only root can hide /proc"
)
def test_commands_of_a_machine_without_proc(environment):
    ensure_nereid(environment)
    program = Path(environment.python).parent / "nereid"
    hidden = 'mount -t tmpfs none /proc && exec "$0" "$@"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", hidden, program, "--version"], capture_output=True, text=True
    )
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip("this machine lets nobody hide /proc")
    assert done.stdout.startswith("nereid "), done.stderr


def test_an_environment_of_symbolic_links(environment, tmp_path):
    """As `uv pip install --link-mode symlink` makes: the switch is the environment's, not that of the shared store."""
    ensure_nereid(environment)
    store = Path(command(environment, "nereid", "path").stdout.strip())
    folder = tmp_path / "nereid_triton"
    shutil.copytree(store, folder, copy_function=os.symlink)
    program = folder / "triton" / "_C" / "bin" / "nereid"
    assert subprocess.check_output([program, "path"], text=True) == f"{folder}\n"
    subprocess.check_call([program, "off"], stdout=subprocess.DEVNULL)
    assert ((folder / "switch").read_text(), (store / "switch").read_text()) == ("off\n", "on\n")


def test_a_switch_that_cannot_be_written(environment):
    """The message names the file and what switches one process."""
    ensure_nereid(environment)
    switch = Path(command(environment, "nereid", "path").stdout.strip(), "switch")
    switch.unlink()
    switch.mkdir()  # refused to root as well
    done = command(environment, "nereid", "off")
    switch.rmdir()
    assert done.returncode == 1
    assert f"{switch} cannot be written" in done.stderr
    assert "NEREID=0 switches one process" in done.stderr
    assert not list(switch.parent.glob("switch*"))
