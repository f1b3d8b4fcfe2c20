"""flag_gems: pointwise kernels that the library generates as text, reductions, indexing, sorting and matmuls."""
# SPDX-License-Identifier: MIT

import operator
import os
import sys

import cases
import torch
import torch.nn.functional as F
from cases import bf16, case, close, equal, f16, f32, integers, normal, on_device

os.environ.setdefault("GEMS_VENDOR", "nvidia")
from flag_gems import ops  # noqa: E402

if cases.DEVICE == "cpu":  # the modules compare a tensor's device with this name
    for name, module in list(sys.modules.items()):
        if name.startswith("flag_gems.") and getattr(module, "device", None) == "cuda":
            module.device = "cpu"

UNARY = [
    "abs",
    "acos",
    "angle",
    "arcsinh",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "digamma_",
    "elu",
    "erf",
    "exp",
    "exp2",
    "expm1",
    "floor_",
    "gelu",
    "hardswish_",
    "hardsigmoid",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log10",
    "log1p_",
    "logical_not",
    "neg",
    "nan_to_num",
    "reciprocal",
    "relu",
    "relu6",
    "round",
    "rsqrt",
    "selu",
    "sgn_",
    "sigmoid",
    "signbit",
    "silu",
    "sin",
    "sinh_",
    "softplus",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "log_sigmoid",
    "logit",
    "celu",
    "isneginf",
]
FLAT = ["floor_", "hardsigmoid", "logit", "round", "sinh_"]  # these require contiguous tensors
BINARY = [
    "add",
    "sub",
    "mul",
    "true_divide",
    "atan2",
    "fmin",
    "maximum",
    "minimum",
    "logaddexp",
    "hypot",
    "copysign",
    "remainder",
    "floor_divide",
    "eq",
    "ne",
    "lt",
    "gt",
    "le",
    "ge",
    "pow_tensor_tensor",
    "isclose",
]
INTEGERS = [
    "add",
    "sub",
    "mul",
    "bitwise_and_tensor",
    "bitwise_or_tensor",
    "floor_divide",
    "remainder",
    "maximum",
]
WHOLE = [
    "sum",
    "mean",
    "max",
    "min",
    "prod",
    "argmax",
    "argmin",
    "all",
    "any",
    "var_mean",
    "std",
    "vector_norm",
]
TOLERANCE = {f32: 1e-5, f16: 2e-3, bf16: 1e-2}


def torch_function(name):
    stem = name.rstrip("_").removesuffix("_tensor")
    stem = {"pow_tensor": "pow", "arcsinh": "asinh", "log_sigmoid": "logsigmoid"}.get(stem, stem)
    for module in (torch, F, torch.special):
        if hasattr(module, stem):
            return getattr(module, stem)
    return getattr(torch, name)


def compare(actual, expected, dtype):
    if expected.dtype.is_floating_point:
        assert torch.equal(actual.isnan().cpu(), expected.isnan()), "NaNs stand elsewhere"
        close(actual.nan_to_num(0.0), expected.nan_to_num(0.0), TOLERANCE[dtype])
    else:
        equal(actual, expected)


@case(name=UNARY, dtype=[f32, f16], view=[False, True])
def unary(name, dtype, view):
    x = normal(37, 130, dtype=dtype, grad=False)
    if name in ("acos", "logit"):
        x = x.sigmoid()
    if name in ("log", "log10", "log1p_", "sqrt", "rsqrt", "digamma_"):
        x = x.abs() + 0.5
    x = x.t()[3:, ::2] if view and name not in FLAT else x
    source = x.cpu().float() if dtype == f16 and x.dtype == f16 else x.cpu()
    expected = torch_function(name)(source.clone())
    expected = expected if not expected.is_floating_point() else expected.to(dtype)
    actual = getattr(ops, name)(x)
    compare(actual[0] if isinstance(actual, tuple) else actual, expected, dtype)


@case(
    name=[x for x in BINARY if x not in ("remainder", "floor_divide")],
    shapes=[((33, 65), (33, 65))],
    dtype=[bf16],
)
@case(name=BINARY, shapes=[((33, 65), (33, 65)), ((4, 1, 19), (7, 19))], dtype=[f32])
def binary(name, shapes, dtype):
    x, y = (normal(*shape, dtype=dtype, grad=False) for shape in shapes)
    if name == "pow_tensor_tensor":
        x = x.abs() + 0.1
    if name == "isclose":
        y = x + (y > 0) if x.shape == y.shape else y
    expected = torch_function(name)(x.cpu().float(), y.cpu().float())
    expected = expected if not expected.is_floating_point() else expected.to(dtype)
    actual = getattr(ops, name)(x, y)
    compare(actual, expected, dtype)


@case(name=INTEGERS, dtype=[torch.int32, torch.int64])
def binary_integers(name, dtype):
    x = integers(-100, 100, (31, 9), dtype)
    y = integers(1, 7, (31, 9), dtype)
    equal(getattr(ops, name)(x, y), torch_function(name)(x.cpu(), y.cpu()))


@case(dtype=[f32, f16])
def scalars(dtype):
    x = normal(50, 3, dtype=dtype, grad=False)
    for name, function in (
        ("add", operator.add),
        ("sub", operator.sub),
        ("mul", operator.mul),
        ("true_divide", operator.truediv),
    ):
        compare(getattr(ops, name)(x, 2.5), function(x.cpu(), 2.5), dtype)
    compare(ops.clamp(x, -0.5, 0.5), x.cpu().clamp(-0.5, 0.5), dtype)
    compare(ops.pow_tensor_scalar(x, 2), x.cpu() ** 2, dtype)
    compare(ops.masked_fill(x, x > 0, 7.0), x.cpu().masked_fill(x.cpu() > 0, 7.0), dtype)
    compare(ops.lerp_scalar(x, x + 1, 0.25), x.cpu() + 0.25, dtype)


@case(name=WHOLE, shape=[(5, 7), (3, 1000)], dtype=[f32])
def whole(name, shape, dtype):
    x = normal(*shape, dtype=dtype, grad=False)
    x = 1 + x * 0.01 if name == "prod" else x
    expected = (
        torch.linalg.vector_norm(x.cpu())
        if name == "vector_norm"
        else getattr(torch, name)(x.cpu())
    )
    actual = getattr(ops, name)(x)
    for a, b in (
        zip(actual, expected, strict=False) if isinstance(expected, tuple) else [(actual, expected)]
    ):
        compare(a, b, dtype)


@case(
    name=[
        "sum_dim",
        "mean_dim",
        "amax",
        "max_dim",
        "min_dim",
        "prod_dim",
        "argmax",
        "all_dim",
        "any_dim",
    ],
    dim=[0, 1, -1],
)
def along(name, dim):
    x = normal(6, 19, 65, grad=False)
    x = 1 + x * 0.1 if name == "prod_dim" else x
    plain = getattr(torch, name.removesuffix("_dim"))
    given = [dim] if name in ("sum_dim", "mean_dim", "amax") else dim
    actual, expected = getattr(ops, name)(x, given), plain(x.cpu(), dim)
    pairs = (
        zip(actual, expected, strict=False) if isinstance(expected, tuple) else [(actual, expected)]
    )
    for a, b in pairs:
        compare(a, b, f32)


@case(
    name=["softmax", "log_softmax", "cumsum", "cummax", "cummin", "normed_cumsum"],
    columns=[33, 1500],
)
def scans(name, columns):
    x = normal(7, columns, grad=False)
    if name == "normed_cumsum":
        x = x.abs()
        expected = x.cpu().cumsum(1) / x.cpu().sum(1, keepdim=True)
    else:
        expected = getattr(torch, name)(x.cpu(), 1)
    actual = getattr(ops, name)(x, 1, False) if "softmax" in name else getattr(ops, name)(x, 1)
    pairs = (
        zip(actual, expected, strict=False) if isinstance(expected, tuple) else [(actual, expected)]
    )
    for a, b in pairs:
        close(a, b, 1e-4)


@case(columns=[33, 1500], dtype=[f32, torch.int32], descending=[False, True])
def sort(columns, dtype, descending):
    values = torch.stack([torch.randperm(columns, device="cpu") for _ in range(3)]).to(dtype)
    result, at = ops.sort(on_device(values), -1, descending)
    expected, wanted = values.sort(-1, descending)
    equal(result, expected)
    equal(at, wanted)


@case(columns=[40, 3000], count=[5])
def topk(columns, count):
    values = torch.stack([torch.randperm(columns, device="cpu") for _ in range(3)]).float()
    result, at = ops.topk(on_device(values), count)
    expected, wanted = values.topk(count)
    equal(result, expected)
    equal(at, wanted)


@case(shape=[(16, 32, 48), (65, 100, 33)], dtype=[f32, f16])
def matmul(shape, dtype):
    m, k, n = shape
    x, y = normal(m, k, dtype=dtype, grad=False), normal(k, n, dtype=dtype, grad=False)
    close(ops.mm(x, y), x.cpu().float() @ y.cpu().float(), 3e-3)
    bias = normal(n, dtype=dtype, grad=False)
    close(ops.addmm(bias, x, y), x.cpu().float() @ y.cpu().float() + bias.cpu().float(), 3e-3)
    batch = normal(3, m, k, dtype=dtype, grad=False)
    other = normal(3, k, n, dtype=dtype, grad=False)
    close(ops.bmm(batch, other), batch.cpu().float() @ other.cpu().float(), 3e-3)
    close(ops.mv(x, y[:, 0].contiguous()), x.cpu().float() @ y[:, 0].cpu().float(), 3e-3)


@case(part=["gather", "index_select", "embedding", "masked_select", "nonzero", "scatter", "index_add", "flip", "repeat", "cat",
            "triu", "diag", "one_hot", "arange", "pad", "roll", "isin", "kron", "index_put", "tile", "stack"])  # fmt: skip
def indexing(part):
    x = normal(9, 21, grad=False)
    c = x.cpu()
    at = integers(0, 9, (5,))
    wide = integers(0, 9, (4, 21))
    pairs = {
        "gather": lambda: (ops.gather(x, 0, wide), c.gather(0, wide.cpu())),
        "index_select": lambda: (ops.index_select(x, 0, at), c.index_select(0, at.cpu())),
        "embedding": lambda: (ops.embedding(x, at), F.embedding(at.cpu(), c)),
        "masked_select": lambda: (ops.masked_select(x, x > 0), c[c > 0]),
        "nonzero": lambda: (ops.nonzero(x > 0), (c > 0).nonzero()),
        "scatter": lambda: (
            ops.scatter(x, 0, wide[:1], x[:1]),
            c.scatter(0, wide[:1].cpu(), c[:1]),
        ),
        "index_add": lambda: (ops.index_add(x, 0, at, x[:5]), c.index_add(0, at.cpu(), c[:5])),
        "flip": lambda: (ops.flip(x, [0, 1]), c.flip(0, 1)),
        "repeat": lambda: (ops.repeat(x, (2, 3)), c.repeat(2, 3)),
        "cat": lambda: (ops.cat([x, x[:4]], 0), torch.cat([c, c[:4]], 0)),
        "triu": lambda: (ops.triu(x, 1), c.triu(1)),
        "diag": lambda: (ops.diag(x[0]), c[0].diag()),
        "one_hot": lambda: (ops.one_hot(at, 9), F.one_hot(at.cpu(), 9)),
        "arange": lambda: (ops.arange(100, device=x.device), torch.arange(100)),
        "pad": lambda: (ops.pad(x, (1, 2)), F.pad(c, (1, 2))),
        "roll": lambda: (ops.roll(x, 3, 1), c.roll(3, 1)),
        "isin": lambda: (ops.isin(at, at[:2]), torch.isin(at.cpu(), at[:2].cpu())),
        "kron": lambda: (
            ops.kron(x[:3, :4], x[:2, :2]),
            torch.kron(c[:3, :4].contiguous(), c[:2, :2].contiguous()),
        ),
        "index_put": lambda: (
            ops.index_put(x, (at[:1],), x[:1]),
            c.index_put((at[:1].cpu(),), c[:1]),
        ),
        "tile": lambda: (ops.tile(x, (2, 2)), c.tile(2, 2)),
        "stack": lambda: (ops.stack([x, x + 1], 1), torch.stack([c, c + 1], 1)),
    }
    actual, expected = pairs[part]()
    compare(actual, expected, f32)


@case(part=["layer_norm", "group_norm", "rms_norm", "batch_norm", "conv1d", "conv2d", "max_pool2d", "avg_pool2d", "mse",
            "glu", "upsample_nearest2d", "scaled_dot_product_attention", "weight_norm"])  # fmt: skip
def layers(part):
    x = normal(2, 6, 16, 16, grad=False)
    c = x.cpu()
    w, b = normal(6, grad=False), normal(6, grad=False)
    q = [normal(1, 2, 128, 128, dtype=f16, grad=False) for _ in range(3)]
    kernel = normal(4, 6, 3, 3, grad=False)
    line, line_kernel = normal(2, 6, 40, grad=False), normal(4, 6, 3, grad=False)
    full, shift = normal(16, grad=False), normal(16, grad=False)
    pairs = {
        "layer_norm": lambda: (ops.layer_norm(x, (16,), full, shift)[0], F.layer_norm(c, (16,), full.cpu(), shift.cpu())),
        "group_norm": lambda: (ops.group_norm(x, w, b, 2, 6, 256, 3)[0], F.group_norm(c, 3, w.cpu(), b.cpu())),
        "rms_norm": lambda: (ops.rms_norm(x, (16,), full, 1e-6), F.rms_norm(c, (16,), full.cpu(), 1e-6)),
        "batch_norm": lambda: (
            ops.batch_norm(x, w, b, training=True)[0],
            F.batch_norm(c, None, None, w.cpu(), b.cpu(), training=True),
        ),
        "conv1d": lambda: (ops.conv1d(line, line_kernel), F.conv1d(line.cpu(), line_kernel.cpu())),
        "conv2d": lambda: (ops.conv2d(x, kernel, padding=1), F.conv2d(c, kernel.cpu(), padding=1)),
        "max_pool2d": lambda: (ops.max_pool2d_with_indices(x, 2)[0], F.max_pool2d(c, 2)),
        "avg_pool2d": lambda: (ops.avg_pool2d(x, 2), F.avg_pool2d(c, 2)),
        "mse": lambda: (ops.mse_loss(x, x * 0.5), F.mse_loss(c, c * 0.5)),
        "glu": lambda: (ops.glu(x, 1), F.glu(c, 1)),
        "upsample_nearest2d": lambda: (ops.upsample_nearest2d(x, (32, 24)), F.interpolate(c, (32, 24))),
        "scaled_dot_product_attention": lambda: (
            ops.scaled_dot_product_attention(*q, is_causal=True),
            F.scaled_dot_product_attention(*(y.cpu().float() for y in q), is_causal=True),
        ),
        "weight_norm": lambda: (
            ops.weight_norm_interface(kernel, normal(4, 1, 1, 1, grad=False) * 0 + 1, 0)[0],
            kernel.cpu() / kernel.cpu().flatten(1).norm(dim=1).reshape(4, 1, 1, 1),
        ),
    }  # fmt: skip
    actual, expected = pairs[part]()
    if expected.is_floating_point():
        close(actual, expected, 5e-3)
    else:
        equal(actual, expected)
