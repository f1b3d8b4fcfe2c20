"""bitsandbytes: block-wise quantisation to 8 and 4 bits and the fused optimisers."""
# SPDX-License-Identifier: MIT

import bitsandbytes  # noqa: F401
import torch
from bitsandbytes.backends.triton import ops
from bitsandbytes.functional import create_dynamic_map, get_4bit_type
from cases import bf16, case, close, equal, f16, f32, normal, on_device

assert ops.__name__


@case(count=[512, 1000, 4096], block=[64, 256], dtype=[f32, f16])
def eight_bits(count, block, dtype):
    values = normal(count, dtype=dtype, grad=False)
    code = create_dynamic_map()
    packed, scales = ops.quantize_blockwise(values, on_device(code), block)
    padded = torch.nn.functional.pad(values.cpu().float(), (0, -count % block)).reshape(-1, block)
    largest = padded.abs().amax(1)
    close(scales, largest, 1e-3)
    nearest = (
        (padded / largest[:, None])[..., None].sub(code).abs().min(-1).values.flatten()[:count]
    )
    unit = (padded / largest[:, None]).flatten()[:count]
    mine = (code[packed.cpu().long()] - unit).abs()
    assert (mine <= nearest + 2e-3).all(), f"off by {float((mine - nearest).max()):.2e}"
    back = ops.dequantize_blockwise(packed, scales, on_device(code), block, dtype)
    wanted = code[packed.cpu().long()] * largest.repeat_interleave(block)[:count]
    close(back, wanted, 1e-3)


@case(kind=["nf4", "fp4"], count=[1024, 4096], block=[64, 128], dtype=[f32, bf16])
def four_bits(kind, count, block, dtype):
    values = normal(count, dtype=dtype, grad=False)
    packed, scales = ops.quantize_4bit(values, block, kind, torch.uint8)
    back = ops.dequantize_4bit(packed, scales, block, kind, (count,), dtype)
    code = get_4bit_type(kind, device="cpu")
    blocks = values.cpu().float().reshape(-1, block)
    unit = blocks / blocks.abs().amax(1, keepdim=True)
    wanted = code[unit[..., None].sub(code).abs().argmin(-1)] * blocks.abs().amax(1, keepdim=True)
    close(back, wanted.flatten(), 2e-2)  # bf16: values between two codes round to either


@case(kind=["nf4", "fp4"], dtype=[f32, f16])
def matrix_vector(kind, dtype):
    weight = normal(96, 128, dtype=dtype, grad=False)
    packed, scales = ops.quantize_4bit(weight.reshape(-1), 64, kind, torch.uint8)
    code = get_4bit_type(kind, device="cpu")
    x = normal(1, 128, dtype=dtype, grad=False)
    plain = ops.dequantize_4bit(packed, scales, 64, kind, (96, 128), dtype)
    close(
        ops.gemv_4bit(x, packed, (96, 128), scales, on_device(code), 64),
        x.cpu().float() @ plain.cpu().float().T,
        5e-3,
    )


@case(name=["adam", "momentum", "rmsprop", "lion", "adagrad"], dtype=[f32, f16])
def optimiser(name, dtype):
    count = 3000
    gradient, weight = (
        normal(count, dtype=dtype, grad=False),
        normal(count, dtype=dtype, grad=False),
    )
    first, second = torch.zeros(count), torch.zeros(count)
    p, m, v = weight.clone(), on_device(first), on_device(second)
    ops.optimizer_update_32bit(
        name,
        gradient,
        p,
        m,
        v if name == "adam" else None,
        None,
        0.0,
        0.0,
        0.9,
        0.99,
        0.0,
        0.0,
        1e-8,
        0.01,
        2,
        1e-2,
        1.0,
        False,
    )
    g, w = gradient.cpu().float(), weight.cpu().float()
    if name == "adam":
        first, second = 0.1 * g, 0.01 * g * g
        rate = 1e-2 * (1 - 0.99**2) ** 0.5 / (1 - 0.9**2)
        w = w - rate * first / (second.sqrt() + 1e-8 * (1 - 0.99**2) ** 0.5)
        w = w * (1 - 1e-2 * 0.01)
        close(p, w, 1e-3)
        close(m, first, 1e-3)
        close(v, second, 1e-3)
    else:
        assert p.cpu().isfinite().all() and not torch.equal(p, weight), "the weights did not move"
        assert m.cpu().isfinite().all() and m.cpu().abs().sum() > 0 or name == "lion", (
            "the state did not move"
        )


@case(shape=[(64, 64)])
def code_is_kept(shape):
    code = create_dynamic_map()
    index = torch.arange(256, dtype=torch.uint8)
    back = ops.dequantize_blockwise(
        on_device(index), on_device(torch.ones(1)), on_device(code), 256, f32
    )
    equal(back, code)
