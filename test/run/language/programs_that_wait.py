"""Programs that wait for others of their launch, for lower and for higher ones, by atomics and loads."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def wait_atomic(at, number):
    while tl.atomic_add(at, 0, sem="acquire") < number:
        pass


@triton.jit
def wait_volatile(at, number):
    while tl.load(at, volatile=True) < number:
        pass


@triton.jit
def wait_swap(at, number):
    while tl.atomic_cas(at, number, number) != number:
        pass


WAITS = [wait_atomic, wait_volatile, wait_swap]


@triton.jit
def rounds(count_ptr, part_ptr, out_ptr, N: tl.constexpr, ROUNDS: tl.constexpr, BLOCK: tl.constexpr, wait: tl.constexpr):
    """Each program reads what all have written before a barrier of the grid."""
    program, at = tl.program_id(0), tl.arange(0, BLOCK)
    for iteration in range(ROUNDS):
        tl.store(part_ptr + (iteration * N + program) * BLOCK + at, (program + 1) * (iteration + 1) + at)
        tl.atomic_add(count_ptr + iteration, 1, sem="release")
        wait(count_ptr + iteration, N)
        total = tl.zeros((BLOCK,), tl.int32)
        for other in range(N):
            total += tl.load(part_ptr + (iteration * N + other) * BLOCK + at, volatile=True)
        tl.store(out_ptr + (program * ROUNDS + iteration) * BLOCK + at, total)


def check_rounds(programs, block, wait, device, times=3, **options):
    at = np.arange(block)
    one = np.stack([programs * (programs + 1) // 2 * (iteration + 1) + programs * at for iteration in range(times)])
    arguments = dict(count_ptr=np.zeros(times, np.int32), part_ptr=np.zeros((times, programs, block), np.int32))
    arguments |= dict(out_ptr=np.zeros((programs, times, block), np.int32), N=programs, ROUNDS=times, BLOCK=block)
    expected = dict(
        count_ptr=np.full(times, programs, np.int32),
        part_ptr=np.stack([[(p + 1) * (iteration + 1) + at for p in range(programs)] for iteration in range(times)]).astype(np.int32),
        out_ptr=np.broadcast_to(one, (programs, times, block)).astype(np.int32),
    )
    check(rounds, (programs,), arguments | dict(wait=wait, **options), expected, device=device)


@pytest.mark.parametrize("wait", WAITS, ids=lambda wait: wait.__name__)
@pytest.mark.parametrize("programs, block", [(2, 1), (5, 16)])
def test_a_barrier_of_the_grid(programs, block, wait, device):
    check_rounds(programs, block, wait, device)


def test_a_cooperative_grid(device):
    check_rounds(8, 32, wait_atomic, device, launch_cooperative_grid=True)


def test_more_programs_than_threads(device):
    check_rounds(40, 1, wait_atomic, device, times=1)


@triton.jit
def chain(flag_ptr, data_ptr, N: tl.constexpr, wait: tl.constexpr):
    """Program p waits for program p + 1."""
    program = tl.program_id(0)
    value = program * 0 + 100
    if program < N - 1:
        wait(flag_ptr + program + 1, 1)
        value = tl.load(data_ptr + program + 1, volatile=True) + 1
    tl.store(data_ptr + program, value)
    tl.debug_barrier()
    tl.atomic_xchg(flag_ptr + program, 1)


@pytest.mark.parametrize("wait", WAITS, ids=lambda wait: wait.__name__)
def test_a_flag_of_the_next_program(wait, device):
    programs = 9
    arguments = dict(flag_ptr=np.zeros(programs, np.int32), data_ptr=np.zeros(programs, np.int32), N=programs)
    expected = dict(flag_ptr=np.ones(programs, np.int32), data_ptr=100 + np.arange(programs, dtype=np.int32)[::-1])
    check(chain, (programs,), arguments | dict(wait=wait), expected, device=device)


@triton.jit
def produce_and_consume(queue_ptr, head_ptr, tail_ptr, out_ptr, ITEMS: tl.constexpr, ROOM: tl.constexpr):
    """Program 0 takes from a queue that program 1 fills: both wait for the other."""
    if tl.program_id(0) == 1:
        for item in range(ITEMS):
            while item - tl.atomic_add(tail_ptr, 0, sem="acquire") >= ROOM:
                pass
            tl.store(queue_ptr + item % ROOM, item * item)
            tl.debug_barrier()
            tl.atomic_xchg(head_ptr, item + 1, sem="release")
    else:
        for item in range(ITEMS):
            while tl.atomic_add(head_ptr, 0, sem="acquire") <= item:
                pass
            tl.store(out_ptr + item, tl.load(queue_ptr + item % ROOM, volatile=True))
            tl.debug_barrier()
            tl.atomic_xchg(tail_ptr, item + 1, sem="release")


def test_a_queue_between_two_programs(device):
    items, room = 11, 3
    one = np.full(1, items, np.int32)
    squares = np.arange(items, dtype=np.int32) ** 2
    queue = np.zeros(room, np.int32)
    for item in range(items):
        queue[item % room] = squares[item]
    arguments = dict(queue_ptr=np.zeros(room, np.int32), head_ptr=one * 0, tail_ptr=one * 0)
    arguments |= dict(out_ptr=np.zeros(items, np.int32), ITEMS=items, ROOM=room)
    check(produce_and_consume, (2,), arguments, dict(queue_ptr=queue, head_ptr=one, tail_ptr=one, out_ptr=squares),
          device=device)  # fmt: skip


@triton.jit
def locked(lock_ptr, total_ptr, x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + at)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.debug_barrier()
    tl.store(total_ptr + at, tl.load(total_ptr + at, volatile=True) + x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


def test_a_lock(device):
    x = values("int32", 30, 16)
    arguments = dict(lock_ptr=np.zeros(1, np.int32), total_ptr=np.zeros(16, np.int32), x_ptr=x, BLOCK=16)
    expected = dict(lock_ptr=np.zeros(1, np.int32), total_ptr=x.sum(0).astype(np.int32))
    check(locked, (30,), arguments, expected, device=device)


@triton.jit
def prefix_sums(x_ptr, out_ptr, state_ptr, BLOCK: tl.constexpr):
    """Decoupled look-back: state[p] is 2^40 and the sum of all before the end of p's block."""
    program = tl.program_id(0)
    at = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at).to(tl.int64)
    before = tl.zeros((), tl.int64)
    if program > 0:
        state = tl.atomic_add(state_ptr + program - 1, 0)
        while state == 0:
            state = tl.atomic_add(state_ptr + program - 1, 0)
        before = state - 1099511627776
    tl.atomic_xchg(state_ptr + program, before + tl.sum(x, 0) + 1099511627776)
    tl.store(out_ptr + at, tl.cumsum(x, 0) + before)


def test_look_back(device):
    programs, block = 24, 8
    x = values("int32", programs * block)
    sums = x.astype(np.int64).cumsum()
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(sums), state_ptr=np.zeros(programs, np.int64), BLOCK=block)
    expected = dict(out_ptr=sums, state_ptr=sums[block - 1 :: block] + 2**40)
    check(prefix_sums, (programs,), arguments, expected, device=device)


@triton.jit
def split_dot(a_ptr, b_ptr, part_ptr, flag_ptr, out_ptr, SPLITS: tl.constexpr, M: tl.constexpr):
    """The first program of a tile adds the parts of the later ones, which it waits for."""
    program, at = tl.program_id(0), tl.arange(0, M)
    tile = at[:, None] * M + at[None, :]
    part = tl.dot(tl.load(a_ptr + program * M * M + tile), tl.load(b_ptr + program * M * M + tile))
    if program == 0:
        for other in range(1, SPLITS):
            while tl.atomic_cas(flag_ptr + other, 1, 1) != 1:
                pass
            part += tl.load(part_ptr + other * M * M + tile, volatile=True)
        tl.store(out_ptr + tile, part)
    else:
        tl.store(part_ptr + program * M * M + tile, part)
        tl.debug_barrier()
        tl.atomic_xchg(flag_ptr + program, 1)


def test_partial_dots_of_later_programs(device):
    splits, m = 4, 16
    a, b = (values("int32", splits, m, m, seed=seed, low=-3, high=3).astype(np.float16) for seed in (1, 2))
    parts = np.einsum("pij,pjk->pik", a.astype(np.float32), b.astype(np.float32))
    stored = parts.copy()
    stored[0] = 0
    flags = np.ones(splits, np.int32)
    flags[0] = 0
    arguments = dict(a_ptr=a, b_ptr=b, part_ptr=np.zeros_like(parts), flag_ptr=np.zeros(splits, np.int32))
    arguments |= dict(out_ptr=np.zeros((m, m), np.float32), SPLITS=splits, M=m)
    check(split_dot, (splits,), arguments, dict(part_ptr=stored, flag_ptr=flags, out_ptr=parts.sum(0)), device=device)


@triton.jit
def tries_in_a_condition(flag_ptr, TRIES: tl.constexpr):
    tries = 0
    while (tl.load(flag_ptr, volatile=True) == 0) & (tries < TRIES):
        tries += 1
    return tries < TRIES


@triton.jit
def tries_downwards(flag_ptr, TRIES: tl.constexpr):
    tries, seen = TRIES, tl.atomic_add(flag_ptr, 0)
    while seen == 0 and tries > 0:
        seen = tl.atomic_add(flag_ptr, 0)
        tries -= 1
    return seen == 1


@triton.jit
def tries_that_are_noted(flag_ptr, TRIES: tl.constexpr):
    tries = 0
    while tries < TRIES and tl.atomic_cas(flag_ptr, 1, 1) == 0:
        tl.store(flag_ptr + 1, 0)
        tries += 1
    return tries < TRIES


@triton.jit
def gives_up(flag_ptr, out_ptr, N: tl.constexpr, tried: tl.constexpr):
    if tl.program_id(0) == N - 1:
        tl.atomic_xchg(flag_ptr, 1)
    elif tried(flag_ptr, 2000):
        tl.store(out_ptr + tl.program_id(0), 1)


@pytest.mark.parametrize("programs", [2, 30])
@pytest.mark.parametrize("tried", [tries_in_a_condition, tries_downwards, tries_that_are_noted],
                         ids=lambda tried: tried.__name__)  # fmt: skip
def test_tries_that_are_counted_last_until_others_have_had_their_turn(tried, programs, device):
    out = np.ones(programs, np.int32)
    out[-1] = 0
    arguments = dict(flag_ptr=np.zeros(2, np.int32), out_ptr=out * 0, N=programs, tried=tried)
    flags = np.array([1, 0], np.int32)
    check(gives_up, (programs,), arguments, dict(flag_ptr=flags, out_ptr=out), device=device)


@triton.jit
def suffix_sums(flag_ptr, own_ptr, sum_ptr, N: tl.constexpr):
    """Look-back in one loop, from later programs: it goes along their flags, and stands where one is not set."""
    program = tl.program_id(0)
    tl.store(own_ptr + program, program)
    tl.debug_barrier()
    tl.atomic_xchg(flag_ptr + program, 1)
    total, other = program, program + 1
    while other < N:
        state = tl.load(flag_ptr + other, volatile=True)
        if state == 2:
            total += tl.load(sum_ptr + other, volatile=True)
            other = N
        elif state == 1:
            total += tl.load(own_ptr + other, volatile=True)
            other += 1
    tl.store(sum_ptr + program, total)
    tl.debug_barrier()
    tl.atomic_xchg(flag_ptr + program, 2)


def test_look_back_in_one_loop(device):
    programs = 40
    own = np.arange(programs, dtype=np.int32)
    sums = own[::-1].cumsum()[::-1].astype(np.int32)
    arguments = dict(flag_ptr=own * 0, own_ptr=own * 0, sum_ptr=own * 0, N=programs)
    check(suffix_sums, (programs,), arguments, dict(flag_ptr=own * 0 + 2, own_ptr=own, sum_ptr=sums), device=device)


@triton.jit
def shows_that_it_waits(flag_ptr, seen_ptr, N: tl.constexpr):
    program = tl.program_id(0)
    if program < N - 1:
        while tl.load(flag_ptr + program + 1, volatile=True) == 0:
            tl.store(seen_ptr + program, 1)
    tl.store(seen_ptr + program, 2)
    tl.atomic_xchg(flag_ptr + program, 1)


def test_stores_while_waiting(device):
    programs = 40
    two = np.full(programs, 2, np.int32)
    arguments = dict(flag_ptr=two * 0, seen_ptr=two * 0, N=programs)
    check(shows_that_it_waits, (programs,), arguments, dict(flag_ptr=two // 2, seen_ptr=two), device=device)


@triton.jit
def reversed_senses(count_ptr, sense_ptr, part_ptr, out_ptr, N: tl.constexpr, ROUNDS: tl.constexpr):
    """The last program to arrive resets the counter and turns the sense that the others wait for."""
    program, sense = tl.program_id(0), 0
    for iteration in range(ROUNDS):
        tl.store(part_ptr + iteration * N + program, program + iteration)
        tl.debug_barrier()
        sense = 1 - sense
        if tl.atomic_add(count_ptr, 1) == N - 1:
            tl.atomic_xchg(count_ptr, 0)
            tl.atomic_xchg(sense_ptr, sense)
        else:
            while tl.atomic_add(sense_ptr, 0) != sense:
                pass
        total = 0
        for other in range(N):
            total += tl.load(part_ptr + iteration * N + other, volatile=True)
        tl.store(out_ptr + iteration * N + program, total)


def test_a_barrier_that_reverses_its_sense(device):
    programs, times = 12, 3
    parts = (np.arange(programs) + np.arange(times)[:, None]).astype(np.int32)
    out = np.broadcast_to(parts.sum(1, keepdims=True), parts.shape).astype(np.int32)
    one = np.ones(1, np.int32)
    arguments = dict(count_ptr=one * 0, sense_ptr=one * 0, part_ptr=parts * 0, out_ptr=out * 0, N=programs, ROUNDS=times)
    check(reversed_senses, (programs,), arguments, dict(count_ptr=one * 0, sense_ptr=one, part_ptr=parts, out_ptr=out),
          device=device)  # fmt: skip


@triton.jit
def in_order_of_tickets(ticket_ptr, serving_ptr, total_ptr, x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    ticket = tl.atomic_add(ticket_ptr, 1)
    while tl.atomic_add(serving_ptr, 0) != ticket:
        pass
    tl.debug_barrier()
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + at)
    tl.store(total_ptr + at, tl.load(total_ptr + at, volatile=True) + x)
    tl.debug_barrier()
    tl.atomic_add(serving_ptr, 1)


def test_a_lock_with_tickets(device):
    x = values("int32", 30, 16)
    one = np.full(1, 30, np.int32)
    arguments = dict(ticket_ptr=one * 0, serving_ptr=one * 0, total_ptr=np.zeros(16, np.int32), x_ptr=x, BLOCK=16)
    expected = dict(ticket_ptr=one, serving_ptr=one, total_ptr=x.sum(0).astype(np.int32))
    check(in_order_of_tickets, (30,), arguments, expected, device=device)
