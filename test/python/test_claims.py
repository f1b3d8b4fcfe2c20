"""Claims of lock files: which are removed, and which are left to their owners."""
# SPDX-License-Identifier: MIT

import os

import pytest
from triton.runtime.locks import claims, lock_file, stores

DECISION = lock_file.Decision("m:k", "cuda:90", (), {"BLOCK": 16}, "0" * 16, 1.0)


@pytest.fixture
def store(tmp_path):
    return stores.FileStore(str(tmp_path / "triton.lock"))


def add(store):
    store.add(DECISION, keeps=lambda standing: False)


def test_a_claim_of_hours_is_left_to_its_owner(store):
    claim, path = store.claim("a kernel"), store._claim_path("a kernel")
    os.utime(path, (1, 1))
    add(store)
    assert os.path.exists(path) and store.claim("a kernel") is None
    claim.release()
    assert not os.path.exists(path)


@pytest.mark.parametrize("end", ["0.claim", "0.claim.renewed", "0.claim.renewed.1.renewed"])
def test_what_killed_processes_left_is_removed(store, tmp_path, end):
    left = tmp_path / f".triton.lock.{end}"
    left.write_bytes(b"nobody 1 x 0")
    os.utime(left, (1, 1))
    add(store)
    assert os.listdir(tmp_path) == ["triton.lock"]


def test_an_expired_claim_is_free(tmp_path, monkeypatch):
    path = tmp_path / "a.renewed"
    path.write_bytes(b"nobody 1 x 0")
    monkeypatch.setattr(claims, "EXPIRES_SECONDS", 0.0)
    assert claims._RenewedFile.take(str(path)) is None  # it is removed for the next trial
    claim = claims._RenewedFile.take(str(path))
    claim.release()
    assert os.listdir(tmp_path) == []


def test_a_claim_that_follows_an_expired_one_is_put_back(tmp_path, monkeypatch):
    """Between the look at an expired claim and its removal another process makes its own."""
    path, rename = tmp_path / "a.renewed", os.rename
    path.write_bytes(b"nobody 1 x 0")

    def after_another(source, target):
        path.write_bytes(b"other 2 y 0")
        rename(source, target)

    monkeypatch.setattr(claims.os, "rename", after_another)
    monkeypatch.setattr(claims, "EXPIRES_SECONDS", 0.0)
    assert claims._RenewedFile.take(str(path)) is None
    assert path.read_bytes() == b"other 2 y 0" and os.listdir(tmp_path) == ["a.renewed"]
