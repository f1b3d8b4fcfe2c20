"""Kernels on one GPU that access another one's memory, on a machine with two."""
# SPDX-License-Identifier: MIT

import pytest
import triton
import triton.language as tl

torch = pytest.importorskip("torch", reason="torch is not installed")

N = 4096


@pytest.fixture(autouse=True)
def two_gpus(device):
    if device != "cuda" or torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    if not torch.cuda.can_device_access_peer(0, 1):
        pytest.skip("the GPUs cannot access each other's memory")
    # PyTorch enables peer access at the first copy between two devices.
    torch.ones(1, device="cuda:1").copy_(torch.ones(1, device="cuda:0"))
    torch.ones(1, device="cuda:0").copy_(torch.ones(1, device="cuda:1"))
    torch.cuda.synchronize(0)
    torch.cuda.synchronize(1)


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x + tl.load(y_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def add_all(table, out_ptr, n, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(COUNT):
        source = tl.load(table + i).to(tl.pointer_type(tl.float32))
        total += tl.load(source + at, mask=at < n)
    tl.store(out_ptr + at, total, mask=at < n)


def values(device):
    return torch.randn(N, device=f"cuda:{device}")


def settle():
    torch.cuda.synchronize(0)
    torch.cuda.synchronize(1)


@pytest.mark.parametrize("current", [0, 1])
@pytest.mark.parametrize("places", [(0, 1, 0), (0, 1, 1), (1, 1, 0), (1, 1, 1), (0, 0, 1)])
def test_kernels_run_on_the_current_gpu(current, places):
    x, y, out = (values(each) for each in places)
    settle()
    with torch.cuda.device(current):
        before = torch.cuda.Event(enable_timing=True)
        for _ in range(2):
            add[(N // 256,)](x, y, out, N, BLOCK=256)
        before.record()
        before.synchronize()  # of the current device's stream alone
    torch.testing.assert_close(out.cpu(), x.cpu() + y.cpu())


@pytest.mark.parametrize("current", [0, 1])
def test_addresses_of_both_gpus_in_a_table(current):
    parts = [values(0), values(1), values(0)]
    out = values(current)
    table = torch.tensor([each.data_ptr() for each in parts], device=out.device)
    settle()
    with torch.cuda.device(current):
        add_all[(N // 256,)](table, out, N, COUNT=3, BLOCK=256)
    torch.testing.assert_close(out.cpu(), sum(each.cpu() for each in parts))


def test_streams_are_those_of_the_current_gpu():
    x, y, out = values(1), values(1), values(1)
    settle()
    with torch.cuda.device(0), torch.cuda.stream(torch.cuda.Stream(0)):
        add[(N // 256,)](x, y, out, N, BLOCK=256)
        torch.cuda.current_stream().synchronize()
    torch.testing.assert_close(out.cpu(), x.cpu() + y.cpu())


def test_memory_of_the_host_and_of_both_gpus():
    x, y, out = values(0), torch.randn(N).pin_memory(), values(1)
    settle()
    with torch.cuda.device(0):
        for _ in range(2):
            add[(N // 256,)](x, y, out, N, BLOCK=256)
    settle()
    torch.testing.assert_close(out.cpu(), x.cpu() + y)
