"""lightning-attn: linear attention with a decay for each head."""
# SPDX-License-Identifier: MIT

import torch
from cases import bf16, case, f16, f32, normal, on_device, same
from lightning_attn.ops import lightning_attn_func
from lightning_attn.ops.triton import lightning_attn2_no_decay

LOOSE = {f32: 1e-2, f16: 1.5e-2, bf16: 4e-2}


@case(length=[64, 193], width=[(32, 32), (64, 128)], dtype=[f32, f16, bf16])
def with_decay(length, width, dtype):
    slopes = torch.tensor([0.05, 0.3, 1.0])

    def reference(q, k, v):
        at = torch.arange(length)
        decay = torch.exp(-slopes[:, None, None] * (at[:, None] - at[None, :]).clamp(min=0)).tril()
        return (q @ k.transpose(-1, -2) * decay) @ v

    on = on_device(slopes.reshape(3, 1, 1))
    inputs = [
        normal(2, 3, length, w, dtype=dtype, scale=0.3) for w in (width[0], width[0], width[1])
    ]
    same(lambda q, k, v: lightning_attn_func(q, k, v, on), reference, inputs, LOOSE[dtype])


@case(length=[64, 193], dtype=[f32, bf16])
def without_decay(length, dtype):
    inputs = [normal(2, 3, length, 32, dtype=dtype, scale=0.3) for _ in range(3)]
    same(
        lightning_attn2_no_decay,
        lambda q, k, v: (q @ k.transpose(-1, -2)).tril() @ v,
        inputs,
        LOOSE[dtype],
    )
