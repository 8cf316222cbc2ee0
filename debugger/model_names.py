"""Names of a network's model in locations and expressions, such as `"/stage1/Conv"`.

The user puts such a name in single or double quotation marks. A name without quotation marks must
be the whole location or the whole expression.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from macaw.asm.program import Program

_QUOTED = re.compile(r"\"([^\"]+)\"|'([^']{2,})'")


def unquoted(text: str) -> str | None:
    """Return the text between the quotation marks of `text`; None if `text` has none."""
    match = _QUOTED.fullmatch(text.strip())
    return None if match is None else match[1] or match[2]


def layer_symbol(program: Program, text: str) -> str | None:
    """Return the symbol of the layer that the location `text` names, or None."""
    name = unquoted(text) or text.strip()
    layers = () if program.network is None else program.network.layers
    return next((layer.symbol for layer in layers if layer.name == name), None)


def near_layers(program: Program, name: str) -> list[str]:
    """Return the names of layers that resemble a name."""
    layers = () if program.network is None else program.network.layers
    return get_close_matches(name, [layer.name for layer in layers], 3, 0.5)


def with_symbols(program: Program, text: str) -> str:
    """Return an expression in which symbols replace the model's names for layers and tensors.

    The name of a layer stands for the layer's result. If a symbol is shorter than the name, blanks
    precede it, so that the positions of all other parts of the text do not change.
    """
    if program.network is None:
        return text
    symbols = program.network.tensors
    results = {layer.name: symbols[layer.output] for layer in program.network.layers}
    known = {**results, **symbols}
    whole = known.get(text.strip())
    if whole is not None:
        return whole.rjust(len(text))

    def symbol(match: re.Match[str]) -> str:
        name = known.get(match[1] or match[2])
        return match[0] if name is None else name.rjust(len(match[0]))

    return _QUOTED.sub(symbol, text)
