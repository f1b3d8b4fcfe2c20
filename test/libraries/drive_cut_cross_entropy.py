"""cut-cross-entropy: the loss of a linear classifier without its logits."""
# SPDX-License-Identifier: MIT

import torch
import torch.nn.functional as F
from cases import bf16, case, f16, integers, normal, same
from cut_cross_entropy import linear_cross_entropy


@case(rows=[16, 77], classes=[256, 1000], reduction=["mean", "sum", "none"], dtype=[f16, bf16])
def loss(rows, classes, reduction, dtype):
    target = integers(0, classes, (rows,))
    target[3] = -100
    inputs = [normal(rows, 64, dtype=dtype), normal(classes, 64, dtype=dtype, scale=0.3)]
    same(
        lambda e, c: linear_cross_entropy(e, c, target, reduction=reduction, filter_eps=None),
        lambda e, c: F.cross_entropy(e @ c.T, target.cpu(), reduction=reduction),
        inputs,
        3e-2,
    )


@case(dtype=[bf16])
def softcap(dtype):
    target = integers(0, 300, (40,))
    inputs = [normal(40, 64, dtype=dtype), normal(300, 64, dtype=dtype, scale=0.3)]
    same(
        lambda e, c: linear_cross_entropy(e, c, target, softcap=20.0, filter_eps=None),
        lambda e, c: F.cross_entropy(20 * torch.tanh(e @ c.T / 20), target.cpu()),
        inputs,
        3e-2,
    )


@case(dtype=[bf16])
def shift(dtype):
    target = integers(0, 300, (2, 33))
    inputs = [normal(2, 33, 64, dtype=dtype), normal(300, 64, dtype=dtype, scale=0.3)]
    same(
        lambda e, c: linear_cross_entropy(e, c, target, shift=True, filter_eps=None),
        lambda e, c: F.cross_entropy(
            (e[:, :-1] @ c.T).flatten(0, 1), target.cpu()[:, 1:].flatten()
        ),
        inputs,
        3e-2,
    )
