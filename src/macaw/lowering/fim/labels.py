"""The labels that the programs of graphs have for themselves, which no tensor may be called."""

from __future__ import annotations

import re

from macaw.lowering.errors import LowerError

# Of a step by its number: tables of copies, routines, what copies go through, constants; tensors
# between steps, blocks, an island's state, the ways of a unit. Other labels begin with `_`.
_OWN = re.compile(
    r"[bfh]\d+(_\d+)?|[sc]\d+_\w*|t\d+_between|blocks\d+|copy\d+"
    r"|go\d+|out\d+|island\d+|ways\d+|readers\d+|_\w*"
)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def free(name: str) -> bool:
    """Whether a tensor that the host sees may be called so."""
    return _NAME.fullmatch(name) is not None and _OWN.fullmatch(name) is None


def check(name: str) -> None:
    """Raise `LowerError` if it may not."""
    if not free(name):
        raise LowerError(
            f"a tensor cannot be called '{name}'",
            "letters, digits and _, and no label that the program has for itself",
        )
