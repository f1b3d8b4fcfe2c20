"""Training steps on two GPUs with kernels inside: DDP, FSDP2, JAX's shard_map; sections of two_gpus.py."""
# SPDX-License-Identifier: MIT

import functools

WORLD = 2
IN_ONE_PROCESS = ("shard_map",)


# --- The kernels ----------------------------------------------------------------------------------


@functools.cache
def gated():
    """silu(x) * y with its gradient, as an autograd function of two kernels."""
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def forward_kernel(x, y, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        a = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
        b = tl.load(y + at, mask=at < n, other=0.0).to(tl.float32)
        tl.store(out + at, (a * tl.sigmoid(a) * b).to(out.dtype.element_ty), mask=at < n)

    @triton.jit
    def backward_kernel(x, y, grad, grad_x, grad_y, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        a = tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
        b = tl.load(y + at, mask=at < n, other=0.0).to(tl.float32)
        g = tl.load(grad + at, mask=at < n, other=0.0).to(tl.float32)
        s = tl.sigmoid(a)
        tl.store(
            grad_x + at, (g * b * s * (1 + a * (1 - s))).to(grad_x.dtype.element_ty), mask=at < n
        )
        tl.store(grad_y + at, (g * a * s).to(grad_y.dtype.element_ty), mask=at < n)

    class Gated(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            x, y = x.contiguous(), y.contiguous()
            ctx.save_for_backward(x, y)
            out = torch.empty_like(x)
            forward_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), BLOCK=1024)
            return out

        @staticmethod
        def backward(ctx, grad):
            x, y = ctx.saved_tensors
            grad_x, grad_y = torch.empty_like(x), torch.empty_like(y)
            grid = (triton.cdiv(x.numel(), 1024),)
            backward_kernel[grid](x, y, grad.contiguous(), grad_x, grad_y, x.numel(), BLOCK=1024)
            return grad_x, grad_y

    return Gated.apply


def by_torch(x, y):
    import torch

    return torch.nn.functional.silu(x) * y


def make_model(gate, width, depth):
    import torch

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up = torch.nn.Linear(width, 2 * width, bias=False)
            self.down = torch.nn.Linear(width, width, bias=False)

        def forward(self, x):
            left, right = self.up(x).chunk(2, dim=-1)
            return x + self.down(gate(left, right))

    torch.manual_seed(0)
    return torch.nn.Sequential(*(Block() for _ in range(depth))).cuda()


# --- torch ----------------------------------------------------------------------------------------


def step_of(model, x):
    import torch

    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = model(x).float().square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


def whole(parameter):
    return parameter.full_tensor() if hasattr(parameter, "full_tensor") else parameter


def train(rank, quick, name, wrap):
    """Three steps with kernels and with torch's operations from the same weights; then the time of a step."""
    import torch
    from two_gpus import say, timed

    width, depth, rows = (128, 2, 64) if quick else (2048, 4, 8192)
    results, times = {}, {}
    for way, gate in (("kernels", gated()), ("torch", by_torch)):
        model = wrap(make_model(gate, width, depth))
        torch.manual_seed(1 + rank)
        step = step_of(model, torch.randn(rows, width, device="cuda"))
        losses = [step().item() for _ in range(3)]
        weights = [whole(parameter).detach().float().clone() for parameter in model.parameters()]
        results[way] = losses, weights
        times[way] = timed(step, 3 if quick else 5, 5)
    for a, b in zip(results["kernels"][0], results["torch"][0], strict=True):
        assert abs(a - b) <= 1e-3 * abs(b), (name, a, b)
    for a, b in zip(results["kernels"][1], results["torch"][1], strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4)
    say(
        rank,
        f"{name}  step with kernels {times['kernels']:.3f} ms, with torch's operations {times['torch']:.3f} ms",
    )


def ddp(rank, quick):
    from torch.nn.parallel import DistributedDataParallel

    train(rank, quick, "ddp", lambda model: DistributedDataParallel(model, device_ids=[rank]))


def fsdp2(rank, quick):
    from torch.distributed.fsdp import fully_shard

    def wrap(model):
        for block in model:
            fully_shard(block)
        return fully_shard(model)

    train(rank, quick, "fsdp2", wrap)


# --- JAX ------------------------------------------------------------------------------------------


@functools.cache
def scaled_softmax():
    """softmax(x * w) of the rows, with its gradients: kernels that take the product and its gradient in, so that no
    tile goes to memory between XLA and them. XLA fuses nothing into a kernel's call.
    """
    import jax
    import jax.numpy as jnp
    import jax_softmax
    import triton
    import triton.language as tl
    from triton.jax import triton_call

    @triton.jit
    def forward_kernel(x_ptr, w_ptr, y_ptr, columns, BLOCK: tl.constexpr):
        column = tl.arange(0, BLOCK)
        at, inside = tl.program_id(0) * columns + column, column < columns
        w = tl.load(w_ptr + column, mask=inside, other=0.0)
        x = tl.where(inside, tl.load(x_ptr + at, mask=inside, other=0.0) * w, -float("inf"))
        powers = tl.exp(x - tl.max(x, axis=0))
        tl.store(y_ptr + at, powers / tl.sum(powers, axis=0), mask=inside)

    @triton.jit
    def weights_kernel(
        x_ptr, y_ptr, grad_ptr, out_ptr, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr
    ):
        column = tl.arange(0, BLOCK)
        inside = column < columns
        total = tl.zeros((BLOCK,), tl.float32)
        for row in range(tl.program_id(0) * ROWS, tl.program_id(0) * ROWS + ROWS):
            at = row * columns + column
            y = tl.load(y_ptr + at, mask=inside, other=0.0)
            grad = tl.load(grad_ptr + at, mask=inside, other=0.0)
            x = tl.load(x_ptr + at, mask=inside, other=0.0)
            total += y * (grad - tl.sum(y * grad, axis=0)) * x
        tl.store(out_ptr + tl.program_id(0) * columns + column, total, mask=inside)

    def call(kernel, *arrays, rows, grid, **constants):
        columns = arrays[0].shape[1]
        return triton_call(
            *arrays,
            columns=columns,
            kernel=kernel,
            out_type=jax.ShapeDtypeStruct((rows, columns), arrays[0].dtype),
            grid=(grid,),
            BLOCK=triton.next_power_of_2(columns),
            **constants,
        )

    @jax.custom_vjp
    def function(x, w):
        return call(forward_kernel, x, w, rows=len(x), grid=len(x))

    def forward(x, w):
        y = function(x, w)
        return y, (x, w, y)

    def backward(saved, grad):
        x, w, y = saved
        rows = 16
        parts = call(
            weights_kernel, x, y, grad, rows=len(x) // rows, grid=len(x) // rows, ROWS=rows
        )
        # The gradient of x, which the step drops, costs nothing there.
        grad_x = jax_softmax._by_rows(jax_softmax.backward_kernel, y, grad) * w
        return grad_x, jnp.sum(parts, axis=0)

    function.defvjp(forward, backward)
    return function


def ways_of_softmax():
    """softmax(x * w), by name."""
    import jax
    import jax_softmax

    apart = jax.lax.optimization_barrier
    return {
        "kernels": lambda x, w: jax_softmax.softmax(x * w),
        "kernels with the product": scaled_softmax(),
        "XLA": lambda x, w: jax.nn.softmax(x * w),
        "XLA, fused as around kernels": lambda x, w: apart(jax.nn.softmax(apart(x * w))),
    }


def step_over(mesh, softmax):
    import jax
    import jax.numpy as jnp
    from jax.sharding import PartitionSpec

    by_rows, everywhere = PartitionSpec("rows"), PartitionSpec()

    def loss(w, x):
        return jnp.mean(softmax(x, w) ** 2) / WORLD

    def local(w, x):
        value, grad = jax.value_and_grad(loss)(w, x)
        return jax.lax.psum(value, "rows"), w - 0.1 * jax.lax.psum(grad, "rows")

    mapped = getattr(jax, "shard_map", None)
    if mapped is None:
        from jax.experimental.shard_map import shard_map as mapped
    options = {
        "mesh": mesh,
        "in_specs": (everywhere, by_rows),
        "out_specs": (everywhere, everywhere),
    }
    try:
        return jax.jit(mapped(local, **options, check_vma=False))
    except TypeError:
        return jax.jit(mapped(local, **options, check_rep=False))


def shard_map(rank, quick):
    """A step over both GPUs in one process: a kernel on each GPU's rows, gradients added by psum."""
    try:
        import jax
    except ImportError:
        print("shard_map  JAX is not installed", flush=True)
        return
    import time

    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    mesh = Mesh(np.array(jax.devices()[:WORLD]), ("rows",))
    rows, columns = (64, 256) if quick else (16384, 4096)
    x = jax.random.normal(jax.random.key(0), (rows, columns), jnp.float32)
    # Where the step wants them: else each call copies half of `x` to the other GPU.
    x = jax.device_put(x, NamedSharding(mesh, PartitionSpec("rows")))
    w = jax.device_put(jnp.ones((columns,), jnp.float32), NamedSharding(mesh, PartitionSpec()))
    found, times = {}, {}
    for way, softmax in ways_of_softmax().items():
        step = step_over(mesh, softmax)
        found[way] = jax.block_until_ready(step(w, x))
        jax.block_until_ready(step(w, x))
        begin = time.perf_counter()
        for _ in range(20):
            result = step(w, x)
        jax.block_until_ready(result)
        times[way] = (time.perf_counter() - begin) / 20
    for way, results in found.items():
        for a, b in zip(results, found["XLA"], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6, err_msg=way)
    shown = ", ".join(f"{way} {seconds * 1e3:.3f} ms" for way, seconds in times.items())
    print(f"shard_map  step: {shown}", flush=True)


SECTIONS = {"ddp": ddp, "fsdp2": fsdp2, "shard_map": shard_map}
