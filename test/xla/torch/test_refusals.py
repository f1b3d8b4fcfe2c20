"""Wrong calls are refused at the call, with the reason and a remedy."""
# SPDX-License-Identifier: MIT

import ctypes
import subprocess

import pytest
import torch
import torch_xla
import torch_xla.experimental.triton as xla_triton
import triton
import triton.language as tl
from _add import add_kernel
from triton.backends.compiler import GPUTarget
from triton.xla import handlers
from triton.xla import torch_xla as ours


@triton.jit
def sum_and_count_kernel(x_ptr, count_ptr, output_ptr):
    """Writes to its second array, too."""
    offsets = tl.arange(0, 16)
    tl.store(count_ptr + offsets, offsets)
    tl.store(output_ptr + offsets, tl.load(x_ptr + offsets) + 1)


def ints(size=16):
    return torch.arange(size, dtype=torch.int64).to("xla")


def payload_of_add(x, **more):
    return xla_triton.triton_call(x, x, x, x.numel(), kernel=add_kernel, grid=(2,), BLOCK_SIZE=8, **more)


def call(*arguments):
    return torch_xla._XLAC._xla_gpu_custom_call(*arguments)


def test_shapes():
    payload = payload_of_add(ints())
    with pytest.raises(ValueError, match=r"input 1 .*`y_ptr` of add_kernel.* \[8\]; .* made for \[16\]"):
        call([ints(), ints(8)], payload, [[16]], [torch.int64])
    with pytest.raises(ValueError, match=r"output 0 .*`output_ptr`.* \[4, 4\]; .* made for \[16\]"):
        call([ints(), ints()], payload, [[4, 4]], [torch.int64])


def test_types():
    payload = payload_of_add(ints())
    with pytest.raises(TypeError, match=r"input 0 .*`x_ptr`.* of type i32; the payload was made for i64"):
        call([ints().int(), ints()], payload, [[16]], [torch.int64])
    with pytest.raises(TypeError, match=r"output 0 .* of type fp32; the payload was made for i64"):
        call([ints(), ints()], payload, [[16]], [torch.float32])


def test_number_of_arrays():
    payload = payload_of_add(ints())
    with pytest.raises(ValueError, match=r"takes 3 arrays \(`x_ptr`, `y_ptr`, `output_ptr`\); .* 1 inputs and 1 outputs"):
        call([ints()], payload, [[16]], [torch.int64])
    with pytest.raises(ValueError, match="2 output shapes, but 1 output dtypes"):
        call([ints()], payload, [[16], [16]], [torch.int64])


def test_a_kernel_that_writes_to_an_input():
    x, count, output = ints(), ints(), ints()
    arguments = dict(kernel=sum_and_count_kernel, grid=(1,))
    payload = xla_triton.triton_call(x, count, output, **arguments)
    with pytest.raises(ValueError, match="writes to `count_ptr`, which is input 1 of the node.* make it an output"):
        call([x, count], payload, [[16]], [torch.int64])
    # As a second output the array has the right content.
    found = call([x], payload, [[16], [16]], [torch.int64] * 2)
    assert torch.equal(torch.stack(found).cpu(), torch.stack([torch.arange(16), torch.arange(16) + 1]))
    # On request the kernel may write operands, as in PyTorch/XLA's own payloads.
    payload = xla_triton.triton_call(x, count, output, may_write_operands=True, **arguments)
    (found,) = call([x, count], payload, [[16]], [torch.int64])
    assert torch.equal(found.cpu(), torch.arange(16) + 1)


def test_a_tuned_kernel_may_not_write_to_its_inputs():
    tuned = triton.autotune([triton.Config({"BLOCK_SIZE": size}) for size in (8, 16)], key=[])(add_kernel)
    with pytest.raises(ValueError, match="for kernels of one configuration"):
        xla_triton.triton_call(ints(), ints(), ints(), 16, kernel=tuned, grid=(2,), may_write_operands=True)


@pytest.mark.parametrize("cut", [0, 1, 20, -1])
def test_payloads_that_are_cut(cut):
    payload = payload_of_add(ints())
    with pytest.raises(ValueError, match=r"\[payload-"):
        call([ints(), ints()], payload[:cut], [[16]], [torch.int64])


def test_payloads_of_other_origin():
    with pytest.raises(ValueError, match=r"\[payload-"):
        call([ints(), ints()], b"no payload at all", [[16]], [torch.int64])
    kernel = triton.xla.payload.Kernel()
    kernel.name, kernel.artifact = "add_kernel", b"of another version"
    unreadable = triton.xla.write(triton.xla.payload.KernelCall(kernel, (1, 1, 1), []))
    with pytest.raises(ValueError, match=r"\[artifact-"):
        call([], unreadable, [[16]], [torch.int64])


def test_devices(monkeypatch):
    with pytest.raises(ValueError, match='argument `y_ptr` is a tensor on cpu; .* write `.to\\("xla"\\)`'):
        xla_triton.triton_call(ints(), torch.arange(16), ints(), 16, kernel=add_kernel, grid=(2,), BLOCK_SIZE=8)
    with pytest.raises(TypeError, match="input 1 of add_kernel is no XLA tensor, but cpu"):
        call([ints(), torch.arange(16)], payload_of_add(ints()), [[16]], [torch.int64])
    for_gpu = payload_of_add(ints(), target=GPUTarget("cuda", 90, 32))
    with pytest.raises(RuntimeError, match="is for cuda:90, and PyTorch/XLA runs on CPU devices here"):
        call([ints(), ints()], for_gpu, [[16]], [torch.int64])
    x = ints()
    monkeypatch.setattr(torch_xla.runtime, "device_type", lambda: "TPU")
    with pytest.raises(RuntimeError, match="runs on TPU devices here; .* set PJRT_DEVICE=CPU"):
        payload_of_add(x)


def test_targets_and_kernels():
    with pytest.raises(TypeError, match='target must be "cpu" or a GPUTarget'):
        payload_of_add(ints(), target="cuda")
    with pytest.raises(TypeError, match="kernel must be a function decorated with triton.jit"):
        xla_triton.triton_call(ints(), kernel=len, grid=(1,))
    with pytest.raises(KeyError, match="Keyword argument NO_SUCH was specified but unrecognised"):
        payload_of_add(ints(), NO_SUCH=1)


def test_a_module_without_what_is_needed(tmp_path, monkeypatch):
    """Modules that are stripped, have other content or are not libraries."""
    source, stripped, other = tmp_path / "m.c", tmp_path / "stripped.so", tmp_path / "other.so"
    source.write_text("static int hidden(void) { return 1; } int (*shown)(void) = hidden;\n")
    compiler = ["clang-22", "-shared", "-fPIC", str(source), "-o"]
    subprocess.run([*compiler, str(other)], check=True)
    subprocess.run([*compiler, str(stripped), "-s"], check=True)
    loaded = [ctypes.CDLL(str(other)), ctypes.CDLL(str(stripped))]
    hidden = handlers.find_function(str(other), "hidden")
    assert hidden == ctypes.c_void_p.in_dll(loaded[0], "shown").value
    with pytest.raises(RuntimeError, match=r"other\.so has no function absent"):
        handlers.find_function(str(other), "absent")
    with pytest.raises(RuntimeError, match="stripped.so has no symbol table: it is stripped"):
        handlers.find_function(str(stripped), "hidden")
    with pytest.raises(RuntimeError, match="m.c is not loaded in this process"):
        handlers.find_function(str(source), "hidden")
    monkeypatch.setattr(ours._XLAC, "__file__", str(stripped))
    with pytest.raises(RuntimeError, match="cannot be reached from PyTorch/XLA .* it is stripped; its wheels"):
        ours._api.__wrapped__()


def test_gpus_where_pytorch_xla_has_no_support(monkeypatch):
    payload = payload_of_add(ints(), target=GPUTarget("cuda", 90, 32))
    x = ints()
    monkeypatch.setattr(torch_xla.runtime, "device_type", lambda: "CUDA")
    monkeypatch.setattr(ours, "_own_binding", None)
    monkeypatch.setattr(ours, "current_target", lambda: GPUTarget("cuda", 90, 32))
    with pytest.raises(RuntimeError, match="has no custom calls for GPUs; 2.8.1 is its last"):
        call([x, x], payload, [[16]], [torch.int64])
    monkeypatch.setattr(ours, "current_target", lambda: GPUTarget("cuda", 100, 32))
    with pytest.raises(RuntimeError, match="is for cuda:90, and the GPU here is cuda:100"):
        call([x, x], payload, [[16]], [torch.int64])


def test_what_reaches_the_binding_of_gpus(monkeypatch):
    """PyTorch/XLA's own binding is called, and the handler is registered once before."""
    seen = []
    monkeypatch.setattr(torch_xla.runtime, "device_type", lambda: "CUDA")
    monkeypatch.setattr(ours, "current_target", lambda: GPUTarget("cuda", 90, 32))
    monkeypatch.setattr(ours, "_has_cuda_handler", False)
    monkeypatch.setattr(ours._XLAC, "_xla_register_custom_call_target", lambda *what: seen.append(what))
    monkeypatch.setattr(ours, "_own_binding", lambda *what: seen.append(what) or ["result"])
    x, payload = ints(), payload_of_add(ints())
    for _ in range(2):
        assert call((x, x), payload, [torch.Size([16])], (torch.int64,)) == ["result"]
    registered, first, second = seen
    assert registered == ("triton_kernel_call", handlers.capsule(handlers.CUDA_UNTYPED), "CUDA")
    for inputs, data, shapes, dtypes in (first, second):
        assert [tensor is x for tensor in inputs] == [True, True]
        assert (data, shapes, dtypes) == (payload, [[16]], [torch.int64])


@pytest.mark.skipif(ours._own_binding is None, reason="this PyTorch/XLA has no custom calls for GPUs")
@pytest.mark.parametrize("shape", [(4, 6), (1, 5), (0, 3), (2, 3, 4)])
def test_layouts_that_the_binding_of_gpus_asks_for(shape, monkeypatch):
    """The text of the graph has the layout of each operand: row-major, the last dimension first."""
    monkeypatch.setattr(torch_xla.runtime, "device_type", lambda: "CUDA")
    monkeypatch.setattr(ours, "current_target", lambda: GPUTarget("cuda", 90, 32))
    monkeypatch.setattr(ours, "_has_cuda_handler", True)
    whole = torch.ones(shape, dtype=torch.int64).to("xla")
    views = [whole, whole.transpose(0, -1), whole.transpose(0, -1).neg()]
    for x in views:
        payload = xla_triton.triton_call(x, x, x, x.numel(), kernel=add_kernel, grid=(3,), BLOCK_SIZE=8)
        graph = torch_xla._XLAC._get_xla_tensors_hlo(call([x, x], payload, [x.shape], [x.dtype]))
        extents, order = ",".join(map(str, x.shape)), ",".join(map(str, reversed(range(x.dim()))))
        (line,) = [line for line in graph.splitlines() if "custom_call_target" in line]
        wanted = f"s64[{extents}]{{{order}}}"
        assert f"operand_layout_constraints={{{wanted}, {wanted}}}" in line
        assert f"= ({wanted}) custom-call({wanted} %" in line
