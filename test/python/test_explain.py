"""`kernel.explain(...)` and the stages behind it: every line exists, the SVG names its lanes, both targets answer."""
# SPDX-License-Identifier: MIT

import linecache
from xml.etree import ElementTree

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

H100, A100 = GPUTarget("cuda", 90, 32), GPUTarget("cuda", 80, 32)
UNITS = {"tensor cores", "memory copies", "shared memory", "FMA/ALU", "special functions"}


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def scaled(x, factor):
    return tl.exp(x) * factor


@triton.jit
def matmul(a, b, out, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        x = tl.load(a + m[:, None] * k + (start + d)[None, :])
        y = tl.load(b + (start + d)[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc)
    acc = scaled(tl.softmax(acc), 2.0)
    tl.store(out + m[:, None] * N + n[None, :], acc)


MATMUL = {"a": "*fp16", "b": "*fp16", "out": "*fp32", "k": "i32"}
ALIGNED = {(index,): [["tt.divisibility", 16]] for index in range(4)}
SHAPE = {"M": 64, "N": 64, "K": 64}


def explain_matmul(target):
    return matmul.explain(signature=MATMUL, constants=SHAPE, attrs=ALIGNED, target=target)


def lines_of(explanation):
    return {
        (found["file"], found["line"]) for found in explanation.data["findings"] if "line" in found
    }


@pytest.mark.parametrize("target", [H100, A100, GPUTarget("cpu", "x86-64-v3", 1)])
def test_every_line_exists_and_is_of_the_user(target):
    found = lines_of(explain_matmul(target))
    assert found
    for file, line in found:
        assert file == __file__
        assert linecache.getline(file, line).strip()
    numbers = {line for _, line in found}
    assert line_of("acc = tl.dot(x, y, acc)") in numbers
    assert line_of("return tl.exp(x) * factor") in numbers or target.backend == "cpu"


def line_of(text):
    return next(
        number
        for number, line in enumerate(linecache.getlines(__file__), 1)
        if line.strip() == text
    )


def test_the_text_quotes_the_source():
    text = str(explain_matmul(H100))
    assert f"{line_of('acc = tl.dot(x, y, acc)')}          acc = tl.dot(x, y, acc)\n" in text
    assert "pipelined: loads run up to 2 iterations ahead" in text
    assert "by wgmma" in text


def test_a_masked_load_names_the_reason():
    x = np.zeros(1001, np.float32)
    explanation = add.explain(x, x, x, 1001, BLOCK=1024, target=H100)
    line = line_of(
        "tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)"
    )
    load = next(found for found in explanation.at_line(line) if found["kind"] == "load")
    assert load["vector_bytes"] == 4
    assert load["count"] == 2
    assert load["reason"].startswith("the mask may change after every element")
    aligned = add.explain(x, x, x, 1008, BLOCK=1024, target=H100)
    load = next(found for found in aligned.at_line(line) if found["kind"] == "load")
    assert load["vector_bytes"] == 16
    assert "reason" not in load


@pytest.mark.parametrize("target", [H100, A100])
def test_the_svg_names_the_lanes(target):
    explanation = explain_matmul(target)
    root = ElementTree.fromstring(explanation.svg)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    for unit in ("tensor cores", "memory copies"):
        assert f"all warps: {unit}" in texts
    (loop,) = explanation.data["loops"]
    titles = list(root.iter("{http://www.w3.org/2000/svg}title"))
    assert len(titles) == len(loop["bars"]) > 0


def test_bars_have_known_units_and_lines():
    data = explain_matmul(H100).data
    (loop,) = data["loops"]
    lines = {found["line"] for found in data["findings"] if "line" in found}
    for bar in loop["bars"]:
        assert bar["unit"] in UNITS
        assert bar["begin"] < bar["end"] <= 2 * loop["cycles_per_iteration"] + 1
        assert bar["line"] in lines
    assert set(loop["busy_cycles"]) <= UNITS


def test_notebooks_show_findings_and_loops():
    page = explain_matmul(H100)._repr_html_()
    assert "<pre>matmul for sm_90a" in page and "acc = tl.dot(x, y, acc)" in page
    assert page.endswith("</svg>") or page.rstrip().endswith("</svg>")
    x = np.zeros(16, np.float32)
    assert "<svg" not in add.explain(x, x, x, 16, BLOCK=16, target=A100)._repr_html_()


def test_a_kernel_without_loops_has_an_svg_that_says_so():
    x = np.zeros(16, np.float32)
    root = ElementTree.fromstring(add.explain(x, x, x, 16, BLOCK=16, target=A100).svg)
    assert "add: no loop with a schedule" in [element.text for element in root]


def test_arguments_of_a_launch_are_explained_on_the_cpu():
    x = np.zeros(1000, np.float32)
    text = str(add.explain(x, x, x, 1000, BLOCK=256, grid=(4,)))
    assert text.startswith("add for cpu:")
    assert (
        "32 elements at a time" in text
        or "64 elements at a time" in text
        or "16 elements at a time" in text
    )


def test_arguments_and_a_signature_contradict_each_other():
    with pytest.raises(TypeError, match="arguments or a signature"):
        matmul.explain(1, signature=MATMUL, constants=SHAPE, target=H100)


def test_explanations_are_made_on_request_alone():
    kernel = explain_matmul(A100).kernel
    assert not [stage for stage in kernel.asm if stage.startswith("plan.")]
    assert not [stage for stage in kernel._code.stages() if stage.startswith("plan.")]
