"""Aggregates in host code: fields, defaults, copies, inheritance."""
# SPDX-License-Identifier: MIT

import pytest
import triton
import triton.language as tl


def test_aggregates_on_the_host():
    with pytest.raises(TypeError, match="Aggregates can only inherit from other aggregates"):

        @triton.aggregate
        class Wrong(list):
            x: tl.tensor

    @triton.aggregate
    class Config:
        size: tl.constexpr
        names: tl.tuple = ("a", "b")

    config = Config(4)
    assert config.size.value == 4 and len(config.names) == 2
    immutable = r"cannot assign to field 'size' on immutable aggregate Config; .*aggregate_replace\(\)"
    with pytest.raises(AttributeError, match=immutable):
        config.size = 5
    with pytest.raises(TypeError, match="missing the field 'size'"):
        Config()
    with pytest.raises(TypeError, match="no field 'other'"):
        tl.aggregate_replace(config, other=1)
    with pytest.raises(TypeError, match="expects an aggregate instance"):
        tl.aggregate_replace(3, size=1)
    assert tl.aggregate_replace(config, size=9).size.value == 9
    assert list(Config.__aggregate_fields__) == ["size", "names"]
    assert Config.__aggregate_defaults__ == {"names": ("a", "b")}
    assert "Config<c4, " in config.type.mangle()
