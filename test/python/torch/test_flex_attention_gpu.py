"""FlexAttention, forward and backward: compiled kernels against the same call in float64 without a compiler. GPU only:
for CPUs PyTorch writes FlexAttention in C++."""
# SPDX-License-Identifier: MIT

import math

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

B, H, L, D = 2, 4, 384, 64
DTYPES = [pytest.param(t, id=str(t)[6:]) for t in (torch.float16, torch.bfloat16, torch.float32)]


@pytest.fixture(autouse=True)
def gpu_only(device):
    if device != "cuda":
        pytest.skip("PyTorch compiles FlexAttention for CPUs with its C++ templates")
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("highest")


def inputs(dtype, q_len=L, kv_len=L, q_heads=H, kv_heads=H, dim=D, v_dim=None, grad=True):
    shapes = [(q_heads, q_len, dim), (kv_heads, kv_len, dim), (kv_heads, kv_len, v_dim or dim)]
    return [
        torch.randn(B, *shape, device="cuda", dtype=dtype, requires_grad=grad) for shape in shapes
    ]


def run(function, tensors, extra, dtype, cotangent):
    """Output and gradients of `function(*tensors, *extra)`, all in `dtype`."""
    tensors = [t.detach().to(dtype).requires_grad_(t.requires_grad) for t in tensors]
    extra = [t.detach().to(dtype).requires_grad_(True) for t in extra]
    out = function(tensors, extra)
    wanted = [t for t in tensors + extra if t.requires_grad]
    grads = torch.autograd.grad(out, wanted, cotangent.to(dtype)) if wanted else ()
    return [out, *grads]


def check(tensors, *, score_mod=None, block_mask=None, extra=(), **options):
    """Compiled FlexAttention must be as near to float64 as uncompiled of the same type, within a factor of 3.

    A `score_mod` takes the tensors of `extra`, whose gradients are compared too, before the score.
    """
    from torch.nn.attention.flex_attention import flex_attention

    def attend(tensors, extra):
        def modified(score, *where):
            return score_mod(*extra, score, *where)

        mod = modified if score_mod else None
        return flex_attention(*tensors, score_mod=mod, block_mask=block_mask, **options)

    dtype = tensors[0].dtype
    shape = (*tensors[0].shape[:3], tensors[2].shape[3])
    cotangent = torch.randn(shape, device="cuda", dtype=dtype)
    exact = run(attend, tensors, list(extra), torch.float64, cotangent)
    plain = run(attend, tensors, list(extra), dtype, cotangent)
    ours = run(torch.compile(attend, fullgraph=True), tensors, list(extra), dtype, cotangent)
    floor = {torch.float32: 1e-5}.get(dtype, 1e-3)
    # Terms as large as the output may cancel in a gradient (completely, with one key): float32 rounds those terms.
    cancelled = 1e-6 * exact[0].abs().max().item()
    for index, (e, p, o) in enumerate(zip(exact, plain, ours, strict=True)):
        scale = e.abs().max().item()
        error = (o.double() - e).abs().max().item()
        allowed = 3 * (p.double() - e).abs().max().item() + floor * scale + cancelled
        assert torch.isfinite(o).all() and error <= allowed, (index, error, allowed)


def noop(score, b, h, q, kv):
    return score


def relative_positional(score, b, h, q, kv):
    return score + (q - kv)


def alibi(score, b, h, q, kv):
    return score + torch.exp2(-((h + 1) * 8.0 / H)) * (kv - q)


def soft_cap(score, b, h, q, kv):
    return 20 * torch.tanh(score / 20)


def causal_score(score, b, h, q, kv):
    return torch.where(q >= kv, score, -float("inf"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "score_mod",
    [noop, relative_positional, alibi, soft_cap, causal_score],
    ids=lambda f: f.__name__,
)
def test_score_mods(score_mod, dtype):
    check(inputs(dtype), score_mod=score_mod)


def causal(b, h, q, kv):
    return q >= kv


def sliding_window(b, h, q, kv):
    return (q >= kv) & (q - kv <= 100)


def prefix_lm(b, h, q, kv):
    return (kv < 70) | (q >= kv)


def dilated(b, h, q, kv):
    return ((q - kv).abs() % 3 == 0) & ((q - kv).abs() <= 150)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "mask", [causal, sliding_window, prefix_lm, dilated], ids=lambda f: f.__name__
)
def test_block_masks(mask, dtype):
    from torch.nn.attention.flex_attention import create_block_mask

    check(inputs(dtype), block_mask=create_block_mask(mask, None, None, L, L))


@pytest.mark.parametrize("dtype", DTYPES)
def test_documents(dtype):
    from torch.nn.attention.flex_attention import create_block_mask

    document = torch.tensor([5] * 100 + [6] * 27 + [7] * (L - 127), device="cuda")

    def mask(b, h, q, kv):
        return (document[q] == document[kv]) & (q >= kv)

    check(inputs(dtype), block_mask=create_block_mask(mask, None, None, L, L))


@pytest.mark.parametrize("dtype", DTYPES)
def test_score_mod_with_block_mask_and_grouped_heads(dtype):
    from torch.nn.attention.flex_attention import create_block_mask

    check(
        inputs(dtype, q_heads=8, kv_heads=2),
        score_mod=soft_cap,
        block_mask=create_block_mask(causal, None, None, L, L),
        enable_gqa=True,
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_learned_bias_of_pairs(dtype):
    def biased(bias, score, b, h, q, kv):
        return score + bias[h, q, kv]

    bias = torch.randn(H, L, L, device="cuda", dtype=dtype)
    check(inputs(dtype), score_mod=biased, extra=[bias])


@pytest.mark.parametrize("dtype", DTYPES)
def test_learned_bias_by_distance_and_head(dtype):
    def biased(table, gate, score, b, h, q, kv):
        return score * torch.sigmoid(gate[h]) + table[q - kv + L]

    table = torch.randn(2 * L, device="cuda", dtype=dtype)
    gate = torch.randn(H, device="cuda", dtype=dtype)
    check(inputs(dtype), score_mod=biased, extra=[table, gate])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("q_len, kv_len", [(1, 512), (7, 300), (130, 259), (1, 1)])
def test_lengths(q_len, kv_len, dtype):
    """A call with few queries takes the decoding kernel."""
    check(inputs(dtype, q_len, kv_len), score_mod=relative_positional)


@pytest.mark.parametrize("dtype", DTYPES)
def test_decoding_with_a_cache_and_an_offset(dtype):
    from torch.nn.attention.flex_attention import create_block_mask

    offset = torch.tensor(200, device="cuda")

    def mask(b, h, q, kv):
        return q + offset >= kv

    tensors = inputs(dtype, 1, 512, q_heads=8, kv_heads=2, grad=False)
    check(tensors, block_mask=create_block_mask(mask, None, None, 1, 512), enable_gqa=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim, v_dim", [(16, 16), (128, 128), (64, 128), (96, 96)])
def test_head_dimensions(dim, v_dim, dtype):
    check(inputs(dtype, dim=dim, v_dim=v_dim), score_mod=causal_score)


@pytest.mark.parametrize("dtype", DTYPES)
def test_log_sum_exp(dtype):
    from torch.nn.attention.flex_attention import flex_attention

    tensors = inputs(dtype, grad=False)
    _, lse = torch.compile(flex_attention, fullgraph=True)(*tensors, return_lse=True)
    q, k, _ = (t.double() for t in tensors)
    exact = torch.logsumexp(q @ k.mT / math.sqrt(D), dim=-1)
    torch.testing.assert_close(lse.double(), exact, rtol=1e-3, atol=1e-3)


def test_a_row_that_sees_nothing_is_zero():
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def mask(b, h, q, kv):
        return (q >= 200) & (q >= kv)

    tensors = inputs(torch.float16)
    out = torch.compile(flex_attention, fullgraph=True)(
        *tensors, block_mask=create_block_mask(mask, None, None, L, L)
    )
    assert (out[:, :, :200] == 0).all() and torch.isfinite(out).all()


def test_dynamic_lengths():
    from torch.nn.attention.flex_attention import flex_attention

    compiled = torch.compile(flex_attention, fullgraph=True, dynamic=True)
    for length in (200, 333, 512):
        tensors = inputs(torch.float16, length, length, grad=False)
        exact = flex_attention(*(t.double() for t in tensors), score_mod=alibi)
        out = compiled(*tensors, score_mod=alibi)
        torch.testing.assert_close(out.double(), exact, rtol=2e-2, atol=2e-3)
