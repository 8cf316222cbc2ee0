"""Checks and makes names of tensors, which must differ from the labels of a graph's program."""

from __future__ import annotations

import re
from collections.abc import Container

from macaw.lowering.errors import LowerError

# Labels of a step, which contain its number: tables of copies, routines, memory for copies,
# constants; tensors between steps, blocks, an island's state, the variants of a task. Other labels
# begin with `_`.
_OWN = re.compile(
    r"[bfh]\d+(_\d+)?|early\d+|[sc]\d+_\w*|t\d+_between|blocks\d+|copy\d+"
    r"|go\d+|out\d+|island\d+|ways\d+|readers\d+|_\w*"
)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LONGEST = 60  # the greatest number of characters of an ONNX name's symbol


def free(name: str) -> bool:
    """Return whether a tensor may have this name.

    It may if the name is an ASCII identifier, and does not look like a label that programs define
    themselves.
    """
    return _NAME.fullmatch(name) is not None and _OWN.fullmatch(name) is None


def check(name: str) -> None:
    """Raise `LowerError` if a tensor may not have this name (`free`)."""
    if not free(name):
        raise LowerError(
            f"a tensor cannot be called '{name}'",
            "letters, digits and _, and no label that the program has for itself",
        )


def symbol(onnx_name: str, taken: Container[str]) -> str:
    """Return a tensor name for an ONNX name: letters, digits and `_`.

    It is not in `taken`, and it is no label of the program.
    """
    base = re.sub(r"\W+", "_", onnx_name, flags=re.ASCII).strip("_")[:_LONGEST] or "value"
    base = base if free(base) else f"v{base}"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    return name
