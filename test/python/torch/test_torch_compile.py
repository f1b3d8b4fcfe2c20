"""User-written kernels inside of torch.compile, triton_op, export and AOTInductor, on the CPU."""
# SPDX-License-Identifier: MIT

import contextlib
import logging

import pytest
import triton
import triton.language as tl

torch = pytest.importorskip("torch", reason="torch is not installed")

FACTOR = tl.constexpr(3)


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: "tl.constexpr"):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(
        out_ptr + offsets,
        tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask),
        mask=mask,
    )


@triton.jit
def double_kernel(ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(ptr + offsets, 2 * tl.load(ptr + offsets, mask=mask), mask=mask)


@triton.jit
def rows_kernel(x_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = x_ptr + offsets
    out = out_ptr + offsets
    for _ in range(rows):
        tl.store(out, tl.load(x, mask=offsets < cols) + 1, mask=offsets < cols)
        x += cols
        out += cols


@triton.jit
def while_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = 0
    while i < n:
        offsets = i + tl.arange(0, BLOCK)
        tl.store(
            out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * 4, mask=offsets < n
        )
        i += BLOCK


@triton.jit
def branch_kernel(x_ptr, a_ptr, b_ptr, n, flag, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    if flag > 2:
        tl.store(a_ptr + offsets, x + 1, mask=offsets < n)
    else:
        tl.store(b_ptr + offsets, x - 1, mask=offsets < n)


@triton.jit
def leaky(value):
    return tl.where(value > 0, value, value * 0.25)


@triton.jit
def put(ptr, offsets, value, mask):
    tl.store(ptr + offsets, value, mask=mask)


@triton.jit
def nested_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    put(out_ptr, offsets, leaky(tl.load(x_ptr + offsets, mask=mask)) * FACTOR, mask)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < cols
    x = tl.load(x_ptr + tl.program_id(0) * cols + columns, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + tl.program_id(0) * cols + columns, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def optional_kernel(x_ptr, y_ptr, out_ptr, n, alpha, HAS_Y: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask) * alpha
    if HAS_Y:
        x += tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x, mask=mask)


@triton.jit
def sin_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.sin(tl.load(x_ptr + offsets, mask=mask)), mask=mask)


@triton.jit
def cos_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.cos(tl.load(x_ptr + offsets, mask=mask)), mask=mask)


def tuned(kernel):
    return triton.autotune(
        configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128}, num_warps=8)],
        key=["n"],
    )(kernel)


def call(kernel, x, y, **constants):
    out = torch.zeros_like(x)
    kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, out, x.numel(), **constants)
    return out


@contextlib.contextmanager
def analysis_must_succeed():
    """Fails if torch could not analyse a kernel's IR and assumed that every argument is written."""
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    logger = logging.getLogger("torch._dynamo")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
    failed = [
        record.getMessage()
        for record in records
        if "identify_accessed_tensors" in record.getMessage()
    ]
    assert not failed, failed[0]


needs_torch_2_13 = pytest.mark.skipif(
    tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 13),
    reason="torch before 2.13 has no such analysis, nor packages of kernels for CPUs",
)


def accesses(kernel, **arguments):
    """(written, read) tensor arguments, as torch sees them."""
    from torch._higher_order_ops.triton_kernel_wrap import identify_accessed_tensors
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode()
    fake = {
        name: mode.from_tensor(value) if isinstance(value, torch.Tensor) else value
        for name, value in arguments.items()
    }
    with analysis_must_succeed():
        found = identify_accessed_tensors(kernel, fake, {}).read_writes
    tensors = {name for name, value in arguments.items() if isinstance(value, torch.Tensor)}
    return {entry.name for entry in found.writes} & tensors, {
        entry.name for entry in found.reads
    } & tensors


def test_torch_sees_the_package():
    from torch._inductor.runtime import triton_helpers
    from torch._inductor.runtime.runtime_utils import triton_hash_to_path_key
    from torch._inductor.utils import triton_version_uses_attrs_dict
    from torch.utils._triton import has_triton, triton_hash_with_backend

    assert (
        has_triton() and triton_version_uses_attrs_dict() and len(triton_hash_with_backend()) == 64
    )
    assert triton_hash_to_path_key("ab" * 32) == triton.runtime.cache._base32("ab" * 32)
    triton_helpers.set_driver_to_cpu()
    assert triton.runtime.driver.active.get_current_target().backend == "cpu"


X = dict(x_ptr=torch.zeros(64), out_ptr=torch.zeros(64), n=64, BLOCK=64)
ANALYSED = [
    (add_kernel, dict(X, y_ptr=torch.zeros(64)), {"out_ptr"}, {"x_ptr", "y_ptr"}),
    (double_kernel, dict(ptr=torch.zeros(64), n=64, BLOCK=64), {"ptr"}, {"ptr"}),
    (
        rows_kernel,
        dict(x_ptr=torch.zeros(64), out_ptr=torch.zeros(64), rows=4, cols=16, BLOCK=16),
        {"out_ptr"},
        {"x_ptr"},
    ),
    (while_kernel, X, {"out_ptr"}, {"x_ptr"}),
    (
        branch_kernel,
        dict(
            x_ptr=torch.zeros(64),
            a_ptr=torch.zeros(64),
            b_ptr=torch.zeros(64),
            n=64,
            flag=5,
            BLOCK=64,
        ),
        {"a_ptr", "b_ptr"},
        {"x_ptr"},
    ),
    (nested_kernel, X, {"out_ptr"}, {"x_ptr"}),
    (
        softmax_kernel,
        dict(x_ptr=torch.zeros(64), out_ptr=torch.zeros(64), cols=64, BLOCK=64),
        {"out_ptr"},
        {"x_ptr"},
    ),
    (optional_kernel, dict(X, y_ptr=None, alpha=0.5, HAS_Y=False), {"out_ptr"}, {"x_ptr"}),
    (
        tuned(add_kernel),
        dict(x_ptr=torch.zeros(64), y_ptr=torch.zeros(64), out_ptr=torch.zeros(64), n=64),
        {"out_ptr"},
        {"x_ptr", "y_ptr"},
    ),
]


@needs_torch_2_13
@pytest.mark.parametrize(
    ("kernel", "arguments", "written", "read"),
    ANALYSED,
    ids=lambda value: getattr(getattr(value, "fn", None), "__name__", ""),
)
def test_written_arguments_are_found(kernel, arguments, written, read):
    names = kernel.arg_names
    assert accesses(kernel, **{name: arguments[name] for name in names if name in arguments}) == (
        written,
        read,
    )


def test_compiled_graph_with_dynamic_shapes():
    f = torch.compile(lambda x, y: call(add_kernel, x.relu(), y, BLOCK=64) * 2, fullgraph=True)
    with analysis_must_succeed():
        for n in (5, 1000, 4097):
            x, y = torch.randn(n), torch.randn(n)
            torch.testing.assert_close(f(x, y), (x.relu() + y) * 2)


def test_kernel_that_writes_its_input():
    def f(x):
        double_kernel[(triton.cdiv(x.numel(), 64),)](x, x.numel(), BLOCK=64)
        return x + 1

    x = torch.randn(300)
    before = x.clone()
    torch.testing.assert_close(torch.compile(f, fullgraph=True)(x), before * 2 + 1)
    torch.testing.assert_close(x, before * 2)


def test_helpers_and_constants_are_carried_over():
    def f(x):
        out = torch.empty_like(x)
        nested_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
        return out

    x = torch.randn(333)
    torch.testing.assert_close(
        torch.compile(f, fullgraph=True)(x), 3 * torch.where(x > 0, x, x * 0.25)
    )


def test_none_float_and_options():
    def f(x, y):
        first, second = torch.empty_like(x), torch.empty_like(x)
        grid = (triton.cdiv(x.numel(), 64),)
        optional_kernel[grid](x, None, first, x.numel(), 0.25, HAS_Y=False, BLOCK=64, num_warps=8)
        optional_kernel[grid](x, y, second, x.numel(), 3.0, HAS_Y=True, BLOCK=64)
        return first, second

    x, y = torch.randn(500), torch.randn(500)
    got = torch.compile(f, fullgraph=True)(x, y)
    torch.testing.assert_close(got, (x * 0.25, x * 3 + y))


def test_autotune_and_heuristics():
    x, y = torch.randn(1000), torch.randn(1000)
    for kernel in (tuned(add_kernel), triton.heuristics({"BLOCK": lambda args: 32})(add_kernel)):
        torch._dynamo.reset()
        torch.testing.assert_close(
            torch.compile(lambda x, y, k=kernel: call(k, x, y), fullgraph=True)(x, y), x + y
        )


def test_a_launchable_object_of_another_kind_is_traced():
    """As PyTorch traces what it does not know as a kernel, such as heuristics before 2.13."""

    class Doubled(triton.runtime.KernelInterface):
        def run(self, x, *, grid, warmup):
            return x * (0 if warmup else 2)

    x, double = torch.randn(8), Doubled()
    compiled = torch.compile(lambda x: double[(1,)](x), fullgraph=True)
    torch.testing.assert_close(compiled(x), x * 2)


def define_sin(namespace):
    from torch.library import triton_op, wrap_triton

    def run(kernel, x):
        out = torch.empty_like(x)
        wrap_triton(kernel)[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
        return out

    @triton_op(f"{namespace}::sin", mutates_args={})
    def sin(x: torch.Tensor) -> torch.Tensor:
        return run(sin_kernel, x)

    @triton_op(f"{namespace}::cos", mutates_args={})
    def cos(x: torch.Tensor) -> torch.Tensor:
        return run(cos_kernel, x)

    sin.register_autograd(
        lambda ctx, grad: grad * cos(ctx.saved_tensors[0]),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
    )
    return sin


def test_triton_op_with_autograd():
    sin = define_sin("nereid_autograd")
    x = torch.randn(3, 50, requires_grad=True)
    for f in (sin, torch.compile(sin, fullgraph=True)):
        out = f(x)
        torch.testing.assert_close(out, x.sin())
        (grad,) = torch.autograd.grad(out.sum(), x)
        torch.testing.assert_close(grad, x.cos())


def test_flop_formula():
    from torch.library import wrap_triton
    from torch.utils.flop_counter import FlopCounterMode, register_flop_formula

    register_flop_formula(add_kernel)(lambda *args, **kwargs: 123)
    with FlopCounterMode(display=False) as counter:
        wrap_triton(add_kernel)[(1,)](
            torch.zeros(64), torch.zeros(64), torch.zeros(64), 64, BLOCK=64
        )
    assert counter.get_total_flops() == 123


@needs_torch_2_13
def test_aot_inductor_package(tmp_path):
    sin = define_sin("nereid_aoti")

    class Model(torch.nn.Module):
        def forward(self, x):
            return sin(x) + 1

    x = torch.randn(64)
    with torch.no_grad():
        exported = torch.export.export(Model(), (x,))
        package = torch._inductor.aoti_compile_and_package(
            exported, package_path=str(tmp_path / "m.pt2")
        )
        torch.testing.assert_close(torch._inductor.aoti_load_package(package)(x), x.sin() + 1)


def test_graph_cache_is_used():
    import torch._inductor.config as config
    from torch._dynamo.utils import counters
    from torch._inductor.utils import clear_caches

    x, y = torch.randn(300), torch.randn(300)
    counters.clear()
    with config.patch(fx_graph_cache=True):
        for _ in range(2):
            torch._dynamo.reset()
            clear_caches()
            torch.testing.assert_close(
                torch.compile(lambda a, b: call(add_kernel, a, b, BLOCK=64) * 2, fullgraph=True)(
                    x, y
                ),
                (x + y) * 2,
            )
    assert (
        counters["inductor"]["fxgraph_cache_bypass"] == 0
        and counters["inductor"]["fxgraph_cache_hit"] >= 1
    )


def test_mixed_precision_tensors():
    x, y = torch.randn(100).bfloat16(), torch.randn(100).bfloat16()
    torch.testing.assert_close(
        torch.compile(lambda a, b: call(add_kernel, a, b, BLOCK=64), fullgraph=True)(x, y), x + y
    )


as_integer = triton.constexpr_function(tl.core.get_int_dtype)


@triton.jit
def bits_of(value):
    kind: tl.core.dtype = as_integer(value.dtype.primitive_bitwidth, True)
    return value.to(kind, bitcast=True)


@triton.jit
def bits_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, bits_of(tl.load(x_ptr + offsets, mask=mask)), mask=mask)


@needs_torch_2_13
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_compile_time_functions_and_annotations_of_helpers(dtype):
    from torch._inductor.utils import run_and_get_code

    integer = {torch.float32: torch.int32, torch.float16: torch.int16}[dtype]

    def bits(x):
        out = torch.empty_like(x, dtype=integer)
        bits_kernel[(1,)](x, out, x.numel(), BLOCK=64)
        return out

    x = torch.randn(50).to(dtype)
    out, (code,) = run_and_get_code(torch.compile(bits, fullgraph=True), x)
    torch.testing.assert_close(out, x.view(integer), rtol=0, atol=0)
    assert "@triton.constexpr_function" in code
    assert "triton.language.dtypes" not in code
