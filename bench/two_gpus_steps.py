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


def shard_map(rank, quick):
    """A step over both GPUs in one process: a kernel on each GPU's rows, gradients added by psum."""
    try:
        import jax
    except ImportError:
        print("shard_map  JAX is not installed", flush=True)
        return
    import time

    import jax.numpy as jnp
    import jax_softmax
    import numpy as np
    from jax.sharding import Mesh, PartitionSpec

    mesh = Mesh(np.array(jax.devices()[:WORLD]), ("rows",))
    rows, columns = (64, 256) if quick else (16384, 4096)
    by_rows, everywhere = PartitionSpec("rows"), PartitionSpec()

    def step_with(softmax):
        def loss(w, x):
            return jnp.mean(softmax(x * w) ** 2) / WORLD

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

    x = jax.random.normal(jax.random.key(0), (rows, columns), jnp.float32)
    w = jnp.ones((columns,), jnp.float32)
    found, times = {}, {}
    for way, softmax in (("kernels", jax_softmax.softmax), ("XLA", jax.nn.softmax)):
        step = step_with(softmax)
        found[way] = jax.block_until_ready(step(w, x))
        begin = time.perf_counter()
        for _ in range(20):
            result = step(w, x)
        jax.block_until_ready(result)
        times[way] = (time.perf_counter() - begin) / 20
    for a, b in zip(found["kernels"], found["XLA"], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    shown = ", ".join(f"{way} {seconds * 1e3:.3f} ms" for way, seconds in times.items())
    print(f"shard_map  step: {shown}", flush=True)


SECTIONS = {"ddp": ddp, "fsdp2": fsdp2, "shard_map": shard_map}
