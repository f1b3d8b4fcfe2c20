"""flash-attn: the Triton norms, losses and rotary embeddings of its source distribution."""
# SPDX-License-Identifier: MIT

import torch
import torch.nn.functional as F
from cases import bf16, case, f16, f32, integers, normal, on_device, same, skip_init

skip_init("flash_attn")  # it needs the CUDA extension; the Triton kernels do not

from flash_attn.ops.triton.cross_entropy import cross_entropy_loss  # noqa: E402
from flash_attn.ops.triton.layer_norm import layer_norm_fn, rms_norm_fn  # noqa: E402
from flash_attn.ops.triton.rotary import apply_rotary  # noqa: E402


@case(columns=[100, 3000], smoothing=[0.0, 0.1], dtype=[f32, bf16])
def cross_entropy(columns, smoothing, dtype):
    target = integers(0, columns, (9,))
    same(
        lambda x: cross_entropy_loss(x, target, label_smoothing=smoothing)[0],
        lambda x: F.cross_entropy(x, target.cpu(), label_smoothing=smoothing, reduction="none"),
        [normal(9, columns, dtype=dtype)],
    )


@case(kind=["rms", "layer"], columns=[64, 1000], dtype=[f32, bf16], residual=[False, True])
def norm(kind, columns, dtype, residual):
    def reference(x, w, b, r):
        x = x + r if residual else x
        y = x if kind == "rms" else x - x.mean(-1, keepdim=True)
        return y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6) * w + b

    function = rms_norm_fn if kind == "rms" else layer_norm_fn
    same(
        lambda x, w, b, r: function(x, w, b, residual=r if residual else None),
        reference,
        [normal(11, columns, dtype=dtype), normal(columns, dtype=dtype), normal(columns, dtype=dtype), normal(11, columns, dtype=dtype)],
    )  # fmt: skip


@case(interleaved=[False, True], width=[64, 80], dtype=[f32, f16])
def rotary(interleaved, width, dtype):
    angles = torch.randn(33, width // 2, device="cpu")
    cos, sin = on_device(angles.cos().to(dtype)), on_device(angles.sin().to(dtype))

    def reference(x):
        c, s = cos.cpu().float()[None, :, None], sin.cpu().float()[None, :, None]
        if interleaved:
            a, b = x[..., ::2], x[..., 1::2]
            return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)
        a, b = x.chunk(2, -1)
        return torch.cat([a * c - b * s, a * s + b * c], -1)

    same(
        lambda x: apply_rotary(x, cos, sin, interleaved=interleaved),
        reference,
        [normal(2, 33, 3, width, dtype=dtype, grad=False)],
    )
