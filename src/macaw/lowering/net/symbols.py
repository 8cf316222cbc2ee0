"""Chooses symbols of the assembly language for the layers and tensors of a network."""

from __future__ import annotations

import re
from collections.abc import Iterable

from macaw.isa import registry
from macaw.lowering.fim.subroutine import LABELS
from macaw.lowering.net.native_program import NATIVE_LABELS
from macaw.lowering.net.vector.source import VECTOR_LABELS
from macaw.lowering.progress import PROGRESS

MEMORY = "unit_memory"  # the symbol of the memory in each unit that all layers use
# The first set has labels of the main source, which are no symbols of layers or tensors. The second
# has labels of the layers' sources, which are no symbols of layers. (A tensor may have such a
# symbol, because those sources use the tensors' symbols before they define labels. Sources of nnp's
# layers use them afterwards, so no tensor has a symbol of `NATIVE_LABELS`.)
_MAIN_LABELS = frozenset(
    ("main", "_start", "all_done", "arena", "fill_ping", "fill_pong", "first", MEMORY, PROGRESS)
)
_LAYER_LABELS = frozenset(
    """
    add_rows begin chain copies done final gathered hold input_offsets kernel_parts last last_again
    load loaded merge more more_again next not_PARTIAL not_RESULTS partial partial_sums ping pong
    raw record result row setup start start_sums step store tile w w_tile weight_table x x_copy
    x_second x_tile y zero_sums zeros weight_tensor
    """.split()
)
_OF_WINDOWS = ("con", "prn", "aux", "nul", *(f"{x}{n}" for x in ("com", "lpt") for n in range(10)))
_LABEL_OF_NUMBER = re.compile(
    r"(product|(last|more)_product|array_|(ping|pong)_[a-z]|vc_(x|copy|scratch|batch))\d*"
)


def layer_symbols(names: Iterable[str], others: Iterable[str]) -> dict[str, str]:
    """Return a symbol of the assembly language for the name of each layer.

    All symbols are different, and none is in `others`, the symbols inside of layers' sources.
    Symbols are names of files, too. So they differ in more than case, and none is the name of a
    device of Windows.
    """
    return _symbols(names, {*_LAYER_LABELS, *VECTOR_LABELS, *NATIVE_LABELS, *others})


def tensor_symbols(names: Iterable[str], layers: Iterable[str]) -> dict[str, str]:
    """Return a symbol for the name of each tensor; all are different, and none is in `layers`."""
    return _symbols(names, {*layers, *NATIVE_LABELS})


def _symbols(names: Iterable[str], taken_symbols: Iterable[str]) -> dict[str, str]:
    result: dict[str, str] = {}
    taken = {symbol.lower() for symbol in (*taken_symbols, *_MAIN_LABELS, *_OF_WINDOWS)}
    for file in registry.core("cp").files:
        taken.update(*file.names)
    for name in names:
        word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "_"
        if word[0].isdigit() or word.isupper() or word.startswith(LABELS):
            word = f"_{word}"
        symbol, number = word, 2
        while symbol.lower() in taken or _LABEL_OF_NUMBER.fullmatch(symbol):
            symbol, number = f"{word}_{number}", number + 1
        taken.add(symbol.lower())
        result[name] = symbol
    return result
