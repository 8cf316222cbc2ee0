"""Number functions of nnp, from several modules, for import from one place.

docs/numbers-nnp.md has the rules. Of Macaw, these modules import only `macaw.emu.numerics`,
`macaw.emu.floats` and `macaw.emu.curves`.
"""

from __future__ import annotations

from macaw.emu.curves import sigmoid, softmax, tanh
from macaw.emu.floats import HOST, add, maximum, multiply, relu, subtract, to_host
from macaw.emu.nnp.longs import Long, OutOfRange, round_long
from macaw.emu.nnp.products import Tiles
from macaw.emu.nnp.quantisers import (
    NotANumber,
    Quantised,
    Quantiser,
    dequantise,
    quantise,
    quantisers,
    requantise,
)

__all__ = [
    "HOST",
    "Long",
    "NotANumber",
    "OutOfRange",
    "Quantised",
    "Quantiser",
    "Tiles",
    "add",
    "dequantise",
    "maximum",
    "multiply",
    "quantise",
    "quantisers",
    "relu",
    "requantise",
    "round_long",
    "sigmoid",
    "softmax",
    "subtract",
    "tanh",
    "to_host",
]
