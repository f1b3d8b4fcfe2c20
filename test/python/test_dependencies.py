"""Keys of kernels depend on what they reach through containers: modules, classes, objects, tuples, wrapped functions."""
# SPDX-License-Identifier: MIT

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.runtime import dependencies

HEADER = """
import argparse, collections, dataclasses, enum, functools, types
import numpy as np
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

scalar = np.int32(7)
half = tl.constexpr(np.float16(7))
array = np.arange(7)
long_array = np.arange(5007)
masked = np.ma.array([1, 2], mask=[False, 7 == 7])
records = np.array([(1, 7)], dtype=[("a", "i4"), ("b", "f4")])
objects = np.array([host, None])
view = memoryview(b"1237")

@triton.constexpr_function
def of_scalar(): return int(scalar)

class Wrapping:
    def __init__(self, fn, step):
        functools.update_wrapper(self, fn)
        self.fn, self.step = fn, step
    def __call__(self, n): return self.fn(n) * 7 + self.step
def bare(n): return n
wrapping = Wrapping(bare, FACTOR)

arguments = argparse.Namespace(step=FACTOR, other=object())
users = collections.UserDict(f=host, other=object())
user_list = collections.UserList([object(), host])
vectorized = np.vectorize(host)
class Dispatching:
    @functools.singledispatchmethod
    def total(self, n): return n
    @total.register
    def of_int(self, n: int): return n * 7
class Private:
    __slots__ = ("__step",)
    def __init__(self, step): self.__step = step
    def total(self): return self.__step
dispatching, private = Dispatching(), Private(FACTOR)

import operator
class Got: total_of = 7
get = operator.attrgetter("total_of")
def got(): return get(Got)
default_of = lambda: 7
defaults = collections.defaultdict(default_of)
def by_default(): return defaults["any"]

def attributed(): return attributed.step
attributed.step = FACTOR

# side
STEP = 7
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
    "lib.of_scalar()": "scalar =",
    "lib.half": "half =",
    "lib.array[-1]": "array =",
    "lib.long_array[3]": "long_array =",
    "lib.masked": "masked =",
    "lib.records['b']": "records =",
    "lib.objects[0](3)": "def host",
    "lib.view[0]": "view =",
    "lib.wrapping(1)": "self.fn, self.step",
    "lib.wrapping(2)": "FACTOR",
    "lib.arguments.step": "FACTOR",
    "lib.users['f'](3)": "def host",
    "lib.user_list[1](3)": "def host",
    "lib.vectorized(3)": "def host",
    "lib.dispatching.total(3)": "def of_int",
    "lib.private.total()": "FACTOR",
    "lib.attributed()": "FACTOR",
    "imports_from()": "STEP",
    "imports_module()": "STEP",
    "imports_by_name()": "STEP",
    "imports_later()": "STEP",
    "imports_relatively()": "STEP",
    "folded_import()": "STEP",
    "folded_late_import()": "STEP",
    "lazy.given(x)": "def scale",
    "lib.got()": "total_of =",
    "lib.by_default()": "default_of =",
}
ABOVE = """
from package import lazy, reexport
import package.side, package.sub
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
def imports_from():
    from package.side import STEP
    return STEP
def imports_module():
    import package.side as side
    return side.STEP
def imports_by_name(): return __import__("package.side").side.STEP
def imports_later():
    from package.late import LATER
    return LATER
imports_relatively = reexport.relative
@triton.constexpr_function
def folded_import():
    import package.side
    return package.side.STEP
@triton.constexpr_function
def folded_late_import():
    from package.late import LATER
    return LATER
"""


REEXPORT = """
from stale_library import scale as alias
def relative():
    from . import side
    return side.STEP
"""
LAZY = """
def __getattr__(name):
    if name == "given":
        import stale_library
        return stale_library.scale
    raise AttributeError(name)
"""


def edited(library, definition):
    """The text with the first 7 after the definition changed."""
    at = library.index(definition)
    return library[:at] + library[at:].replace("7", "5", 1)


def key_of(folder, expression, library):
    (folder / "package").mkdir(parents=True)
    library, side = library.split("# side")
    (folder / "stale_library.py").write_text(HEADER + library)
    (folder / "package/side.py").write_text(side)
    (folder / "package/leaf.py").write_text(side)
    (folder / "package/late.py").write_text("from .leaf import STEP\nLATER = STEP\n")
    (folder / "package/__init__.py").write_text("")
    (folder / "package/sub.py").write_text("from stale_library import scale\n")
    (folder / "package/reexport.py").write_text(REEXPORT)
    (folder / "package/lazy.py").write_text(LAZY)
    (folder / "stale_user.py").write_text(
        HEADER + USER.format(module="stale_library", above=ABOVE, expression=expression)
    )
    names = (
        "stale_library",
        "stale_user",
        "package",
        "package.sub",
        "package.lazy",
        "package.reexport",
        "package.side",
    )
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


INSTALLED = """
import triton, itertools
numbers = itertools.count()
def deeper(n): return n + 7
def host(n): return deeper(n) + len(repr(numbers))
@triton.jit
def scale(x): return x * 7
class Shape:
    def total(self): return deeper(2) * 7
class Group:
    @staticmethod
    @triton.jit
    def method(x): return x * 7
"""


def key_of_installed(folder, expression, library):
    """The kernel's user imports a distribution's package and one of its modules, which holds kernels."""
    package = folder / "site-packages" / "installed"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from . import host, kernels\n")
    (package / "host.py").write_text(library)
    (package / "kernels.py").write_text("from .host import *\n")
    names = ("stale_user", "installed", "installed.host", "installed.kernels")
    (folder / "stale_user.py").write_text(
        f"import installed, triton\n@triton.jit\ndef kernel(x): return {expression}\n"
    )
    sys.path[:0] = [str(folder), str(folder / "site-packages")]
    importlib.invalidate_caches()
    try:
        kernel = importlib.import_module("stale_user").kernel
        return kernel.cache_key, dependencies.DependencyWalk(kernel, False).lines
    finally:
        del sys.path[:2]
        for name in names:
            sys.modules.pop(name, None)


@pytest.mark.parametrize(
    "expression, definition",
    [
        ("installed.host.host(3)", "def deeper"),
        ("installed.host.Shape().total()", "class Shape"),
        ("installed.kernels.scale(x)", "def scale"),
        ("installed.host.Group.method(x)", "def method"),
    ],
)
def test_an_edit_of_an_installed_package_in_place_changes_the_key(expression, definition, tmp_path):
    keys = [
        key_of_installed(tmp_path / str(index), expression, text)[0]
        for index, text in enumerate((INSTALLED, edited(INSTALLED, definition), INSTALLED))
    ]
    assert keys[0] == keys[2] != keys[1]


def test_host_functions_of_an_installed_package_are_not_followed(tmp_path):
    _, lines = key_of_installed(tmp_path, "installed.host.host(3)", INSTALLED)
    text = "\n".join(lines)
    assert "installed.host.host" in text and "deeper" not in text and "numbers" not in text


def test_a_call_into_a_large_library_is_a_few_lines(tmp_path):
    sympy = pytest.importorskip("sympy")

    @triton.jit
    def kernel(x):
        tl.store(x, sympy.simplify(sympy.Symbol("a")))

    assert len(dependencies.DependencyWalk(kernel, False).lines) < 50


def test_a_long_chain_of_functions_is_followed_to_its_end():
    scope = {"__name__": "chain", "f0": lambda: 7}
    for index in range(1, 2000):
        exec(f"def f{index}(): return f{index - 1}()", scope)
    last = scope["f1999"]

    @triton.jit
    def kernel(x):
        tl.store(x, last())

    assert any(
        "chain f0" in line or "chain.f1 f0" in line
        for line in dependencies.DependencyWalk(kernel, False).lines
    )


def test_the_environment_is_no_part_of_a_key(monkeypatch):
    environment = os.environ

    @triton.jit
    def kernel(x):
        tl.store(x, len(environment))

    keys = []
    for value in "12":
        monkeypatch.setenv("NEREID_OF_THIS_TEST", value)
        keys.append(dependencies.DependencyWalk(kernel, False).key())
    assert keys[0] == keys[1]


@pytest.mark.parametrize("module, converts", [("scipy.sparse", True), (__name__, False)])
def test_objects_of_libraries_count_by_the_array_that_they_convert_to(module, converts):
    """Those of the user's own classes by their attributes: their code does not run for a key."""
    keys = set()
    for value in (1, 2):

        class Matrix:
            __module__ = module

            def __init__(self, value):
                self.value = value

            def __array__(self, dtype=None, copy=None):
                assert converts
                return np.array([self.value])

            def __repr__(self):
                return "Matrix"

        matrix = Matrix(value)

        @triton.jit
        def kernel(x):
            tl.store(x, len(matrix))

        keys.add(dependencies.DependencyWalk(kernel, False).key())
    assert len(keys) == 2


# What is imported again in one process, and how a kernel reaches it; all give 7, then 5.
@pytest.mark.parametrize("depth", [900, 2500])
def test_a_deep_expression_is_refused_at_its_line(depth, tmp_path):
    """The name `x` is a local variable and a global: which of them is read is decided without recursion."""
    text = f"x = 1\n\n@triton.jit\ndef kernel(p):\n    x = tl.load(p)\n    tl.store(p, {'~' * depth}x)\n"
    path = tmp_path / "deep.py"
    path.write_text(text)
    scope = {"triton": triton, "tl": tl}
    exec(compile(text, str(path), "exec"), scope)
    with pytest.raises(triton.CompilationError, match=r"deep.py:6:.*\[expression-too-deep\]"):
        scope["kernel"][(1,)](np.zeros(1, np.int32))
