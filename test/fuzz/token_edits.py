"""Edits of a text as tokens, which the generators of mutated IR and PTX share."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import random
import re

KINDS = 5


def edit(
    tokens: list[str], kind: int, token: re.Pattern[str], others: list[str], rng: random.Random
) -> list[str]:
    """The tokens after an edit: some are removed, one is repeated, replaced by one of `others` or of the text, or
    two lines are exchanged. `kind` is below KINDS.
    """
    at = rng.randrange(len(tokens))
    if kind == 0:
        del tokens[at : at + rng.choice((1, 1, 3, 40))]
    elif kind == 1:
        tokens.insert(at, tokens[rng.randrange(len(tokens))])
    elif kind == 2:
        tokens[at] = rng.choice(others)
    elif kind == 3:
        tokens[at] = tokens[rng.randrange(len(tokens))]
    else:
        lines = "".join(tokens).split("\n")
        here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[here], lines[there] = lines[there], lines[here]
        tokens = token.findall("\n".join(lines))
    return tokens
