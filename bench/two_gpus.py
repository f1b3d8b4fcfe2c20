"""Kernels on two GPUs beside NCCL, and NCCL + cuBLAS: reads of a peer, all-reduce, all-gather + matmul, NVSHMEM.

    python bench/two_gpus.py                         all sections, those of two_gpus_steps.py too
    python bench/two_gpus.py --sections p2p,reduce   some of them
    python bench/two_gpus.py --quick                 small sizes, one round: does it run?

Each section runs in processes of its own, one per GPU, and checks its results before it times them. Times are medians of
rounds; of the GPUs the slowest counts. Needs torch with NCCL; `triton` is whichever PYTHONPATH names.
"""
# SPDX-License-Identifier: MIT

import argparse
import os
import statistics
import subprocess
import sys
import traceback

# Multicast stays off: a program that fails while it uses it may leave the links unusable for others.
os.environ.update(
    NCCL_NVLS_ENABLE="0", TORCH_SYMM_MEM_DISABLE_MULTICAST="1", NVSHMEM_DISABLE_NVLS="1"
)
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "examples")]

WORLD = 2
PROGRAMS = 64  # that meet, at most


# --- What sections share --------------------------------------------------------------------------


def timed(run, rounds=9, calls=20):
    """Milliseconds of a call: the median of rounds, of the slowest GPU."""
    import torch
    import torch.distributed as dist

    for _ in range(3):
        run()
    found = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        dist.barrier()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(calls):
            run()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / calls)
    slowest = torch.tensor(statistics.median(found), device="cuda")
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return slowest.item()


def say(rank, *words):
    if rank == 0:
        print(*words, flush=True)


class Symmetric:
    """A tensor of symmetric memory, and the table of its addresses on all GPUs."""

    def __init__(self, shape, dtype):
        import torch
        import torch.distributed as dist
        import torch.distributed._symmetric_memory as symm_mem

        self.tensor = symm_mem.empty(shape, dtype=dtype, device="cuda")
        self.handle = symm_mem.rendezvous(self.tensor, dist.group.WORLD.group_name)
        self.tensor.zero_()
        offset = self.tensor.data_ptr() - self.handle.buffer_ptrs[self.handle.rank]
        self.addresses = [pointer + offset for pointer in self.handle.buffer_ptrs]
        self.table = torch.tensor(self.addresses, dtype=torch.int64, device="cuda")
        torch.cuda.synchronize()
        dist.barrier()

    def of(self, peer):
        return self.handle.get_buffer(peer, self.tensor.shape, self.tensor.dtype)


class Epochs:
    """Signals, and a number for each launch that uses them."""

    def __init__(self, programs=PROGRAMS):
        import torch

        self.signals = Symmetric((programs, WORLD), torch.int32)
        self.last = 0

    def next(self):
        self.last += 1
        return self.last


# --- Sections -------------------------------------------------------------------------------------


def p2p(rank, quick):
    """One process, both GPUs: a kernel on the first reads tensors of the second."""
    import torch
    import triton
    from several_gpus import read_peer

    if rank:
        return
    n = 1 << (20 if quick else 28)
    theirs = torch.empty(n, device="cuda:1")
    mine = torch.empty(n, device="cuda:0")
    theirs.copy_(mine)  # turns the access of the first GPU to the second on
    theirs.normal_()
    mine.zero_()
    torch.cuda.synchronize(1)

    @triton.jit
    def copy(x, out, n, BLOCK: triton.language.constexpr):
        at = triton.language.program_id(0) * BLOCK + triton.language.arange(0, BLOCK)
        value = triton.language.load(x + at, mask=at < n)
        triton.language.store(out + at, value, mask=at < n)

    table = torch.tensor([mine.data_ptr(), theirs.data_ptr()], device="cuda:0")
    grid = (triton.cdiv(n, 4096),)
    ways = {
        "kernel, tensor of the peer": lambda: copy[grid](theirs, mine, n, BLOCK=4096),
        "kernel, address in a table": lambda: read_peer[grid](table, mine, n, PEER=1, BLOCK=4096),
        "torch copy_": lambda: mine.copy_(theirs),
    }
    for name, run in ways.items():
        mine.zero_()
        run()
        torch.cuda.synchronize()
        assert torch.equal(mine.cpu(), theirs.cpu()), name
        seconds = alone(run, 3 if quick else 9)
        print(f"p2p  {name:28} {n * 4 / seconds / 1e9:7.1f} GB/s", flush=True)


def alone(run, rounds):
    """Seconds of a call in one process."""
    import torch

    found = []
    for _ in range(rounds):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / 1e3)
    return statistics.median(found)


def reduce(rank, quick):
    import torch
    import torch.distributed as dist
    import triton.language as tl
    from several_gpus import one_shot_all_reduce, two_shot_all_reduce

    for kib in (16, 256) if quick else (16, 64, 256, 1024, 4096, 16384, 65536, 262144):
        n = kib * 512
        buffer, epochs = Symmetric((n,), torch.bfloat16), Epochs()
        out, table, signals = torch.empty_like(buffer.tensor), buffer.table, epochs.signals.table
        values = torch.randint(-8, 9, (n,), device="cuda").to(torch.bfloat16)
        programs = max(1, min(PROGRAMS, n // 2048))
        shared = {"RANK": rank, "WORLD": WORLD, "BLOCK": 2048, "num_warps": 8}

        def one(
            out=out,
            table=table,
            signals=signals,
            n=n,
            epochs=epochs,
            programs=programs,
            shared=shared,
        ):
            one_shot_all_reduce[(programs,)](table, signals, out, n, epochs.next(), **shared)

        def two(table=table, signals=signals, n=n, epochs=epochs, programs=programs, shared=shared):
            two_shot_all_reduce[(programs,)](
                table, signals, n, epochs.next(), dtype=tl.bfloat16, **shared
            )

        def nccl(out=out):
            dist.all_reduce(out)

        want = values.clone()
        dist.all_reduce(want)
        times = {}
        for name, run, result in (
            ("one-shot", one, out),
            ("two-shot", two, buffer.tensor),
            ("nccl", nccl, out),
        ):
            (out if name == "nccl" else buffer.tensor).copy_(values)
            torch.cuda.synchronize()
            dist.barrier()
            run()
            torch.cuda.synchronize()
            assert torch.equal(result, want), (name, kib)
            buffer.tensor.zero_(), out.zero_()
            torch.cuda.synchronize()
            dist.barrier()
            times[name] = timed(run, 3 if quick else 9)
        ours = min(times["one-shot"], times["two-shot"])
        shown = "  ".join(f"{name} {time * 1e3:8.1f} us" for name, time in times.items())
        say(rank, f"reduce  {kib:7} KiB  {shown}  nccl / ours {times['nccl'] / ours:.2f}")


CONFIGS = [  # M, N, K, warps, stages
    (128, 256, 64, 8, 3),
    (128, 256, 64, 8, 4),
    (128, 128, 64, 8, 4),
    (128, 128, 64, 4, 4),
]


class GatherMatmul:
    """All-gather + matmul of one size, by the ways that are compared."""

    def __init__(self, rank, m, n, k):
        import torch

        self.rank, self.m, self.n, self.k = rank, m, n, k
        self.rows = m // WORLD // 8  # of a flag
        generator = torch.Generator("cuda").manual_seed(rank)
        self.part = torch.randn(m // WORLD, k, device="cuda", generator=generator).bfloat16()
        self.b = torch.randn(k, n, device="cuda", generator=generator).bfloat16()
        self.a = Symmetric((m, k), torch.bfloat16)
        self.own = slice(rank * m // WORLD, (rank + 1) * m // WORLD)
        self.a.tensor[self.own] = self.part
        self.c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
        self.gathered = torch.empty(m, k, device="cuda", dtype=torch.bfloat16)
        self.flags = torch.zeros(m // self.rows, device="cuda", dtype=torch.int32)
        self.epochs = Epochs()
        self.copies = torch.cuda.Stream()
        self.fence = Epochs(1)

    def nccl(self):
        import torch
        import torch.distributed as dist

        dist.all_gather_into_tensor(self.gathered, self.part)
        torch.matmul(self.gathered, self.b, out=self.c)

    def cublas(self):
        import torch

        torch.matmul(self.gathered, self.b, out=self.c)

    def launch(self, config, copies, epoch, scope="gpu"):
        from several_gpus import all_gather_matmul

        m, n, k, warps, stages = config
        grid = (copies + self.m // m * (self.n // n),)
        all_gather_matmul[grid](
            self.a.table, self.epochs.signals.table, self.flags, self.a.tensor, self.b, self.c,
            self.m, self.n, self.k, epoch, RANK=self.rank, WORLD=WORLD, COPIES=copies,
            ROWS=self.rows, BLOCK=16384, M=m, N=n, K=k, SCOPE=scope, num_warps=warps, num_stages=stages,
        )  # fmt: skip

    def by_kernel(self, config, copies):
        self.launch(config, copies, self.epochs.next())

    def by_driver(self, config):
        """The driver copies on another stream, and writes the flags after each chunk."""
        import torch
        from torch._C._distributed_c10d import _SymmetricMemory

        epoch = self.epochs.next()
        self.a.handle.barrier(0)
        main = torch.cuda.current_stream()
        self.copies.wait_stream(main)
        with torch.cuda.stream(self.copies):
            for step in range(1, WORLD):
                peer = (self.rank + step) % WORLD
                theirs = self.a.of(peer)
                for chunk in range(
                    peer * self.m // WORLD // self.rows, (peer + 1) * self.m // WORLD // self.rows
                ):
                    rows = slice(chunk * self.rows, (chunk + 1) * self.rows)
                    self.a.tensor[rows].copy_(theirs[rows], non_blocking=True)
                    _SymmetricMemory.stream_write_value32(
                        self.flags.view(torch.uint32), chunk, epoch
                    )
        self.launch(config, 0, epoch, "sys")
        main.wait_stream(self.copies)
        self.a.handle.barrier(1)


def gather(rank, quick):
    import torch

    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    for m, n, k in (
        [(1024, 1024, 1024)]
        if quick
        else [(4096, 4096, 4096), (8192, 8192, 8192), (16384, 4096, 8192), (8192, 14336, 4096)]
    ):
        case = GatherMatmul(rank, m, n, k)
        case.nccl()
        want = case.c.float()
        ways = {
            f"kernel {config}, {copies} copies": (case.by_kernel, config, copies)
            for config in CONFIGS
            for copies in (8, 16, 32)
        }
        ways |= {f"driver {config}": (case.by_driver, config) for config in CONFIGS}
        times = {}
        for name, (run, *arguments) in ways.items():
            found = attempt(
                rank, case, want, name, lambda run=run, arguments=arguments: run(*arguments), quick
            )
            if found is not None:
                times[name] = found
        nccl, cublas = timed(case.nccl, 3 if quick else 9), timed(case.cublas, 3 if quick else 9)
        best = min(times, key=times.get) if times else None
        flops = 2 * m * n * k
        say(
            rank,
            f"gather  {m} x {n} x {k}: NCCL + cuBLAS {nccl:.3f} ms, cuBLAS alone {cublas:.3f} ms",
        )
        for name in sorted(times, key=times.get)[:4]:
            say(
                rank,
                f"        {name}: {times[name]:.3f} ms, {flops / times[name] / 1e9:.0f} TFLOP/s",
            )
        if best:
            say(rank, f"        NCCL + cuBLAS / ours {nccl / times[best]:.2f}")


def attempt(rank, case, want, name, run, quick):
    """The time of a way, None where its configuration does not fit the GPU."""
    import torch
    import torch.distributed as dist
    from triton.runtime.errors import OutOfResources

    case.c.zero_()
    try:
        run()
    except OutOfResources as error:  # on all GPUs alike, before anything was launched
        say(rank, f"        {name}: {error}")
        return None
    torch.cuda.synchronize()
    worst = (case.c.float() - want).abs().max().item()
    assert worst <= 0.02 * want.abs().max().item(), (name, worst)
    dist.barrier()
    return timed(run, 3 if quick else 9)


def nvshmem(rank, quick):
    """put and get by torch's NVSHMEM functions, in kernels of this package."""
    import torch
    import torch.distributed as dist
    import torch.distributed._symmetric_memory as symm_mem

    if not symm_mem.is_nvshmem_available():
        say(rank, "nvshmem  torch was built without NVSHMEM, or its library is missing")
        return
    symm_mem.set_backend("NVSHMEM")
    import torch.distributed._symmetric_memory._nvshmem_triton as functions
    import triton

    put, get, quiet = functions.put, functions.get, functions.quiet

    @functions.requires_nvshmem
    @triton.jit
    def send(dest, source, n, peer):
        put(dest, source, n, peer)
        quiet()

    @functions.requires_nvshmem
    @triton.jit
    def receive(dest, source, n, peer):
        get(dest, source, n, peer)

    n = 1 << (12 if quick else 20)
    source, dest = Symmetric((n,), torch.float32), Symmetric((n,), torch.float32)
    for name, kernel, expected in (("put", send, 2 - rank), ("get", receive, 2 - rank)):
        source.tensor.fill_(rank + 1)
        dest.tensor.zero_()
        torch.cuda.synchronize()
        dist.barrier()
        run = lambda kernel=kernel: kernel[(1,)](dest.tensor, source.tensor, n, 1 - rank)  # noqa: E731
        run()
        torch.cuda.synchronize()
        dist.barrier()
        assert (dest.tensor == expected).all(), name
        time = timed(run, 3 if quick else 9, 5)
        say(
            rank,
            f"nvshmem  {name} of {n * 4 >> 10} KiB: {time * 1e3:.1f} us, {n * 4 / time / 1e6:.1f} GB/s",
        )


# --- Processes ------------------------------------------------------------------------------------


def section(name):
    import two_gpus_steps

    own = {"p2p": p2p, "reduce": reduce, "gather": gather, "nvshmem": nvshmem}
    return {**own, **two_gpus_steps.SECTIONS}[name]


def worker(rank, name, quick, port):
    import torch
    import torch.distributed as dist

    os.environ.update(
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(WORLD)
    )
    torch.cuda.set_device(rank)
    dist.init_process_group(
        "nccl", rank=rank, world_size=WORLD, device_id=torch.device("cuda", rank)
    )
    try:
        section(name)(rank, quick)
        dist.barrier()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)  # the other process may wait for this one
    dist.destroy_process_group()


def run_section(name, quick, port):
    import two_gpus_steps

    if name in two_gpus_steps.IN_ONE_PROCESS:
        section(name)(0, quick)
        return
    import torch.multiprocessing as mp

    mp.spawn(worker, (name, quick, port), nprocs=WORLD)


def main():
    names = ["p2p", "reduce", "gather", "nvshmem", "ddp", "fsdp2", "shard_map"]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sections", default=",".join(names))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=int, default=400, help="limit of a section")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=29511)
    given = parser.parse_args()
    if given.one:
        run_section(given.one, given.quick, given.port)
        return
    failed = []
    for index, name in enumerate(given.sections.split(",")):
        if name not in names:
            parser.error(f"there is no section {name!r}; there are {', '.join(names)}")
        command = [
            sys.executable,
            os.path.abspath(__file__),
            "--one",
            name,
            "--port",
            str(given.port + index),
        ]
        try:
            done = subprocess.run(
                [*command, *(["--quick"] if given.quick else [])], timeout=given.seconds
            )
            failed += [name] if done.returncode else []
        except subprocess.TimeoutExpired:
            failed.append(f"{name} (more than {given.seconds} s)")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
