"""liger-kernel: losses, norms, activations, rotary embeddings and the fused linear losses."""
# SPDX-License-Identifier: MIT

import torch
import torch.nn.functional as F
from cases import bf16, case, f16, f32, integers, normal, on_device, same
from liger_kernel.transformers import functional as liger


@case(rows=[5, 33], columns=[127, 4096], dtype=[f32, bf16], reduction=["mean", "sum"])
def cross_entropy(rows, columns, dtype, reduction):
    target = integers(0, columns, (rows,))
    target[1] = -100
    same(
        lambda x: liger.liger_cross_entropy(x, target, reduction=reduction),
        lambda x: F.cross_entropy(x, target.cpu(), reduction=reduction),
        [normal(rows, columns, dtype=dtype)],
    )


@case(smoothing=[0.0, 0.1], softcap=[None, 15.0])
def cross_entropy_options(smoothing, softcap):
    target = integers(0, 1000, (9,))

    def reference(x):
        x = x if softcap is None else softcap * torch.tanh(x / softcap)
        return F.cross_entropy(x, target.cpu(), label_smoothing=smoothing)

    same(
        lambda x: liger.liger_cross_entropy(x, target, label_smoothing=smoothing, softcap=softcap),
        reference,
        [normal(9, 1000, scale=3.0)],
    )


@case(dtype=[f32, bf16], bias=[False, True])
def fused_linear_cross_entropy(dtype, bias):
    target = integers(0, 300, (21,))
    inputs = [normal(21, 64, dtype=dtype), normal(300, 64, dtype=dtype, scale=0.2)]
    inputs += [normal(300, dtype=dtype)] if bias else []
    same(
        lambda x, w, b=None: liger.liger_fused_linear_cross_entropy(x, w, target, b),
        lambda x, w, b=None: F.cross_entropy(F.linear(x, w, b), target.cpu()),
        inputs,
        tolerance=1e-2 if dtype == f32 else 4e-2,
    )


@case(columns=[100, 2048], reduction=["batchmean", "sum", "none"], log_target=[False, True])
def kl_div(columns, reduction, log_target):
    target = torch.randn(6, columns, device="cpu")
    target = on_device(target.log_softmax(-1) if log_target else target.softmax(-1))
    same(
        lambda x: liger.liger_kl_div(x, target, reduction=reduction, log_target=log_target),
        lambda x: F.kl_div(x, target.cpu(), reduction=reduction, log_target=log_target),
        [normal(6, columns).detach().log_softmax(-1).requires_grad_()],
    )


@case(columns=[65, 1024], beta=[0.1, 0.5], dtype=[f32, bf16])
def jsd(columns, beta, dtype):
    target = normal(7, columns, dtype=dtype, grad=False).log_softmax(-1)

    def reference(x):
        log_p, log_q = target.cpu().float(), x
        mixed = (beta * log_p.exp() + (1 - beta) * log_q.exp()).log()
        kl = [F.kl_div(mixed, y, reduction="sum", log_target=True) for y in (log_p, log_q)]
        return (beta * kl[0] + (1 - beta) * kl[1]) / x.shape[0]

    values = normal(7, columns, dtype=dtype, grad=False).log_softmax(-1).requires_grad_()
    same(lambda x: liger.liger_jsd(x, target, beta=beta), reference, [values])


@case(reduction=["mean", "sum"], columns=[77, 512])
def tvd(reduction, columns):
    target = normal(8, columns, grad=False).softmax(-1)

    def reference(x):
        value = 0.5 * (x - target.cpu()).abs()
        return value.sum() if reduction == "sum" else value.sum() / value.numel()

    values = normal(8, columns, grad=False).softmax(-1).requires_grad_()
    same(
        lambda x: liger.liger_tvd(x, target, reduction=reduction),
        reference,
        [values],
        backward=False,
    )


@case(
    dtype=[f32, bf16], shape=[(3, 7, 64), (2, 5, 1000)], mode=["llama", "gemma"], offset=[0.0, 1.0]
)
def rms_norm(dtype, shape, mode, offset):
    def reference(x, w):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * (offset + w)

    same(
        lambda x, w: liger.liger_rms_norm(x, w, 1e-6, offset, mode, False),
        reference,
        [normal(*shape, dtype=dtype), normal(shape[-1], dtype=dtype)],
    )


@case(dtype=[f32, f16], columns=[48, 777])
def fused_add_rms_norm(dtype, columns):
    def reference(x, r, w):
        s = x + r
        return s * torch.rsqrt(s.square().mean(-1, keepdim=True) + 1e-6) * w, s

    same(
        lambda x, r, w: liger.liger_fused_add_rms_norm(x, r, w, 1e-6),
        reference,
        [
            normal(4, 9, columns, dtype=dtype),
            normal(4, 9, columns, dtype=dtype),
            normal(columns, dtype=dtype),
        ],
    )


@case(dtype=[f32, bf16], columns=[64, 513])
def layer_norm(dtype, columns):
    same(
        lambda x, w, b: liger.liger_layer_norm(x, w, b, 1e-5),
        lambda x, w, b: F.layer_norm(x, (columns,), w, b, 1e-5),
        [
            normal(17, columns, dtype=dtype),
            normal(columns, dtype=dtype),
            normal(columns, dtype=dtype),
        ],
    )


@case(channels=[12], groups=[3, 4], width=[20, 129])
def group_norm(channels, groups, width):
    same(
        lambda x, w, b: liger.liger_group_norm(x, w, b, channels, groups, 1e-5),
        lambda x, w, b: F.group_norm(x, groups, w, b, 1e-5),
        [normal(2, channels, width), normal(channels), normal(channels)],
    )


@case(dtype=[f32, bf16], columns=[96, 1024])
def swiglu(dtype, columns):
    same(
        liger.liger_swiglu,
        lambda a, b: F.silu(a) * b,
        [normal(3, 11, columns, dtype=dtype), normal(3, 11, columns, dtype=dtype)],
    )


@case(dtype=[f32, bf16], columns=[96, 1024])
def geglu(dtype, columns):
    same(
        liger.liger_geglu,
        lambda a, b: F.gelu(a, approximate="tanh") * b,
        [normal(3, 11, columns, dtype=dtype), normal(3, 11, columns, dtype=dtype)],
    )


@case(dtype=[f32, bf16], columns=[33, 1024, 5000])
def softmax(dtype, columns):
    same(liger.liger_softmax, lambda x: x.softmax(-1), [normal(9, columns, dtype=dtype)])


@case(columns=[33, 1024])
def sparsemax(columns):
    def reference(x):
        ordered, _ = x.sort(-1, descending=True)
        steps = torch.arange(1, columns + 1)
        sums = ordered.cumsum(-1) - 1
        count = (ordered * steps > sums).sum(-1, keepdim=True)
        return (x - sums.gather(-1, count - 1) / count).clamp(min=0)

    same(liger.liger_sparsemax, reference, [normal(9, columns)])


@case(columns=[64, 1000])
def relu_squared(columns):
    same(liger.liger_relu_squared, lambda x: x.relu().square(), [normal(5, columns)])


@case(columns=[64, 1000], dtype=[f32, bf16])
def dyt(columns, dtype):
    same(
        liger.liger_dyt,
        lambda x, a, g, b: torch.tanh(a * x) * g + b,
        [normal(5, 3, columns, dtype=dtype), normal(1, dtype=dtype), normal(columns, dtype=dtype), normal(columns, dtype=dtype)],
    )  # fmt: skip


@case(columns=[64, 700])
def poly_norm(columns):
    def reference(x, w, b):
        def norm(y):
            return y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6)

        return w[0] * norm(x**3) + w[1] * norm(x**2) + w[2] * norm(x) + b

    same(
        lambda x, w, b: liger.liger_poly_norm(x, w, b, 1e-6, False),
        reference,
        [normal(8, columns), normal(3), on_device(torch.tensor(0.3)).requires_grad_()],
    )


@case(heads=[(4, 4), (6, 2)], width=[64, 128], dtype=[f32, bf16])
def rope(heads, width, dtype):
    angles = torch.randn(1, 19, width // 2, device="cpu")
    angles = torch.cat([angles, angles], -1)
    cos, sin = on_device(angles.cos().to(dtype)), on_device(angles.sin().to(dtype))

    def reference(q, k):
        def rotate(x):
            half = torch.cat([-x[..., width // 2 :], x[..., : width // 2]], -1)
            return x * cos.cpu().float()[:, None] + half * sin.cpu().float()[:, None]

        return rotate(q), rotate(k)

    same(
        lambda q, k: liger.liger_rope(q, k, cos, sin),
        reference,
        [normal(2, heads[0], 19, width, dtype=dtype), normal(2, heads[1], 19, width, dtype=dtype)],
    )


@case(temperature=[1.0, 2.0], dtype=[f32])
def fused_linear_jsd(temperature, dtype):
    teacher, weight = normal(13, 96, grad=False), normal(200, 96, scale=0.2, grad=False)

    def reference(x, w):
        log_q = (x @ w.T / temperature).log_softmax(-1)
        log_p = (teacher.cpu() @ weight.cpu().T / temperature).log_softmax(-1)
        mixed = (0.5 * log_p.exp() + 0.5 * log_q.exp()).log()
        return (
            sum(0.5 * F.kl_div(mixed, y, reduction="sum", log_target=True) for y in (log_p, log_q))
            / 13
        )

    same(
        lambda x, w: liger.liger_fused_linear_jsd(x, w, teacher, weight, temperature=temperature),
        reference,
        [normal(13, 48), normal(200, 48, scale=0.2)],
        tolerance=2e-2,
    )


@case(kernel_size=[3, 7], dtype=[f32])
def fused_neighborhood_attention(kernel_size, dtype):
    def reference(q, k, v):
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        at = torch.arange(q.shape[2])
        near = (at[:, None] - at[None, :]).abs() <= kernel_size // 2
        return scores.masked_fill(~near, float("-inf")).softmax(-1) @ v

    same(
        lambda q, k, v: liger.liger_fused_neighborhood_attention(q, k, v, kernel_size),
        reference,
        [normal(1, 2, 40, 32, dtype=dtype) for _ in range(3)],
        tolerance=1e-2,
    )


@case(sparse=[False, True])
def multi_token_attention(sparse):
    def reference(x, w):
        causal = torch.ones(x.shape[-2:]).tril().bool()
        y = x.masked_fill(~causal, -1e9).softmax(-1)
        return F.conv2d(y, w, padding=1).masked_fill(~causal, 0)

    same(
        lambda x, w: liger.liger_multi_token_attention(x, w, None, 1, 1, 1, 1, sparse),
        reference,
        [normal(2, 4, 24, 24), normal(4, 4, 3, 3)],
        tolerance=1e-2,
        backward=not sparse,
    ) if not sparse else liger.liger_multi_token_attention(
        normal(2, 4, 24, 24), normal(4, 4, 3, 3), None, 1, 1, 1, 1, sparse
    )


@case(streams=[4], dtype=[f32])
def mhc(streams, dtype):
    def reference(x, h):
        return (x * h[..., None]).sum(-2)

    same(
        liger.liger_mhc_pre, reference, [normal(2, 5, streams, 64), normal(2, 5, streams).detach().sigmoid().requires_grad_()],
    )  # fmt: skip


@case(vocabulary=[100], width=[32, 200])
def embedding(vocabulary, width):
    from liger_kernel.ops import LigerEmbeddingFunction

    at = integers(0, vocabulary, (3, 14))
    same(
        lambda w: LigerEmbeddingFunction.apply(w, at),
        lambda w: F.embedding(at.cpu(), w),
        [normal(vocabulary, width)],
    )
