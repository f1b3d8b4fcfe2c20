"""Caches of the user's choice: a Redis server, a class of the program's own, files."""
# SPDX-License-Identifier: MIT

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import triton
import triton.language as tl
from triton import knobs
from triton._warnings import warn_once
from triton.runtime import remote_cache
from triton.runtime.cache import (
    FileCacheManager,
    RedisRemoteCacheBackend,
    RemoteCacheBackend,
    RemoteCacheManager,
    get_cache_manager,
    get_dump_manager,
    get_override_manager,
    make_so_cache_key,
)

KEY = "00112233"


@triton.jit
def add_one_kernel(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, at < n) + 1, at < n)


class MemoryBackend(RemoteCacheBackend):
    """A remote cache in this process."""

    files: dict = {}

    def get(self, filenames):
        found = {name: self.files.get((self.key, name)) for name in filenames}
        return {name: data for name, data in found.items() if data is not None}

    def put(self, filename, data):
        assert isinstance(data, bytes)
        self.files[self.key, filename] = data


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """A function that sets an empty cache folder, as on another machine."""
    MemoryBackend.files = {}
    count = iter(range(100))

    def another():
        monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / str(next(count))))

    another()
    with knobs.cache.scope(), knobs.redis.scope(), knobs.compilation.scope():
        yield another


@pytest.fixture
def remote(own_folder):
    knobs.cache.manager_class = RemoteCacheManager
    knobs.cache.remote_manager_class = MemoryBackend
    return own_folder


def run_and_listen():
    """Compiles and runs the kernel as a new process would; returns the calls of the listener."""
    calls = []
    knobs.compilation.listener = lambda **info: calls.append(info)
    add_one_kernel.device_caches.clear()
    x = np.arange(100, dtype=np.float32)
    add_one_kernel[(2,)](x, 100, BLOCK=64)
    assert np.array_equal(x, np.arange(100) + 1)
    (info,) = calls
    return info


def test_managers_keep_files(own_folder):
    manager = get_cache_manager(KEY)
    assert isinstance(manager, FileCacheManager) and manager.get_file("a.txt") is None
    path = manager.put("text", "a.txt", binary=False)
    assert manager.get_file("a.txt") == path and manager.has_file("a.txt")
    assert manager.get_group("g") is None
    manager.put_group("g", {"a.txt": path})
    assert manager.get_group("g") == {"a.txt": path}
    os.remove(path)
    assert manager.get_group("g") is None  # an incomplete group is not returned


def test_dumps_and_overrides_have_folders_of_their_own(own_folder, monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_DUMP_DIR", str(tmp_path / "dump"))
    monkeypatch.setenv("TRITON_OVERRIDE_DIR", str(tmp_path / "dump"))
    get_dump_manager(KEY).put(b"\0", "a.bin")
    assert get_override_manager(KEY).get_file("a.bin").startswith(str(tmp_path / "dump"))


def test_remote_manager_needs_a_backend(own_folder):
    with pytest.raises(RuntimeError, match="TRITON_REMOTE_CACHE_BACKEND"):
        RemoteCacheManager("KEY")


def test_remote_manager_brings_files(remote):
    manager = get_cache_manager(KEY)
    path = manager.put("text", "a.txt", binary=False)
    manager.put_group("g", {"a.txt": path})
    remote()
    manager = get_cache_manager(KEY)
    found = manager.get_file("a.txt")
    assert found != path and open(found).read() == "text"
    assert manager.get_group("g") == {"a.txt": found}
    assert manager.get_file("b.txt") is None and manager.get_group("h") is None
    del MemoryBackend.files[manager.key, "a.txt"]
    assert manager.get_file("a.txt") is None and manager.get_group("g") is None


def test_kernels_come_from_the_remote_cache(remote):
    first = run_and_listen()
    names = {name for _, name in MemoryBackend.files}
    assert not first["cache_hit"]
    assert {f"add_one_kernel.{end}" for end in ("so", "ttir", "json")} <= names
    assert "__grp__add_one_kernel.json" in names
    remote()
    second = run_and_listen()
    assert second["cache_hit"] and second["metadata"]["hash"] == first["metadata"]["hash"]
    group = second["metadata_group"]
    assert group.keys() == first["metadata_group"].keys() and group["add_one_kernel.so"].startswith(
        knobs.cache.dir
    )


def test_damaged_files_are_compiled_anew(remote):
    run_and_listen()
    for key, name in MemoryBackend.files:
        if name.endswith(".nereid"):
            MemoryBackend.files[key, name] = b"no kernel"
    remote()
    assert not run_and_listen()["cache_hit"]
    assert run_and_listen()["cache_hit"]


def test_a_manager_that_the_environment_names(own_folder, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_MANAGER", "triton.runtime.cache:FileCacheManager")
    assert not run_and_listen()["cache_hit"]
    assert run_and_listen()["cache_hit"]
    own_folder()
    assert not run_and_listen()["cache_hit"]


def test_launcher_keys():
    signature = {0: "*fp32", 1: "i32"}
    key = make_so_cache_key("v", signature, {2: 1}, (), num_warps=4)
    assert key == make_so_cache_key("v", {0: "*fp16", 1: "i32"}, {2: 1}, (), num_warps=4)
    assert key != make_so_cache_key("v", {0: "i64", 1: "i32"}, {2: 1}, (), num_warps=4)
    assert key != make_so_cache_key("v", signature, {2: 1}, (), num_warps=8)


# --- A Redis server ----------------------------------------------------------------------------------


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def redis_port(tmp_path):
    """A server for this test, reachable on this machine only."""
    pytest.importorskip("redis")
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    port = free_port()
    options = ["--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    server = subprocess.Popen([program, "--port", str(port), *options], stdout=subprocess.DEVNULL)
    try:
        wait_for(port, server)
        yield port
    finally:
        server.terminate()
        server.wait(timeout=10)


def wait_for(port, server):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    pytest.fail("redis-server does not answer")


def test_a_missing_client_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(ModuleNotFoundError, match="pip install redis"):
        RedisRemoteCacheBackend(KEY)


def test_kernels_come_from_a_redis_server(own_folder, redis_port, monkeypatch):
    import redis

    monkeypatch.setenv("TRITON_CACHE_MANAGER", "triton.runtime.cache:RemoteCacheManager")
    monkeypatch.setenv(
        "TRITON_REMOTE_CACHE_BACKEND", "triton.runtime.cache:RedisRemoteCacheBackend"
    )
    monkeypatch.setenv("TRITON_REDIS_PORT", str(redis_port))
    monkeypatch.setenv("TRITON_REDIS_HOST", "127.0.0.1")
    monkeypatch.setenv("TRITON_REDIS_KEY_FORMAT", "kernels/{key}/{filename}")
    assert not run_and_listen()["cache_hit"]
    keys = redis.Redis(host="127.0.0.1", port=redis_port).keys()
    assert any(key.startswith(b"kernels/") and key.endswith(b"/add_one_kernel.so") for key in keys)
    own_folder()
    assert run_and_listen()["cache_hit"]


# What a server that is none, or a hostile one, answers to each message; None: nothing, while the connection stays.
ANSWERS = {
    "silent": None,
    "garbage": b"\x90\x1c\x9f\xb6T\r\n",
    "another protocol": b"HTTP/1.1 301 Moved\r\nLocation: /elsewhere\r\n\r\n",
    "closes": b"",
    "huge": b"*1\r\n$999999999999\r\nxxxx",
    "nested": b"*1\r\n" * 100_000,
    "truncated": b"*1\r\n$10\r\nabc",
    "an error": b"-NOAUTH Authentication required\r\n",
    "a number": b":5\r\n",
}


def answer(connection, text):
    with connection:
        while connection.recv(1 << 16) and text:
            connection.sendall(text)
            if text == ANSWERS["truncated"]:
                return
        while text is None and connection.recv(1 << 16):
            pass


@pytest.fixture
def bad_server(request):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection = server.accept()[0]
                    threading.Thread(
                        target=suppressed, args=(connection, ANSWERS[request.param]), daemon=True
                    ).start()

        def suppressed(*args):
            with contextlib.suppress(OSError):
                answer(*args)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.parametrize("bad_server", ANSWERS, indirect=True)
def test_a_bad_server_costs_one_warning_and_little_time(own_folder, bad_server, monkeypatch):
    pytest.importorskip("redis")
    warn_once.cache_clear()
    monkeypatch.setattr(remote_cache._Outage, "until", 0.0)
    monkeypatch.setattr(remote_cache, "_ANSWER_SECONDS", 0.2)
    knobs.cache.manager_class = RemoteCacheManager
    knobs.cache.remote_manager_class = RedisRemoteCacheBackend
    knobs.redis.host, knobs.redis.port = "127.0.0.1", bad_server
    start = time.monotonic()
    with pytest.warns(UserWarning, match="out of order") as warned:
        assert not run_and_listen()["cache_hit"]
    assert len([each for each in warned if each.category is UserWarning]) == 1
    assert time.monotonic() - start < 10  # no trial after trial


def test_a_cache_that_raises_holds_up_nobody(own_folder):
    """The kernel is compiled again while the traceback of the first compilation, with its variables, is there."""

    class Broken(FileCacheManager):
        def put(self, data, filename, binary=True):
            raise RuntimeError("the disk is on fire")

    knobs.cache.manager_class = Broken
    with pytest.raises(RuntimeError, match="on fire") as raised:
        run_and_listen()
    knobs.cache.manager_class = FileCacheManager
    started = time.monotonic()
    run_and_listen()
    assert raised.tb is not None and time.monotonic() - started < 60
