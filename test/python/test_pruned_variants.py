"""The variants of autotuned kernels whose configurations are pruned."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def plain(x_ptr, n, factor, BLOCK: tl.constexpr, OP: tl.constexpr = None):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, factor, mask=offsets < n)


@pytest.fixture(autouse=True)
def fresh(own_cache, cpu_is_active):
    plain.device_caches.clear()


def tuned_by(prune, *blocks):
    configs = [triton.Config({"BLOCK": block}) for block in blocks]
    return triton.autotune(configs, key=["n"], prune_configs_by={"early_config_prune": prune})(
        plain
    )


def blocks_of(kernel, domain):
    return {variant.constants[(3,)] for variant in kernel.specializations(domain)}


PRUNED = {"x_ptr": np.float32, "n": range(1, 65), "factor": float}


def test_configurations_are_pruned_for_each_value():
    def prune(configs, named, **kwargs):
        return [config for config in configs if config.kwargs["BLOCK"] <= named["n"]] or configs[:1]

    tuned = tuned_by(prune, 16, 32, 128)
    for n in range(1, 65):
        for config in prune(tuned.configs, {"n": n}):
            triton.autotune([config], key=[])(plain)[(1,)](np.zeros(128, np.float32), n, 0.5)
    expected = set(plain.device_caches["cpu"][0])
    assert {variant.key for variant in tuned.specializations(PRUNED)} == expected and blocks_of(
        tuned, PRUNED
    ) == {16, 32}


def test_pruning_reads_dtypes_and_constants():
    def prune(configs, named, OP, **kwargs):
        most = 64 if OP else named["x_ptr"].element_size() * 8
        return [config for config in configs if config.kwargs["BLOCK"] <= most]

    tuned = tuned_by(prune, 16, 32, 64, 128)
    dtype = pytest.importorskip("torch").float16
    assert blocks_of(tuned, {**PRUNED, "x_ptr": dtype, "OP": None}) == {16}
    assert blocks_of(tuned, {**PRUNED, "x_ptr": dtype, "OP": [None, 1]}) == {16, 32, 64}
    seen = tuned_by(
        lambda configs, named, **_: configs[: 1 + (named["x_ptr"].dtype == dtype)], 16, 32
    )
    assert blocks_of(seen, {**PRUNED, "x_ptr": dtype}) == {16, 32}
    assert blocks_of(seen, PRUNED) == {16}


def test_new_configurations_of_pruning_are_listed():
    tuned = tuned_by(lambda configs, named, **_: [triton.Config({"BLOCK": 256})], 16, 32)
    assert blocks_of(tuned, PRUNED) == {256}


@pytest.mark.parametrize("n", [int, range(1 << 40)], ids=str)
def test_all_configurations_where_the_domain_does_not_tell(n):
    tuned = tuned_by(lambda configs, named, **_: configs[: named["n"]], 16, 32)
    assert blocks_of(tuned, {**PRUNED, "n": n}) == {16, 32}
    failing = tuned_by(lambda configs, named, **_: configs[: named["x_ptr"].shape[0]], 16, 32)
    assert blocks_of(failing, PRUNED) == {16, 32}
