"""sageattention: attention with queries and keys quantised to int8, forward only."""
# SPDX-License-Identifier: MIT

import torch
import torch.nn.functional as F
from cases import bf16, case, close, f16, normal, on_device
from sageattention.core import sageattn, sageattn_varlen


@case(width=[64, 96, 128], causal=[False, True], layout=["HND", "NHD"], dtype=[f16, bf16])
def attention(width, causal, layout, dtype):
    length = 200 if causal else 256  # the kernel without a causal mask counts the padding keys of a block
    q, k, v = (normal(1, 2, length, width, dtype=dtype, grad=False) for _ in range(3))
    expected = F.scaled_dot_product_attention(
        *(x.cpu().float() for x in (q, k, v)), is_causal=causal
    )
    if layout == "NHD":
        q, k, v = (x.transpose(1, 2).contiguous() for x in (q, k, v))
        expected = expected.transpose(1, 2)
    close(sageattn(q, k.clone(), v, layout, causal), expected, 5e-2)


@case(causal=[False, True])
def lengths(causal):
    starts = [0, 70, 200] if causal else [0, 64, 192]
    q, k, v = (normal(starts[-1], 2, 64, dtype=f16, grad=False) for _ in range(3))
    ends = on_device(torch.tensor(starts, dtype=torch.int32))
    parts = []
    for a, b in zip(starts, starts[1:], strict=False):
        part = (x[a:b].cpu().float().transpose(0, 1)[None] for x in (q, k, v))
        parts.append(F.scaled_dot_product_attention(*part, is_causal=causal)[0].transpose(0, 1))
    result = sageattn_varlen(q, k.clone(), v, ends, ends, 130, 130, causal)
    close(result, torch.cat(parts), 5e-2)
