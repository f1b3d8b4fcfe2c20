"""Keys of kernels depend on what they reach through containers: modules, classes, objects, tuples, wrapped functions."""
# SPDX-License-Identifier: MIT

import importlib
import os
import subprocess
import sys

import pytest

HEADER = """
import collections, dataclasses, enum, functools, types
import triton
import triton.language as tl
"""
# Two of what can be reached, and the constant that each test changes in one of them.
LIBRARY = """
CONST = tl.constexpr(1)
FACTOR = 7

@triton.jit
def scale(x): return x * 7

def host(n): return n + 7

@triton.constexpr_function
def folded(n): return sum(i + 7 for i in range(n))

def has_default(n, step=7): return n + step

@functools.lru_cache
def remembered(n): return n in {1, 2, 7}

class Group:
    FIRST = tl.constexpr(1)
    @staticmethod
    @triton.jit
    def method(x): return x * 7
    @classmethod
    def made(cls, n): return n * 7
    class Inner:
        @staticmethod
        @triton.jit
        def method(x): return x * 7

class Derived(Group):
    pass

class Kind(enum.Enum):
    A = 1
    B = 7
    def doubled(self): return self.value * 7

class Slots:
    __slots__ = ("f",)
    def __init__(self): self.f = scale

@dataclasses.dataclass(frozen=True)
class Settings:
    f: object = scale
    n: int = 7
    def total(self): return self.n * 7

class Callable:
    def __call__(self, n): return n + 7

class Sizes(collections.namedtuple("Sizes", "f n")):
    def total(self): return self.n * 7

@triton.aggregate
class Pair:
    a: tl.tensor
    @triton.jit
    def total(self): return self.a * 7

slots = Slots()
settings = Settings()
sizes = Sizes(scale, 1)
bound = settings.total
called = Callable()
table = {"a": {"f": scale}}
members = table.get
functions = (scale, (host,))
space = types.SimpleNamespace(f=scale, deeper=types.SimpleNamespace(f=host))
part = functools.partial(host, 1)
part_of_jit = {"f": functools.partial(has_default, step=FACTOR)}
"""
# The kernel reads one attribute of the module itself; its callee, found later, the one that is edited.
USER = """
import {module} as lib
{above}
@triton.jit
def reached(x):
    return {expression}
@triton.jit
def kernel(o):
    tl.store(o, lib.CONST)
    tl.store(o, lib.Group.FIRST)
    tl.store(o, reached(1))
"""
# What the callee reads -> the definition that is edited.
CASES = {
    "lib.scale(x)": "def scale",
    "lib.host(3)": "def host",
    "lib.folded(3)": "def folded",
    "lib.has_default(3)": "def has_default",
    "lib.remembered(3)": "def remembered",
    "lib.FACTOR": "FACTOR =",
    "lib.Group.method(x)": "def method",
    "lib.Group.made(3)": "def made",
    "lib.Group.Inner.method(x)": "class Inner",
    "lib.Derived.method(x)": "def method",
    "lib.Kind.B.value": "B = 7",
    "lib.Kind.A.doubled()": "def doubled",
    "lib.slots.f(x)": "def scale",
    "lib.settings.f(x)": "def scale",
    "lib.settings.n": "n: int",
    "lib.settings.total()": "def total",
    "lib.sizes.f(x)": "def scale",
    "lib.sizes.total()": "class Sizes",
    "lib.bound()": "def total",
    "lib.called(3)": "def __call__",
    "lib.Pair(x).total()": "class Pair",
    "lib.table['a']['f'](x)": "def scale",
    "lib.members('a')['f'](x)": "def scale",
    "lib.functions[1][0](x)": "def host",
    "lib.space.f(x)": "def scale",
    "lib.space.deeper.f(3)": "def host",
    "lib.part()": "def host",
    "lib.part_of_jit['f'](3)": "FACTOR",
    "getattr(lib, 'scale')(x)": "def scale",
    "getattr(lib, NAME)(x)": "def scale",
    "passed(lib, x)": "def scale",
    "in_closure(x)": "def scale",
    "wrapped(3)": "def host",
    "through_default(x)": "def scale",
    "package.sub.scale(x)": "def scale",
    "reexport.alias(x)": "def scale",
}
ABOVE = """
from package import reexport
import package.sub
NAME = tl.constexpr("sca" "le")
@triton.jit
def passed(module, x): return module.scale(x)
def make():
    held = [lib]
    @triton.jit
    def in_closure(x): return held[0].scale(x)
    return in_closure
in_closure = make()
@functools.wraps(lib.host)
def wrapped(n): return (lambda m: lib.host(m))(n)
@triton.jit
def through_default(x, *, F: tl.constexpr = lib.scale): return F(x)
"""


def edited(library, definition):
    """The text with the first 7 after the definition changed."""
    at = library.index(definition)
    return library[:at] + library[at:].replace("7", "5", 1)


def key_of(folder, expression, library):
    (folder / "package").mkdir(parents=True)
    (folder / "stale_library.py").write_text(HEADER + library)
    (folder / "package/__init__.py").write_text("")
    (folder / "package/sub.py").write_text("from stale_library import scale\n")
    (folder / "package/reexport.py").write_text("from stale_library import scale as alias\n")
    (folder / "stale_user.py").write_text(
        HEADER + USER.format(module="stale_library", above=ABOVE, expression=expression)
    )
    names = ("stale_library", "stale_user", "package", "package.sub", "package.reexport")
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        return importlib.import_module("stale_user").kernel.cache_key
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)


@pytest.mark.parametrize("expression", CASES)
def test_an_edit_behind_a_container_changes_the_key(expression, tmp_path):
    keys = [
        key_of(tmp_path / str(index), expression, text)
        for index, text in enumerate((LIBRARY, edited(LIBRARY, CASES[expression]), LIBRARY))
    ]
    assert keys[0] == keys[2] != keys[1]


def test_an_edit_of_what_no_function_names_changes_no_key(tmp_path):
    first = key_of(tmp_path / "1", "lib.scale(x)", LIBRARY)
    assert first == key_of(tmp_path / "2", "lib.scale(x)", edited(LIBRARY, "def host"))
    assert first == key_of(tmp_path / "3", "lib.scale(x)", edited(LIBRARY, "def made"))


def test_the_key_is_the_same_in_every_process(tmp_path):
    expression = ", ".join(CASES)
    script = f"import test_dependencies, pathlib\nfolder = pathlib.Path(__import__('sys').argv[1])\nprint(test_dependencies.key_of(folder, {expression!r}, test_dependencies.LIBRARY))\n"
    keys = set()
    for seed in ("1", "2"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]),
        }
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / seed)],
            capture_output=True,
            text=True,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        keys.add(done.stdout)
    assert len(keys) == 1
