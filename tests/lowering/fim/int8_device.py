"""A device whose islands compute in int8."""

from __future__ import annotations

import macaw

_ALL = "add sub mul relu and or xor"
DEVICE = macaw.configuration("base").changed(
    {
        **{f"fim.island.{number}.formats": "int8" for number in range(4)},
        "fim.island.0.rz_slices": 16,
        "fim.island.2.rz_slices": 9,
        **{f"fim.island.{number}.functions": _ALL for number in range(3)},
    }
)
