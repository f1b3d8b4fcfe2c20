"""`triton.jit` on the host: source text, parameters, keys, pickling, hooks."""
# SPDX-License-Identifier: MIT

import ast
import importlib.util
import pickle
import textwrap

import numpy as np
import pytest
import triton
import triton.language as tl

SCALE = tl.constexpr(3)


@triton.jit
def helper(x, FACTOR: tl.constexpr = 2):
    return x * FACTOR


# fmt: off
@triton.jit(
    do_not_specialize=["n"],
)
def kernel(x_ptr,  # a comment
           n, c: tl.const, wide: tl.int64, half: "fp16", flag: bool, BLOCK: "tl.constexpr" = 64):  # noqa: F821
    """Doc of the kernel."""
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, helper(tl.load(x_ptr + offsets)) * SCALE)
# fmt: on


def module_from(text, folder):
    """Writes and imports a module `made`."""
    folder.mkdir()
    path = folder / "made.py"
    path.write_text("import triton\nimport triton.language as tl\n" + textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location("made", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_source_starts_at_def():
    assert kernel.src.startswith("def kernel(x_ptr,  # a comment")
    assert ast.parse(kernel.src).body[0].name == "kernel"
    lines = open(kernel.file_name, encoding="utf-8").read().splitlines()
    assert lines[kernel.def_file_line_number - 1].startswith("def kernel(")
    assert lines[kernel.starting_line_number - 1].startswith("@triton.jit(")
    assert kernel.def_file_col_number == 0
    with pytest.raises(AttributeError, match="Cannot set attribute 'src' directly"):
        kernel.src = "def kernel(): pass"


def test_nested_source_is_dedented():
    @triton.jit
    def inner(x):
        if x:
            return 1
        return 2

    assert inner.src.startswith("def inner(x):\n    if x:\n        return 1\n")
    assert inner.def_file_col_number == 4


def test_attributes_of_the_function():
    assert (
        kernel.__name__ == "kernel"
        and kernel.__doc__ == "Doc of the kernel."
        and kernel.__module__ == __name__
    )
    assert kernel.fn.__name__ == "kernel" and kernel.__globals__ is globals()
    assert repr(kernel) == f"JITFunction({__name__}:kernel)"
    assert kernel.repr(None).split(".")[-1] == "kernel"


def test_parameters():
    assert kernel.arg_names == ["x_ptr", "n", "c", "wide", "half", "flag", "BLOCK"]
    by_name = {param.name: param for param in kernel.params}
    assert (
        kernel.constexprs == [6]
        and by_name["BLOCK"].is_constexpr
        and by_name["BLOCK"].default == 64
    )
    assert (
        by_name["n"].do_not_specialize and by_name["c"].is_const and not by_name["c"].is_constexpr
    )
    assert [by_name[name].annotation_type for name in ("wide", "half", "flag", "x_ptr")] == [
        "i64",
        "fp16",
        "u1",
        "",
    ]


def test_functions_without_source_are_refused():
    scope = {}
    exec("def f(x): pass", scope)
    with pytest.raises(ValueError, match="@jit functions should be defined in a Python file"):
        triton.jit(scope["f"])


def test_keyword_parameters_are_refused():
    with pytest.raises(TypeError, match="`\\*\\*?options|parameter `options`"):

        @triton.jit
        def f(x, **options):
            pass


@triton.jit(do_not_specialize=["N"])
def contradictory(N: tl.constexpr):
    pass


def test_constexpr_cannot_be_unspecialized():
    with pytest.raises(
        triton.CompilationError, match="N marked as constexpr and listed in do_not_specialize"
    ):
        contradictory.warmup(5, grid=(1,))


def test_calls_outside_of_kernels_are_refused():
    with pytest.raises(
        RuntimeError, match="Cannot call @triton.jit'd outside of the scope of a kernel"
    ):
        kernel(1)


def test_key_depends_on_callees_and_constants(tmp_path):
    text = """
    SCALE = tl.constexpr({scale})
    def host(n): return n + {host}
    @triton.jit
    def callee(x, P: tl.constexpr = {default}): return x {op} 1
    @triton.jit
    def outer(x): return callee(x) * SCALE + host(3)
    @triton.jit
    def loner(x): return x
    """
    base = dict(scale=1, host=1, default=1, op="+")
    keys, loners = set(), set()
    variants = [{}, dict(scale=2), dict(scale="1.0"), dict(host=2), dict(default=2), dict(op="-")]
    for index, change in enumerate([*variants, {}]):
        made = module_from(text.format(**{**base, **change}), tmp_path / str(index))
        keys.add(made.outer.cache_key)
        loners.add(made.loner.cache_key)
    assert len(loners) == 1
    assert len(keys) == len(variants), "each change gives a new key, an equal text the old one"


def test_key_survives_recursion(tmp_path):
    made = module_from(
        """
        @triton.jit
        def ping(n: tl.constexpr): return pong(n)
        @triton.jit
        def pong(n: tl.constexpr): return ping(n)
        """,
        tmp_path / "m",
    )
    assert made.ping.cache_key != made.pong.cache_key


def test_changed_source_changes_the_key():
    @triton.jit
    def f(x):
        return x

    before = f.cache_key
    f._unsafe_update_src("def f(x):\n    return x + 1\n")
    assert f.cache_key != before and f.src.endswith("x + 1\n")


def test_equality_is_identity_and_hash_follows_the_text():
    assert kernel == kernel and kernel != helper and hash(kernel) != hash(helper)
    import copy

    assert copy.deepcopy(kernel) is kernel


def test_pickled_function_keeps_its_text():
    twin = pickle.loads(pickle.dumps(kernel))
    assert (
        twin.src == kernel.src
        and twin.cache_key == kernel.cache_key
        and twin.arg_names == kernel.arg_names
    )
    assert twin.fn is None and twin.__globals__ is None
    assert [param.is_constexpr for param in twin.params] == [
        param.is_constexpr for param in kernel.params
    ]


def test_options_as_torch_clears_them_for_pickling():
    @triton.jit
    def f(x):
        pass

    f.fn = None
    f.__globals__ = None
    f.used_global_vals = None
    f._hash_lock = None
    twin = pickle.loads(pickle.dumps(f.__dict__ | {"device_caches": {}}))
    assert twin["_src"] == f.src and isinstance(f.cache_key, str)


@triton.jit
def fill(out_ptr, value, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.zeros([BLOCK], tl.float32) + value * SCALE)


def test_a_changed_global_is_noticed(monkeypatch):
    out = np.zeros(16, np.float32)
    fill[(1,)](out, 2.0, BLOCK=16)
    assert (out == 6).all()
    monkeypatch.setitem(globals(), "SCALE", tl.constexpr(4))
    with pytest.raises(
        RuntimeError,
        match="Global variable SCALE has changed since we compiled this kernel, from "
        r"constexpr\[3\] to constexpr\[4\]",
    ):
        fill[(1,)](out, 2.0, BLOCK=16)
    monkeypatch.undo()
    fill[(1,)](out, 1.0, BLOCK=16)
    assert (out == 3).all()


def test_pre_run_hooks_see_every_launch():
    @triton.jit
    def f(out_ptr):
        tl.store(out_ptr, 1)

    seen = []
    f.add_pre_run_hook(lambda *args, **kwargs: seen.append(len(args)))
    out = np.zeros(1, np.int32)
    f[(1,)](out)
    f[(1,)](out)
    assert seen == [1, 1]


def test_cache_hook_can_forbid_compiling(cpu_is_active):
    @triton.jit
    def f(out_ptr, N: tl.constexpr):
        tl.store(out_ptr, N)

    seen = []
    out = np.zeros(1, np.int32)

    def hook(**info):
        seen.append(info)
        return True

    with triton.knobs.runtime.scope():
        triton.knobs.runtime.jit_cache_hook = hook
        assert f[(1,)](out, 5) is None
    assert out[0] == 0
    (info,) = seen
    assert set(info) == {"key", "repr", "fn", "compile", "is_manual_warmup", "already_compiled"}
    assert info["fn"].name == f.__qualname__ and info["compile"]["constants"] == {"N": 5}
    assert info["repr"].startswith("f[num_warps=4") and "out_ptr: *i32" in info["repr"]
    kernel = f.preload(info["compile"]["specialization_data"])
    assert kernel.name == "f"
    f[(1,)](out, 5)
    assert out[0] == 5


@pytest.mark.parametrize("scope", [{}, {"__name__": None}, {"__name__": "made"}])
def test_functions_of_a_scope_without_a_name(scope, cpu_is_active, tmp_path):
    source = """
import triton
import triton.language as tl

@triton.constexpr_function
def more(n):
    return n + more_of
more_of = 1

@triton.jit
def twice(n):
    return n * 2

@triton.jit
def made(out_ptr, N: tl.constexpr):
    tl.store(out_ptr, twice(more(N)))
"""
    path = tmp_path / "made.py"
    path.write_text(source)
    exec(compile(source, str(path), "exec"), scope)
    out = np.zeros(1, np.int32)
    scope["made"][(1,)](out, N=3)
    assert out[0] == 8
    triton.autotune([triton.Config({"N": 4})], key=[])(scope["made"])[(1,)](out)
    assert out[0] == 10


def test_hooks_see_the_names_at_the_launch(cpu_is_active):
    @triton.jit
    def f(out_ptr):
        tl.store(out_ptr, 1)

    f.fn.__module__, f.fn.__qualname__ = "package.kernels", "renamed"
    seen = []
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.jit_cache_hook = lambda **info: seen.append(info["fn"])
        triton.knobs.runtime.jit_post_compile_hook = lambda **info: seen.append(info["fn"])
        f[(1,)](np.zeros(1, np.int32))
    assert len(seen) == 2
    for info in seen:
        assert (info.module, info.name, info.jit_function) == ("package.kernels", "renamed", f)


def test_post_compile_hook_and_variants():
    @triton.jit
    def f(out_ptr, N: tl.constexpr):
        tl.store(out_ptr, N)

    seen = []
    out = np.zeros(1, np.int32)
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.jit_post_compile_hook = lambda **info: seen.append(
            info["already_compiled"]
        )
        f[(1,)](out, 5)
        f[(1,)](out, 5)
        f[(1,)](out, 6)
    assert seen == [True, True]
    ((kernels, *_),) = f.device_caches.values()
    assert len(kernels) == 2
    assert all("('constexpr', " in key for key in kernels)


KIND = tl.int32


@triton.jit
def of_kind(out_ptr):
    tl.store(out_ptr, tl.full((), 300, tl.int32).to(KIND))


def test_a_changed_type_is_noticed(monkeypatch):
    out = np.zeros(1, np.float32)
    of_kind[(1,)](out)
    assert out[0] == 300
    monkeypatch.setitem(globals(), "KIND", tl.int8)
    with pytest.raises(RuntimeError, match="KIND has changed since .*, from int32 to int8"):
        of_kind[(1,)](out)


@triton.jit
def reads_before_it_assigns(out_ptr):
    tl.store(out_ptr, SHADOWED)
    _, SHADOWED = 0, 0  # noqa: F841


SHADOWED = tl.constexpr(7)


def test_a_global_that_is_a_local_name_later_is_noticed(monkeypatch):
    out = np.zeros(1, np.float32)
    reads_before_it_assigns[(1,)](out)
    assert out[0] == 7
    monkeypatch.setitem(globals(), "SHADOWED", tl.constexpr(8))
    with pytest.raises(RuntimeError, match="SHADOWED has changed"):
        reads_before_it_assigns[(1,)](out)


def test_a_changed_closure_is_noticed():
    def kernel_with(value):
        @triton.jit
        def inner(out_ptr):
            tl.store(out_ptr, value)

        return inner

    held, out = tl.constexpr(42), np.zeros(1, np.float32)
    kernel = kernel_with(held)
    for _ in range(2):
        kernel[(1,)](out)
    held.value = 43
    with pytest.raises(
        RuntimeError, match=r"value has changed .*, from constexpr\[42\] to constexpr\[43\]"
    ):
        kernel[(1,)](out)


def test_the_same_text_again_changes_no_key():
    before = fill.cache_key
    fill._unsafe_update_src(fill.src.replace("value *", "value +"))
    assert fill.cache_key != before
    fill._unsafe_update_src(fill.src.replace("value +", "value *"))
    assert fill.cache_key == before


def test_kernels_are_kept_by_device(device):
    @triton.jit
    def f(out_ptr):
        tl.store(out_ptr, 1)

    f.warmup(np.zeros(1, np.float32), grid=(1,))
    for name in (0, "cpu") if device == "cpu" else ("cpu",):
        assert len(f.device_caches[name][0]) == 1


def kernel_that_takes_a_function():
    """A function and a kernel that stores its result; new ones for each test, since tests change them."""

    @triton.jit
    def value():
        return 17

    @triton.jit
    def kernel(out_ptr, FUNCTION: tl.constexpr):
        tl.store(out_ptr, FUNCTION())

    return value, kernel


def test_a_changed_text_is_noticed_by_kernels_that_take_the_function():
    value, kernel = kernel_that_takes_a_function()
    out = np.zeros(1, np.int32)
    kernel[(1,)](out, value)
    assert out[0] == 17
    text = value.src
    value._unsafe_update_src(text.replace("17", "31"))
    kernel[(1,)](out, value)
    assert out[0] == 31
    value._unsafe_update_src(text)
    kernel[(1,)](out, value)
    assert out[0] == 17


def test_preloading_a_kernel_that_takes_a_function(cpu_is_active):
    value, kernel = kernel_that_takes_a_function()
    texts = []
    with triton.knobs.runtime.scope():
        triton.knobs.runtime.jit_cache_hook = lambda **info: texts.append(
            info["compile"]["specialization_data"]
        )
        made = kernel.warmup(np.zeros(1, np.int32), value, grid=(1,))
    kernel.device_caches.clear()
    again = kernel.preload(texts[0])
    assert again.hash == made.hash and list(kernel.device_caches["cpu"][0].values()) == [again]
    with pytest.raises(RuntimeError, match="Unable to resolve JITFunction .*gone"):
        kernel.preload(texts[0].replace("<locals>.value", "<locals>.gone"))
