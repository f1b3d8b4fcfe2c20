"""PyTorch's Dynamo traces into the Python code of a launch after a graph break."""
# SPDX-License-Identifier: MIT

import pytest
import triton
import triton.language as tl

torch = pytest.importorskip("torch", reason="torch is not installed")

N, BLOCK = 100, 64
GRID = (triton.cdiv(N, BLOCK), 1, 1)


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + tl.load(y_ptr + offsets, mask=mask), mask=mask)


hooked_kernel = triton.autotune(
    [triton.Config({"BLOCK": BLOCK}, pre_hook=lambda args: None)], key=["n"]
)(add_kernel)


def after_break(kernel, x, y, out):
    torch._dynamo.graph_break()
    add_kernel.run(x, y, out, N, BLOCK=BLOCK, grid=GRID, warmup=False)


def option(kernel, x, y, out):
    add_kernel[GRID](x, y, out, N, BLOCK=BLOCK, num_ctas=1)


def hooked(kernel, x, y, out):
    hooked_kernel[GRID](x, y, out, N)


def compiled_kernel(kernel, x, y, out):
    kernel[GRID](x, y, out, N, BLOCK)


def first_use(kernel, x, y, out):
    kernel._init_handles()
    metadata = kernel.launch_metadata(GRID, 0, x, y, out, N, BLOCK)
    kernel.run(
        *GRID, 0, kernel.function, kernel.packed_metadata, metadata, None, None, x, y, out, N, BLOCK
    )


@pytest.mark.parametrize(
    ("backend", "nested"), [("eager", False), ("eager", True), ("inductor", True)]
)
@pytest.mark.parametrize("launch", [after_break, option, hooked, compiled_kernel, first_use])
def test_a_launch_after_a_graph_break(launch, backend, nested):
    if nested and torch.__version__ < "2.13":
        pytest.skip(
            "before 2.13, what resumes a frame of another module lacks that module's globals"
        )
    x, y = torch.randn(N), torch.randn(N)
    kernel = add_kernel.warmup(x, y, x, N, BLOCK=BLOCK, grid=GRID)
    kernel.module = kernel.function = kernel._run = None  # as if loaded from another process

    def inner(x, y):
        out = torch.zeros_like(x)
        launch(kernel, x, y, out)
        return out + 1

    def outer(x, y):
        return inner(x, y) * 2

    with torch._dynamo.config.patch(nested_graph_breaks=nested):
        compiled = torch.compile(outer, backend=backend)
        for _ in range(2):
            torch.testing.assert_close(compiled(x, y), (x + y + 1) * 2)


def test_a_kernel_is_asked_in_a_traced_function():
    x = torch.randn(N)
    kernel = add_kernel.warmup(x, x, x, N, BLOCK=BLOCK, grid=GRID)

    def properties(x):
        return x + kernel.n_regs + kernel.n_spills + len(kernel.asm["ttir"]) + len(kernel.asm)

    torch.testing.assert_close(torch.compile(properties, backend="eager")(x), properties(x))
