"""Files that others can write are not executed: caches in shared folders, remote caches."""
# SPDX-License-Identifier: MIT

import json
import os
import shutil
import stat

import pytest
from triton import Config, knobs
from triton._warnings import warn_once
from triton.runtime import build, cache, remote_cache
from triton.runtime.cache import (
    FileCacheManager,
    RemoteCacheBackend,
    RemoteCacheManager,
    read_own_file,
)
from triton.runtime.tuning.record import TuningRecord

KEY = "00112233"
SOURCE = """
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(%d); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, "a number"}, {NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "given", NULL, -1, methods};
PyMODINIT_FUNC PyInit_given(void) { return PyModule_Create(&definition); }
"""

needs_compiler = pytest.mark.skipif(
    not (shutil.which("gcc") or shutil.which("clang")), reason="there is no C compiler"
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of other users")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    warn_once.cache_clear()
    monkeypatch.setattr(remote_cache._Outage, "until", 0.0)
    yield
    warn_once.cache_clear()


# --- Shared objects of triton.runtime.build ----------------------------------------------------------


def plant(damage):
    """Compiles a module that answers 1 and one that answers 2, and puts the latter in the former's place."""
    planted = build.compile_so_from_src(SOURCE % 2, "given")
    path = build.compile_so_from_src(SOURCE % 1, "given")
    shutil.copyfile(planted, path)
    damage(path)
    return path


def link(path):
    os.rename(path, path + ".real")
    os.symlink(path + ".real", path)


of_others = pytest.mark.parametrize(
    "damage",
    [
        lambda path: os.chmod(path, 0o666),
        lambda path: os.chmod(path, 0o620),
        link,
        pytest.param(lambda path: os.chown(path, 12345, 12345), marks=needs_root),
    ],
    ids=["others write", "group writes", "link", "another user"],
)


@needs_compiler
@of_others
def test_a_planted_module_is_not_loaded(damage):
    plant(damage)
    assert build.compile_module_from_src(SOURCE % 1, "given").answer() == 1


@needs_compiler
def test_a_folder_that_others_write_is_only_read(tmp_path):
    """The file is this user's, but others could exchange it before it is loaded: a copy is loaded."""
    path = build.compile_so_from_src(SOURCE % 1, "given")
    assert path.startswith(str(tmp_path))
    os.chmod(tmp_path / "cache", 0o777)
    copy = build.compile_so_from_src(SOURCE % 1, "given")
    assert not copy.startswith(str(tmp_path))
    assert stat.S_IMODE(os.stat(os.path.dirname(os.path.dirname(copy))).st_mode) == 0o700
    with open(path, "rb") as kept, open(copy, "rb") as copied:
        assert kept.read() == copied.read()
    assert build.compile_module_from_src(SOURCE % 1, "given").__file__ == copy


# --- Other cached files ------------------------------------------------------------------------------


def test_only_own_files_are_read(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"x")
    file.chmod(0o600)
    assert read_own_file(str(file)) == b"x"
    file.chmod(0o602)
    with pytest.warns(UserWarning, match="others may write to it"):
        assert read_own_file(str(file)) is None
    os.mkfifo(tmp_path / "pipe")
    assert read_own_file(str(tmp_path / "pipe")) is None  # and does not wait for a writer
    assert read_own_file(str(tmp_path)) is None and read_own_file(str(tmp_path / "none")) is None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b'{"child_paths": 3}',
        b'{"child_paths": null}',
        b'{"child_paths": {"a": 0.5}}',
        b"\xff",
    ],
)
def test_damaged_groups_are_missing(text):
    manager = FileCacheManager(KEY)
    manager.put(text, "__grp__g")
    assert manager.get_group("g") is None


def test_a_group_that_others_wrote_is_missing():
    manager = FileCacheManager(KEY)
    path = manager.put_group("g", {"a": manager.put(b"", "a")})
    assert manager.get_group("g") is not None
    os.chmod(path, 0o666)
    assert manager.get_group("g") is None


@of_others
def test_files_that_others_wrote_are_missing(damage):
    manager = FileCacheManager(KEY)
    path = manager.put(b"", "a")
    manager.put_group("g", {"b": manager.put(b"", "b"), "a": path})
    assert manager.get_group("g") is not None and manager.get_file("a") == path
    damage(path)
    assert manager.get_group("g") is None and manager.get_file("a") is None
    assert manager.get_file("b") is not None


@pytest.mark.parametrize("timing", ['"fast"', "null", "[]", '["x"]', "{}", "[[1]]"])
def test_damaged_timings_are_missing(timing):
    record = TuningRecord.__new__(TuningRecord)
    record.configs, record.file_name = [Config({"B": 1})], "k.autotune.json"
    record.manager = FileCacheManager(KEY)
    text = json.dumps(str(record.configs[0]))
    record.manager.put(f'{{"configs_timings": [[{text}, 0.5]]}}', record.file_name)
    assert record.read() == {record.configs[0]: 0.5}
    record.manager.put(f'{{"configs_timings": [[{text}, {timing}]]}}', record.file_name)
    assert record.read() is None


@pytest.mark.parametrize(
    "damage",
    [
        link,
        pytest.param(lambda path: os.chown(path, 12345, 12345), marks=needs_root),
    ],
    ids=["link", "another user"],
)
def test_a_folder_that_others_made_is_neither_read_nor_written(damage):
    """A link leads writes elsewhere, where a file of that name may be."""
    manager = FileCacheManager(KEY)
    manager.put(b"x", "a")
    damage(manager.cache_dir)
    with pytest.warns(UserWarning, match="is not read"):
        assert FileCacheManager(KEY).get_file("a") is None
    with pytest.raises(OSError, match="it is a link|it belongs to another user"):
        FileCacheManager(KEY).put(b"y", "a")
    with pytest.warns(UserWarning, match="nothing is kept"), cache.failures_warn():
        FileCacheManager(KEY).put(b"y", "a")


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_folders_and_files_are_the_users_own(tmp_path, umask):
    before = os.umask(umask)
    try:
        knobs.cache.dir = str(tmp_path / "a" / "b" / "c")
        FileCacheManager(KEY).put(b"x", "file")
    finally:
        os.umask(before)
        del knobs.cache.dir
    made = [tmp_path / "a", *(tmp_path / "a").rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()} == {0o700}
    assert [stat.S_IMODE(path.stat().st_mode) for path in made if path.is_file()] == [0o600]


# --- Remote caches -----------------------------------------------------------------------------------


class Backend(RemoteCacheBackend):
    files: dict = {}
    calls = 0
    failure = None

    def get(self, filenames):
        type(self).calls += 1
        if self.failure is not None:
            raise self.failure
        return {
            name: self.files[self.key, name] for name in filenames if (self.key, name) in self.files
        }

    def put(self, filename, data):
        if self.failure is not None:
            raise self.failure
        self.files[self.key, filename] = data


@pytest.fixture
def backend(tmp_path):
    class Fresh(Backend):
        files: dict = {}

    with knobs.cache.scope():
        knobs.cache.manager_class = RemoteCacheManager
        knobs.cache.remote_manager_class = Fresh
        yield Fresh


FAILURES = [
    ConnectionRefusedError("refused"),
    TimeoutError("no answer"),
    OSError(113, "no route"),
    RuntimeError("a client's own"),
    ValueError("unexpected answer"),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_an_outage_is_a_miss_with_one_warning(backend, failure):
    backend.failure = failure
    with pytest.warns(UserWarning, match="the remote cache is out of order") as warned:
        manager = cache.get_cache_manager(KEY)
        assert manager.get_group("g") is None
        assert cache.get_cache_manager(KEY).get_file("a") is None
        with open(manager.put(b"x", "a"), "rb") as file:
            assert file.read() == b"x"
        manager.put_group("g", {"a": "a"})
    assert len(warned) == 1 and str(failure) in str(warned[0].message)
    assert backend.calls == 1  # no second timeout


def test_a_backend_that_cannot_connect_is_a_miss(backend):
    def connect(key):
        raise ConnectionError("there is no server")

    knobs.cache.remote_manager_class = connect
    with pytest.warns(UserWarning, match="out of order.*there is no server"):
        assert cache.get_cache_manager(KEY).get_group("g") is None


def test_the_cache_is_asked_again_later(backend, monkeypatch):
    cache.get_cache_manager(KEY).put(b"x", "a")
    backend.failure = OSError("down")
    with pytest.warns(UserWarning):
        assert cache.get_cache_manager(KEY).get_file("a") is None
    backend.failure = None
    assert cache.get_cache_manager(KEY).get_file("a") is None
    monkeypatch.setattr(remote_cache._Outage, "until", 0.0)
    assert cache.get_cache_manager(KEY).get_file("a") is not None


def test_a_slow_answer_is_the_last_for_a_while(backend, monkeypatch):
    manager = cache.get_cache_manager(KEY)
    manager.put(b"x", "a")
    monkeypatch.setattr(remote_cache, "_SLOW_SECONDS", -1.0)
    with pytest.warns(UserWarning, match="seconds for an answer") as warned:
        assert manager.get_file("a") is not None
        calls = backend.calls
        assert manager.get_file("a") is None and backend.calls == calls
    assert len(warned) == 1


DAMAGED = [
    b"",
    b"{",
    b"[]",
    b"3",
    b'{"child_paths": 3}',
    b'{"child_paths": ["../../x"]}',
    b'{"child_paths": [3]}',
]
DAMAGED += [b"\xff\xfe", b'{"other": []}', b'{"child_paths": ["/etc/passwd"]}', None, "text", 5]


@pytest.mark.parametrize("index", DAMAGED, ids=repr)
def test_a_damaged_index_is_a_miss(backend, index):
    manager = cache.get_cache_manager(KEY)
    manager.put_group("g", {"a": manager.put(b"x", "a")})
    backend.files[manager.key, "__grp__g"] = index
    with pytest.warns(UserWarning, match="remote cache") as warned:
        assert manager.get_group("g") is None
        assert manager.get_group("g") is None
    assert len(warned) == 1


def test_signed_files_are_read_with_the_same_key_only(backend):
    knobs.cache.remote_key = "secret"
    manager = cache.get_cache_manager(KEY)
    manager.put_group("g", {"a": manager.put(b"code", "a")})
    assert b"secret" not in backend.files[manager.key, "a"]
    with open(manager.get_group("g")["a"], "rb") as file:
        assert file.read() == b"code"
    knobs.cache.remote_key = "another"
    with pytest.warns(UserWarning, match="valid signature by TRITON_REMOTE_CACHE_KEY"):
        assert manager.get_file("a") is None and manager.get_group("g") is None
    knobs.cache.remote_key = None
    with open(manager.get_file("a"), "rb") as file:
        assert file.read() == b"code"


def exchange_bytes(files, key):
    files[key, "a"] = files[key, "a"][:-1] + b"x"


def exchange_files(files, key):
    files[key, "a"] = files[key, "b"]


def exchange_keys(files, key):
    files["OTHER", "a"] = files[key, "a"]


def remove_signature(files, key):
    files[key, "a"] = b"code of a"


def truncate(files, key):
    files[key, "a"] = files[key, "a"][:20]


@pytest.mark.parametrize(
    "attack", [exchange_bytes, exchange_files, exchange_keys, remove_signature, truncate]
)
def test_a_signature_is_of_content_and_place(backend, attack):
    knobs.cache.remote_key = "secret"
    manager = cache.get_cache_manager(KEY)
    manager.put(b"code of a", "a")
    manager.put(b"code of b", "b")
    attack(backend.files, manager.key)
    reader = RemoteCacheManager("OTHER") if attack is exchange_keys else manager
    with pytest.warns(UserWarning, match="valid signature"):
        assert reader.get_file("a") is None
