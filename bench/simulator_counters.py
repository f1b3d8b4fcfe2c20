"""Compares the simulated GPU's counters with those of Nsight Compute, and its estimates of time with
measured times, for eleven kernels. Needs an NVIDIA GPU, and `ncu` for the counters:

    python bench/simulator_counters.py [--gpu H200] [--json FILE] [--only add,softmax]

Each part is a process of its own: a part that fails leaves its columns empty.
"""
# SPDX-License-Identifier: MIT

import argparse
import csv
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve()
MARK = "simulator-counters: "

# Ours -> the profiler's; sums of several.
COMPARED = {
    "load sectors": (
        ["global_load_sectors", "global_copy_sectors"],
        ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
    ),
    "load requests": (
        ["global_load_requests", "global_copy_requests"],
        ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
    ),
    "store sectors": (
        ["global_store_sectors"],
        ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
    ),
    "atomic sectors": (
        ["global_atomic_sectors"],
        [
            "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
        ],
    ),
    "shared ld wavefronts": (
        ["shared_load_wavefronts"],
        ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
    ),
    "shared st wavefronts": (
        ["shared_store_wavefronts"],
        ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
    ),
    "shared ld conflicts": (
        ["shared_load_bank_conflicts"],
        ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
    ),
    "shared st conflicts": (
        ["shared_store_bank_conflicts"],
        ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"],
    ),
    "DRAM bytes read": (["dram_read_bytes"], ["dram__bytes_read.sum"]),
    "DRAM bytes written": (["dram_write_bytes"], ["dram__bytes_write.sum"]),
    "warp instructions": (["warp_instructions"], ["smsp__inst_executed.sum"]),
}
# Not all versions of the profiler know these.
OPTIONAL_METRICS = [
    "lts__t_sectors_srcunit_tex_op_read.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "smsp__sass_inst_executed_op_shared_ld.sum",
    "smsp__sass_inst_executed_op_shared_st.sum",
    "smsp__sass_inst_executed_op_ldsm.sum",
    "smsp__sass_inst_executed_op_ldgsts.sum",
    "sm__inst_executed_pipe_tensor.sum",
    "launch__registers_per_thread",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_warps",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "gpu__time_duration.sum",
]


# --- what the child processes do --------------------------------------------------------------------


def each_case(names, device, work) -> None:
    """Prints a line of JSON for each case; one that fails leaves out its own only."""
    from simulator_cases import Cases

    for name in names:
        begin = time.perf_counter()
        try:
            found = work(Cases(device, small=False).make(name))
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {str(error)[:300]}"}
            traceback.print_exc()
        found["wall"] = time.perf_counter() - begin
        print(MARK + json.dumps({"name": name, **found}), flush=True)


def simulate(case, gpu: str) -> dict:
    import triton

    triton.knobs.runtime.sim_counters = True
    is_right = case.is_right()
    counters = case.launch().counters
    return {
        "is_right": is_right,
        "counters": dict(counters),
        "estimate": counters.estimate(gpu),
        "occupancy": counters.occupancy(gpu),
    }


def measure(case, rounds: int = 60) -> dict:
    import torch

    is_right = case.is_right()
    kernel = case.launch()
    torch.cuda.synchronize()
    begins, ends = ([torch.cuda.Event(enable_timing=True) for _ in range(rounds)] for _ in "ab")
    torch.cuda._sleep(5_000_000)  # the launches below queue up after it
    for begin, end in zip(begins, ends, strict=True):
        begin.record()
        case.launch()
        end.record()
    torch.cuda.synchronize()
    times = [begin.elapsed_time(end) for begin, end in zip(begins, ends, strict=True)]
    return {
        "seconds": statistics.median(times) / 1e3,
        "is_right": is_right,
        "registers": kernel.n_regs,
        "spills": kernel.n_spills,
    }


def launch_once(case) -> dict:
    import torch

    kernel = case.launch()
    torch.cuda.synchronize()
    return {"kernel": kernel.name}


def run_part(part: str, names: list[str], gpu: str) -> None:
    if part == "simulate":
        return each_case(names, "cpu", lambda case: simulate(case, gpu))
    return each_case(names, "cuda", measure if part == "measure" else launch_once)


# --- the parent ---------------------------------------------------------------------------------------


def start(part: str, options, prefix=(), **environment) -> subprocess.Popen:
    command = [*prefix, sys.executable, str(HERE), "--part", part, "--only", options.only]
    return subprocess.Popen(
        [*command, "--gpu", options.gpu],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output_of(process: subprocess.Popen, what: str, limit: float) -> str:
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        output, errors = process.communicate()
        print(f"{what}: stopped after {limit:.0f} s")
    if process.returncode:
        print(f"{what}: exit status {process.returncode}; its last lines:\n{errors[-1500:]}")
        if what.startswith("profile"):
            print(output[:1500])
    return output


def results_of(output: str) -> dict[str, dict]:
    lines = [line[len(MARK) :] for line in output.splitlines() if line.startswith(MARK)]
    found = [json.loads(line) for line in lines]
    return {entry["name"]: entry for entry in found}


def profiled(output: str) -> list[dict[str, float]]:
    """The metrics of each kernel in the order of their launches."""
    lines = output.splitlines()
    header = next((at for at, line in enumerate(lines) if line.startswith('"ID"')), None)
    if header is None:
        return []
    body = [line for line in lines[header:] if line.startswith('"')]
    kernels: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(io.StringIO("\n".join(body))):
        try:
            value = float(row["Metric Value"].replace(",", ""))
        except (ValueError, AttributeError):
            continue
        kernels.setdefault(row["ID"], {"kernel": row["Kernel Name"]})[row["Metric Name"]] = value
    return [kernels[key] for key in sorted(kernels, key=int)]


def profile(options, metrics: list[str], what: str) -> dict[str, dict]:
    ncu = shutil.which(options.ncu) or shutil.which("/usr/local/cuda/bin/ncu")
    if ncu is None:
        print("profile: there is no ncu")
        return {}
    kernels = "add|softmax|layernorm|matmul|attention|transpose|transpose_tiles|gather|column_sums|count_values"
    prefix = [ncu, "--csv", "--print-units", "base", "--clock-control", "none"]
    prefix += ["--kernel-name", f"regex:^({kernels})$", "--metrics", ",".join(metrics)]
    output = output_of(start("launch", options, prefix), what, options.limit)
    launched = [name for name, entry in results_of(output).items() if "error" not in entry]
    found = profiled(output)
    if len(found) != len(launched):
        print(f"{what}: {len(launched)} kernels were launched, {len(found)} were profiled")
        print("\n".join(line for line in output.splitlines() if line.startswith("=="))[:1500])
    # Kernels come in the order of their launches; a missing one leaves out the rest of its name.
    entries = {}
    for name in launched:
        wanted = "matmul" if name.startswith("matmul") else name
        fits = re.compile(rf"{wanted}\b")
        at = next((i for i, e in enumerate(found) if fits.match(str(e["kernel"]))), None)
        if at is not None:
            entries[name] = found.pop(at)
    return entries


def percent(ours: float | None, theirs: float | None) -> str:
    if ours is None or theirs is None:
        return ""
    if theirs == 0:
        return "=" if ours == 0 else "inf"
    return f"{100 * (ours - theirs) / theirs:+.1f}%"


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def print_counters(names, simulated, metrics) -> None:
    print("\ncounters: simulated / profiled (difference)")
    for what, (ours, theirs) in COMPARED.items():
        print(f"  {what}")
        for name in names:
            counters = simulated.get(name, {}).get("counters")
            known = metrics.get(name)
            a = None if counters is None else sum(counters[key] for key in ours)
            values = [] if known is None else [known[key] for key in theirs if key in known]
            b = sum(values) if values else None
            if a or b:
                print(f"    {name:<15} {number(a):>12} / {number(b):>12}  {percent(a, b)}")


def print_shared(names, simulated, metrics) -> None:
    """The profiler counts waits for other traffic as conflicts, too, and both kinds as wavefronts."""
    print("\nwavefronts of shared memory without conflicts, and conflicts a wavefront")
    for name in names:
        counters, known = simulated.get(name, {}).get("counters"), metrics.get(name)
        for ours, theirs in (("load", "ld"), ("store", "st")):
            of_pipe = f"pipe_lsu_mem_shared_op_{theirs}.sum"
            b = (known or {}).get(f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{theirs}.sum")
            if not counters or not b:
                continue
            conflicts = known.get(f"l1tex__data_bank_conflicts_{of_pipe}", 0)
            a, own = (
                counters[f"shared_{ours}_{what}"] for what in ("wavefronts", "bank_conflicts")
            )
            shares = f"{own / a if a else 0:6.2f} / {conflicts / b:.2f}"
            clean = f"{number(a - own):>10} / {number(b - conflicts):>10} {percent(a - own, b - conflicts):>8}"
            print(f"  {name:<15} {ours:<6} {clean} {shares}")


def print_times(names, simulated, measured, metrics) -> None:
    print("\ntimes in us: estimated, measured by events, difference; profiled (cold caches)")
    ratios = []
    for name in names:
        ours, theirs = simulated.get(name, {}), measured.get(name, {})
        estimate = ours.get("estimate", {}).get("seconds")
        seconds = theirs.get("seconds")
        bound = next(iter(ours.get("estimate", {}).get("resources", {})), "")
        cold = metrics.get(name, {}).get("gpu__time_duration.sum")
        if estimate and seconds:
            ratios.append(max(estimate / seconds, seconds / estimate))
        texts = [f"{value * 1e6:9.2f}" if value else "        -" for value in (estimate, seconds)]
        texts += [
            percent(estimate, seconds).rjust(8),
            f"{cold / 1e3:9.2f}" if cold else "        -",
        ]
        registers = (
            f"registers {ours.get('occupancy', {}).get('registers')}/{theirs.get('registers')}"
        )
        print(f"  {name:<14}", *texts, f" {bound}; {registers}")
    if ratios:
        print(f"  estimate and time differ by a factor of {statistics.geometric_mean(ratios):.2f}")


def compare(options) -> int:
    names = options.only.split(",")
    begin = time.perf_counter()
    simulation = start("simulate", options, TRITON_DEVICE="sim", TRITON_SIM_COUNTERS="1")
    measured = results_of(output_of(start("measure", options), "measure", options.limit))
    wanted = sorted({metric for _, theirs in COMPARED.values() for metric in theirs})
    metrics = profile(options, wanted, "profile")
    more = profile(options, OPTIONAL_METRICS, "profile, more metrics")
    for name, entry in more.items():
        metrics.setdefault(name, {}).update(entry)
    simulated = results_of(output_of(simulation, "simulate", options.limit))
    for part, entries in (("simulate", simulated), ("measure", measured)):
        for name, entry in entries.items():
            if "error" in entry or not entry["is_right"]:
                print(f"{part}: {name}: {entry.get('error', 'the result is wrong')}")
    print_counters(names, simulated, metrics)
    print_shared(names, simulated, metrics)
    print_times(names, simulated, measured, metrics)
    print(f"{time.perf_counter() - begin:.0f} s")
    if options.json:
        found = {"simulated": simulated, "measured": measured, "profiled": metrics}
        Path(options.json).write_text(json.dumps(found, indent=1))
    return 0 if len(simulated) == len(names) else 1


def main() -> int:
    from simulator_cases import NAMES

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default=",".join(NAMES), help=f"of {', '.join(NAMES)}")
    parser.add_argument("--gpu", default="H200", help="whose rates the estimates use")
    parser.add_argument("--ncu", default="ncu", help="Nsight Compute's command line")
    parser.add_argument("--limit", type=float, default=100, help="seconds for each part")
    parser.add_argument("--json", help="a file for all figures")
    parser.add_argument("--part", choices=("simulate", "measure", "launch"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        run_part(options.part, options.only.split(","), options.gpu)
        return 0
    return compare(options)


if __name__ == "__main__":
    sys.exit(main())
