"""All-reduce and all-gather + matmul on several GPUs, by loads and stores of peers' memory and flags.

A table has an address for each GPU: of its buffer, or of its signals, which are int32 and zero at first. Each launch has
an `epoch`, one more than the launch before it, so that signals are never reset. The GPUs launch the same grid.
"""

# SPDX-License-Identifier: MIT
import triton
import triton.language as tl


@triton.jit
def address_of(table, index, dtype: tl.constexpr):
    """An entry of a table as a pointer to elements, aligned to 16 bytes."""
    return tl.multiple_of(tl.load(table + index).to(tl.pointer_type(dtype)), 16)


@triton.jit
def meet(signals, channel, value, RANK: tl.constexpr, WORLD: tl.constexpr):
    """Programs of all GPUs meet: what each has read and written before comes before what any does after."""
    tl.debug_barrier()
    for peer in tl.static_range(WORLD):
        theirs = address_of(signals, peer, tl.int32) + channel * WORLD + RANK
        tl.atomic_xchg(theirs, value, sem="release", scope="sys")
    for peer in tl.static_range(WORLD):
        own = address_of(signals, RANK, tl.int32) + channel * WORLD + peer
        while tl.atomic_add(own, 0, sem="acquire", scope="sys") < value:
            pass
    tl.debug_barrier()


@triton.jit
def read_peer(buffers, out, n, PEER: tl.constexpr, BLOCK: tl.constexpr):
    """Copies a peer's buffer."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    source = address_of(buffers, PEER, out.dtype.element_ty)
    tl.store(out + at, tl.load(source + at, mask=at < n), mask=at < n)


@triton.jit
def sum_of_all(buffers, at, mask, dtype: tl.constexpr, WORLD: tl.constexpr):
    total = tl.load(address_of(buffers, 0, dtype) + at, mask=mask).to(tl.float32)
    for peer in tl.static_range(1, WORLD):
        total += tl.load(address_of(buffers, peer, dtype) + at, mask=mask).to(tl.float32)
    return total


@triton.jit(do_not_specialize=["epoch"])
def one_shot_all_reduce(
    buffers, signals, out, n, epoch, RANK: tl.constexpr, WORLD: tl.constexpr, BLOCK: tl.constexpr
):
    """Each GPU reads all buffers: one step, for small ones."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    meet(signals, program, 2 * epoch - 1, RANK, WORLD)
    for begin in range(program * BLOCK, n, programs * BLOCK):
        at = begin + tl.arange(0, BLOCK)
        total = sum_of_all(buffers, at, at < n, out.dtype.element_ty, WORLD)
        tl.store(out + at, total.to(out.dtype.element_ty), mask=at < n)
    meet(signals, program, 2 * epoch, RANK, WORLD)  # buffers may change now


@triton.jit(do_not_specialize=["epoch"])
def two_shot_all_reduce(
    buffers, signals, n, epoch,
    RANK: tl.constexpr, WORLD: tl.constexpr, BLOCK: tl.constexpr, dtype: tl.constexpr,
):  # fmt: skip
    """Each GPU sums one part, and stores it into all buffers: each byte crosses a link twice, for large ones."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    meet(signals, program, 2 * epoch - 1, RANK, WORLD)
    part = tl.cdiv(tl.cdiv(n, WORLD), BLOCK) * BLOCK
    end = min(n, (RANK + 1) * part)
    for begin in range(RANK * part + program * BLOCK, end, programs * BLOCK):
        at = begin + tl.arange(0, BLOCK)
        total = sum_of_all(buffers, at, at < end, dtype, WORLD).to(dtype)
        for peer in tl.static_range(WORLD):
            tl.store(address_of(buffers, peer, dtype) + at, total, mask=at < end)
    meet(signals, program, 2 * epoch, RANK, WORLD)


@triton.jit(do_not_specialize=["epoch"])
def multimem_all_reduce(
    multicast, signals, n, epoch, RANK: tl.constexpr, WORLD: tl.constexpr, BLOCK: tl.constexpr
):
    """Two shots by the switch: a multicast address stands for the float32 buffers of all GPUs. `n` is a multiple of 4;
    BLOCK is at least the number of threads, since assembly runs in each thread that has a copy of an element.
    """
    program, programs = tl.program_id(0), tl.num_programs(0)
    meet(signals, program, 2 * epoch - 1, RANK, WORLD)
    part = tl.cdiv(n // 4, WORLD)
    end = min(n // 4, (RANK + 1) * part)
    memory = multicast.to(tl.pointer_type(tl.float32))
    for begin in range(RANK * part + program * BLOCK, end, programs * BLOCK):
        at = begin + tl.arange(0, BLOCK)
        tl.inline_asm_elementwise(
            """
            {
              .reg .pred %inside;
              .reg .f32 %a, %b, %c, %d;
              setp.ne.u32 %inside, $2, 0;
              @%inside multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%a, %b, %c, %d}, [$1];
              @%inside multimem.st.relaxed.sys.global.v4.f32 [$1], {%a, %b, %c, %d};
              mov.u32 $0, 0;
            }
            """,
            "=r,l,r",
            [memory + at * 4, (at < end).to(tl.int32)],
            dtype=tl.int32,
            is_pure=False,
            pack=1,
        )
    meet(signals, program, 2 * epoch, RANK, WORLD)


@triton.jit
def gather_rows(
    buffers, signals, flags, m, k, epoch, dtype: tl.constexpr, RANK: tl.constexpr, WORLD: tl.constexpr,
    COPIES: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Copies the parts of other GPUs into this one's buffer, ROWS at a time, each of which sets a flag."""
    program = tl.program_id(0)
    meet(signals, program, 2 * epoch - 1, RANK, WORLD)
    chunks = m // WORLD // ROWS
    own = address_of(buffers, RANK, dtype)
    for step in tl.static_range(1, WORLD):
        peer = (RANK + step) % WORLD
        theirs = address_of(buffers, peer, dtype)
        for chunk in range(peer * chunks + program, (peer + 1) * chunks, COPIES):
            first = tl.cast(chunk, tl.int64) * ROWS * k
            for begin in range(0, ROWS * k, BLOCK):
                at = first + begin + tl.arange(0, BLOCK)
                tl.store(own + at, tl.load(theirs + at))
            tl.debug_barrier()
            tl.atomic_xchg(flags + chunk, epoch, sem="release", scope="gpu")
    meet(signals, program, 2 * epoch, RANK, WORLD)


@triton.jit
def matmul_tile(
    a, b, c, flags, tile, m, n, k, epoch, RANK: tl.constexpr, WORLD: tl.constexpr,
    ROWS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr,
    SCOPE: tl.constexpr,
):  # fmt: skip
    """One tile of the result, its own part's first; waits for the rows that it needs."""
    across, down = n // N, m // M
    group = tile // (GROUP * across)
    row = group * GROUP + tile % GROUP
    column = tile % (GROUP * across) // GROUP
    row = (row + RANK * (down // WORLD)) % down
    chunk = row * M // ROWS
    if row // (down // WORLD) != RANK:
        while tl.atomic_add(flags + chunk, 0, sem="acquire", scope=SCOPE) < epoch:
            pass
        tl.debug_barrier()
        # TMA reads what ordinary stores have written.
        tl.inline_asm_elementwise(
            "fence.proxy.async.global; mov.u32 $0, 0;", "=r", [], tl.int32, is_pure=False, pack=1
        )
    left = tl.make_tensor_descriptor(a, [m, k], [k, 1], [M, K])
    right = tl.make_tensor_descriptor(b, [k, n], [n, 1], [K, N])
    out = tl.make_tensor_descriptor(c, [m, n], [n, 1], [M, N])
    total = tl.zeros([M, N], tl.float32)
    for at in range(0, k, K):
        total = tl.dot(left.load([row * M, at]), right.load([at, column * N]), total)
    out.store([row * M, column * N], total.to(c.dtype.element_ty))


@triton.jit(do_not_specialize=["epoch"])
def all_gather_matmul(
    buffers, signals, flags, a, b, c, m, n, k, epoch, RANK: tl.constexpr, WORLD: tl.constexpr,
    COPIES: tl.constexpr, ROWS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    GROUP: tl.constexpr = 8, BLOCK: tl.constexpr = 4096, SCOPE: tl.constexpr = "gpu",
):  # fmt: skip
    """`c = a @ b`, where each GPU has a part of the rows of `a`, in its place of `a`: `buffers` has all GPUs' addresses of
    `a`. The first COPIES programs copy, the others multiply. With COPIES=0 somebody else sets the flags, one for ROWS
    rows, which are a multiple of M: the driver after a copy, and SCOPE is "sys".
    """
    program = tl.program_id(0)
    if COPIES == 0:
        matmul_tile(
            a, b, c, flags, program, m, n, k, epoch, RANK, WORLD, ROWS, M, N, K, GROUP, SCOPE
        )
    elif program < COPIES:
        gather_rows(
            buffers, signals, flags, m, k, epoch, a.dtype.element_ty, RANK, WORLD, COPIES, ROWS, BLOCK
        )  # fmt: skip
    else:
        matmul_tile(
            a, b, c, flags, program - COPIES, m, n, k, epoch, RANK, WORLD, ROWS, M, N, K, GROUP, SCOPE
        )  # fmt: skip
