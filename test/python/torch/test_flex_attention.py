"""FlexAttention by the Triton templates of PyTorch, run on the CPU and compared with eager.

PyTorch sends CPU tensors to a template in C++; `on_triton` removes those branches.
"""
# SPDX-License-Identifier: MIT

import inspect

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
flex = pytest.importorskip("torch.nn.attention.flex_attention")

TOLERANCE = {torch.float32: 2e-3, torch.float16: 1e-2, torch.bfloat16: 4e-2}


@pytest.fixture
def on_triton(monkeypatch):
    from torch._inductor.kernel.flex import flex_attention as lowering
    from torch._inductor.kernel.flex import flex_decoding

    branch = 'if query.get_device().type == "cpu":'
    source = inspect.getsource(lowering.flex_attention)
    if branch not in source or not hasattr(flex, "_apply_kernel_options"):
        pytest.skip("this torch lowers FlexAttention in another way")
    scope = dict(vars(lowering))
    body = source[source.index("def flex_attention(") :].replace(branch, "if False:")
    exec(compile(body, lowering.__file__, "exec"), scope)  # noqa: S102
    original = flex._apply_kernel_options

    def with_logsumexp(*args, **kwargs):
        options = original(*args, **kwargs)
        options["OUTPUT_LOGSUMEXP"] = True
        return options

    monkeypatch.setattr(lowering, "lower_cpu", scope["flex_attention"])
    monkeypatch.setattr(flex_decoding, "get_split_k", lambda *sizes: 4)
    monkeypatch.setattr(flex, "_validate_device", lambda *tensors: None)
    monkeypatch.setattr(flex, "_apply_kernel_options", with_logsumexp)
    with torch._inductor.config.patch(cpu_backend="triton", force_disable_caches=True):
        yield


def causal(b, h, q, k):
    return q >= k


def window(b, h, q, k):
    return (q >= k) & (q - k < 40)


def alibi(score, b, h, q, k):
    return score + (k - q) * torch.exp2(-(h + 1) * 2.0)


def softcap(score, b, h, q, k):
    return 20 * torch.tanh(score / 20)


def close(actual, expected):
    error = (actual.float() - expected.float()).abs().max()
    assert error <= TOLERANCE[expected.dtype] * expected.float().abs().max()


def inputs(dtype, heads, queries, keys, size=32, grad=True):
    torch.manual_seed(0)
    shapes = [(2, heads[0], queries, size), *[(2, heads[1], keys, size)] * 2]
    return [torch.randn(shape, dtype=dtype, requires_grad=grad) for shape in shapes]


def check(tensors, leaves=(), **kwargs):
    """Outputs and, for tensors that require them, gradients."""
    outputs = [
        function(*tensors, **kwargs)
        for function in (torch.compile(flex.flex_attention), flex.flex_attention)
    ]
    close(*outputs)
    leaves = [tensor for tensor in (*tensors, *leaves) if tensor.requires_grad]
    if leaves:
        weight = torch.randn_like(outputs[0])
        for pair in zip(
            *[torch.autograd.grad((out * weight).sum(), leaves) for out in outputs], strict=True
        ):
            close(*pair)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_causal_mask_and_grouped_heads(dtype, on_triton):
    mask = flex.create_block_mask(causal, None, None, 140, 140, device="cpu")
    check(inputs(dtype, (4, 2), 140, 140), block_mask=mask, enable_gqa=True)


def test_window_and_score(on_triton):
    mask = flex.create_block_mask(window, None, None, 256, 256, device="cpu")
    check(inputs(torch.float32, (2, 2), 256, 256), block_mask=mask, score_mod=softcap)


def test_learned_bias(on_triton):
    bias = torch.randn(130, 170, requires_grad=True)

    def biased(score, b, h, q, k):
        return score + bias[q, k]

    check(inputs(torch.float32, (2, 2), 130, 170), [bias], score_mod=biased)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_decoding(dtype, on_triton):
    tensors = inputs(dtype, (4, 2), 3, 211, grad=False)
    check(tensors, score_mod=alibi, enable_gqa=True)
