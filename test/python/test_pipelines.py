"""`nereid compile` runs the named pipelines of `nereid-opt`: kernels of bench/ give the same result in both.

No stage shows the result of `cpu-prepare`; test/unit/target_cpu/PreparePipelineTest.cpp compares that pipeline.
"""
# SPDX-License-Identifier: MIT

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEREID = shutil.which("nereid") or str(ROOT / "build" / "dev" / "bin" / "nereid")
NEREID_OPT = str(Path(NEREID).with_name("nereid-opt"))  # of the same build

pytestmark = pytest.mark.skipif(not Path(NEREID_OPT).exists(), reason="no nereid-opt beside nereid: wheels have none")

MATMUL = "*fp16:16,*fp16:16,*fp16:16,i32:16,i32:16,i32:16,i32:16,i32:16,i32:16,128,128,32"
ATTENTION = "*fp16:16,*fp16:16,*fp16:16,*fp16:16,i32:16,fp32,128,64,64"
KERNELS = {
    "scaled_add": ("kernels.py", "*fp32:16,*fp32:16,*fp32:16,i32:16,fp32,1024"),
    "add": ("kernels.py", "*fp32:16,*fp32:16,*fp32:16,i32,1000"),
    "gelu": ("kernels.py", "*fp16:16,*fp16:16,i32:16,512"),
    "softmax": ("kernels.py", "*fp32:16,*fp32:16,i32,1024"),
    "layernorm": ("kernels.py", "*fp16:16,*fp16:16,*fp16:16,*fp16:16,i32:16,fp32,2048"),
    "matmul": ("spilled_kernels.py", MATMUL),
    "attention": ("spilled_kernels.py", ATTENTION + ",0"),
    "attention causal": ("spilled_kernels.py", ATTENTION + ",1"),
    "attention_backward": (
        "attention_backward.py",
        "*bf16:16,*bf16:16,*bf16:16,*bf16:16,*bf16:16,*bf16:16,*bf16:16,*fp32:16,*fp32:16,fp32,i32:16,64,32,64,1",
    ),
    "grouped_gemm": ("grouped_gemm.py", "*i64:16,*i64:16,*i64:16,*i32:16,*i32:16,i32,132,128,128,64"),
}


def output(*command):
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, f"{' '.join(map(str, command))}\n{made.stderr}"
    return made.stdout


def stages(case, target, emit, folder, *options):
    file, signature = KERNELS[case]
    kernel = case.split()[0]
    source = f"{ROOT / 'bench' / file}:{kernel}"
    output(NEREID, "compile", source, "--signature", signature, "--target", target, "--emit", emit, "-o", folder, *options)
    return {stage: folder / f"{kernel}.{stage}" for stage in emit.split(",")}


def after(pipeline, file):
    return output(NEREID_OPT, *pipeline, file)


@pytest.mark.parametrize("case", KERNELS)
def test_the_cpu_makes_ttir_by_its_pipeline(case, tmp_path):
    made = stages(case, "cpu", "source,ttir", tmp_path)
    assert after(["--cpu-ttir"], made["source"]) == after([], made["ttir"])


@pytest.mark.parametrize("case", KERNELS)
@pytest.mark.parametrize("arch", ["80", "90"])
@pytest.mark.parametrize("num_warps, num_stages", [(4, 3), (8, 2)])
def test_gpus_make_ttgir_by_their_pipelines(case, arch, num_warps, num_stages, tmp_path):
    options = f"arch={arch} num-warps={num_warps} num-stages={num_stages}"
    made = stages(
        case, f"cuda:{arch}", "source,ttir,ttgir", tmp_path, "--num-warps", str(num_warps), "--num-stages", str(num_stages)
    )
    assert after([f"--cuda-ttir={options}"], made["source"]) == after([], made["ttir"])
    assert after([f"--cuda-ttgir={options}"], made["ttir"]) == after([], made["ttgir"])


def test_options_of_pipelines_count(tmp_path):
    made = stages("matmul", "cuda:90", "ttir,ttgir", tmp_path)
    assert after(["--cuda-ttgir=num-warps=8"], made["ttir"]) != after([], made["ttgir"])
