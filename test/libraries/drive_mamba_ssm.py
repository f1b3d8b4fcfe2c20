"""mamba-ssm: the state-space scans in chunks, the step of a state and the gated norms."""
# SPDX-License-Identifier: MIT

import torch
import torch.nn.functional as F
from cases import bf16, case, close, f16, f32, normal, same, skip_init

skip_init("mamba_ssm")  # it needs the CUDA extension; the Triton kernels do not

from mamba_ssm.ops.triton.layernorm_gated import layernorm_fn, rmsnorm_fn  # noqa: E402
from mamba_ssm.ops.triton.selective_state_update import selective_state_update  # noqa: E402
from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined  # noqa: E402


def scan(x, dt, a, b, c, d=None):
    """The recurrence, step by step."""
    heads = x.shape[2]
    b, c = (y.repeat_interleave(heads // y.shape[2], 2) for y in (b, c))
    state = torch.zeros(x.shape[0], heads, x.shape[3], b.shape[3])
    results = []
    for t in range(x.shape[1]):
        state = state * torch.exp(dt[:, t] * a)[..., None, None]
        state = state + torch.einsum("bh,bhp,bhn->bhpn", dt[:, t], x[:, t], b[:, t])
        results.append(torch.einsum("bhpn,bhn->bhp", state, c[:, t]))
    result = torch.stack(results, 1)
    return result if d is None else result + x * d[:, None]


@case(length=[64, 100], chunk=[32, 64], dtype=[f32, bf16], groups=[1, 2])
def chunk_scan(length, chunk, dtype, groups):
    heads = 4
    x = normal(1, length, heads, 32, dtype=dtype)
    dt = F.softplus(normal(1, length, heads, grad=False) - 2).to(dtype).requires_grad_()
    a = (-torch.exp(normal(heads, grad=False) * 0.3)).requires_grad_()
    b, c = (normal(1, length, groups, 32, dtype=dtype, scale=0.5) for _ in range(2))
    d = normal(heads, dtype=f32)
    same(
        lambda x, dt, a, b, c, d: mamba_chunk_scan_combined(x, dt, a, b, c, chunk, D=d),
        scan,
        [x, dt, a, b, c, d],
        4e-2 if dtype == bf16 else 1e-2,
    )


@case(state=[16, 64], gate=[False, True], dtype=[f32, f16])
def state_update(state, gate, dtype):
    held = normal(2, 48, state, grad=False, dtype=dtype)
    x, dt = normal(2, 48, dtype=dtype, grad=False), normal(2, 48, dtype=dtype, grad=False)
    a = -torch.exp(normal(48, state, grad=False))
    b, c = normal(2, state, dtype=dtype, grad=False), normal(2, state, dtype=dtype, grad=False)
    z = normal(2, 48, dtype=dtype, grad=False) if gate else None
    d, bias = normal(48, grad=False), normal(48, grad=False)
    cpu = [y.cpu().float() for y in (held, x, dt, a, b, c, d)]
    step = F.softplus(cpu[2] + bias.cpu())
    new = (
        cpu[0] * torch.exp(step[..., None] * cpu[3]) + (step * cpu[1])[..., None] * cpu[4][:, None]
    )
    expected = torch.einsum("bds,bs->bd", new, cpu[5]) + cpu[1] * cpu[6]
    expected = expected * F.silu(z.cpu().float()) if gate else expected
    result = selective_state_update(held, x, dt, a, b, c, d, z=z, dt_bias=bias, dt_softplus=True)
    close(result, expected, 1e-2)
    close(held, new, 1e-2)


@case(kind=["rms", "layer"], before=[False, True], columns=[64, 300], dtype=[f32, bf16])
def gated_norm(kind, before, columns, dtype):
    def reference(x, w, z):
        x = x if before else x * F.silu(z)
        y = x - x.mean(-1, keepdim=True) if kind == "layer" else x
        y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6) * w
        return y * F.silu(z) if before else y

    function = rmsnorm_fn if kind == "rms" else layernorm_fn
    same(
        lambda x, w, z: function(x, w, None, z=z, norm_before_gate=before),
        reference,
        [
            normal(7, columns, dtype=dtype),
            normal(columns, dtype=dtype),
            normal(7, columns, dtype=dtype),
        ],
    )
