"""The declared state of nnp, and its register files as arrays.

The vector register files of the multi-function units store host values. MatrixRf and InitialVrf
store quantised numbers: a code of 16 bits for each element, and an exponent for each block. The
arrays contain exponents plus a bias (docs/numbers-nnp.md). The fields `ready_*` have the cycles
from which entries can be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.core import CONTRACT
from macaw.emu.nnp.numbers import HOST, quantisers
from macaw.emu.nnp.schedules.timing import UNITS
from macaw.emu.state import State, StateField
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.nnp import FILE, SCALARS
from macaw.isa.nnp_layouts import BY_NAME, Memory

HOST_FILES = {"MulVrf": "mul_vrf", "AddSubVrf0": "add_sub_vrf0", "AddSubVrf1": "add_sub_vrf1"}
"""The field of each register file of host values, by the memory's name."""
READY = {**{name: f"ready_{field}" for name, field in HOST_FILES.items()},
         "InitialVrf": "ready_initial", "MatrixRf": "ready_matrix"}  # fmt: skip
"""The field of the cycles from which a file's entries can be read."""


def size(config: Mapping[str, Any], memory: str) -> int:
    """Return the number of entries of the register file or queue `memory`."""
    return int(config[BY_NAME[memory].setting])


def fields(config: Mapping[str, Any]) -> tuple[StateField, ...]:
    """Return the declared fields of the state for a configuration."""
    native = int(config["nnp.native"])
    host = np.dtype(HOST[config["nnp.host_format"]]).name
    tiles, vectors = size(config, "MatrixRf"), size(config, "InitialVrf")
    quantiser, _ = quantisers(config)
    bias, blocks = int(quantiser.bias), quantiser.blocks(native)
    several = (blocks,) if blocks > 1 else ()
    scalars = [scalar.reset for scalar in SCALARS]
    row = StateField
    # fmt: off
    rows = [
        row("pc",          "int",    meaning="address of the next instruction"),
        row(FILE.name,     "uint16", (len(SCALARS),), "what s_wr has set", np.array(scalars, np.uint16)),
        row("base",        "int",    meaning="address at which Dram begins", initial=EXTERNAL),
        row("chain",       "object", meaning="instructions of the chain that is open: address, word", initial=[]),
        row("launched",    "bool",   meaning="the open chain is complete and runs"),
        row("iteration",   "int",    meaning="its next iteration", path="chain.iteration"),
        row("asked",     "int",    meaning="first cycle in which it could start if its entries were ready"),
        row("starved",   "int",    meaning="cycles for which it waited for vectors in NetInQ"),
        row("full",      "int",    meaning="cycles for which it waited for room in NetOutQ"),
        row("popped",      "object", meaning="vectors that the next iteration has taken from NetInQ: cycle, bytes", initial=[]),
        row("ending",      "bool",   meaning="the program is over, writes are under way"),
        row("free",        "int64",  (len(UNITS),), "by unit: first cycle in which it can take another vector"),
        row("done",        "int",    meaning="cycle in which all writes so far can be read"),
        row("stored",      "int",    meaning="cycle in which all writes to Dram so far can be read"),
        row("stored_before", "int",  meaning="cycle in which writes of earlier chains to Dram can be read"),
        row("net_in",      "object", meaning="native vectors in NetInQ, as bytes", initial=[]),
        row("arriving",    "object", meaning="bytes of an incomplete vector", initial=b""),
        row("message",     "object", meaning="received bytes of a message's head: its structure and its words of s_wr", initial=b""),
        row("payload",     "int",    meaning="bytes of the message's vectors that have not arrived"),
        row("parcel",      "object", meaning="bytes of its incomplete vector", initial=b""),
        row("net_out",     "object", meaning="vectors in NetOutQ: the cycle from which they can be read, bytes", initial=[]),
        row("unsent",      "object", meaning="vectors of the last iteration that wait for room in NetOutQ: the cycle from which they could be read, bytes", initial=[]),
        row("leaving",     "int",    meaning="bytes of the first one that were read"),
        row("begun",       "int",    meaning="chains that have begun"),
        row("chains",      "int",    meaning="finished chains; each iteration counts as one"),
        row("tiles",       "int",    meaning="products of a tile and a vector"),
        row("vectors",     "int",    meaning="vectors that chains wrote"),
        row("initial_codes",     "int16", (vectors, native), "InitialVrf: codes"),
        row("initial_exponents", "uint8", (vectors, *several), f"InitialVrf: exponents + {bias}"),
        row("matrix_codes",      "memory", (2 * tiles * native * native,), "MatrixRf: codes, int16"),
        row("matrix_exponents",  "memory", (tiles * native * blocks,), f"MatrixRf: exponents + {bias} of the tiles' rows"),
        row("ready_initial", "int64", (vectors,), "entries of InitialVrf"),
        row("ready_matrix",  "int64", (tiles,),   "entries of MatrixRf"),
        row("used_matrix",   "int64", (tiles,),   "cycle from which no product needs the entry"),
    ]
    # fmt: on
    for memory, field in HOST_FILES.items():
        count = size(config, memory)
        rows.append(row(field, host, (count, native), f"{memory}: host values"))
        rows.append(row(f"ready_{field}", "int64", (count,), f"entries of {memory}"))
    return tuple(rows)


class NnpState(State):
    """The declared state of nnp; `tile_codes` and `tile_exponents` are MatrixRf as arrays.

    The codes have shape (tiles, N, N), the exponents (tiles, N), or (tiles, N, blocks) if a row has
    several blocks. `fields` says what each of the other attributes means.
    """

    pc: int
    scalars: NDArray[np.uint16]
    base: int
    chain: list[tuple[int, int]]
    launched: bool
    iteration: int
    asked: int
    starved: int
    full: int
    popped: list[tuple[int, bytes]]
    ending: bool
    free: NDArray[np.int64]
    done: int
    stored: int
    stored_before: int
    net_in: list[bytes]
    arriving: bytes
    message: bytes
    payload: int
    parcel: bytes
    net_out: list[tuple[int, bytes]]
    unsent: list[tuple[int, bytes]]
    leaving: int
    begun: int
    chains: int
    tiles: int
    vectors: int
    initial_codes: NDArray[np.int16]
    initial_exponents: NDArray[np.uint8]
    used_matrix: NDArray[np.int64]

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__((*CONTRACT, *fields(config)))
        native, tiles = int(config["nnp.native"]), size(config, "MatrixRf")
        codes = self.matrix_codes.array[: 2 * tiles * native * native].view(np.int16)
        self.tile_codes: NDArray[np.int16] = codes.reshape(tiles, native, native)
        blocks = quantisers(config)[0].blocks(native)
        exponents = self.matrix_exponents.array[: tiles * native * blocks]
        shape = (tiles, native, blocks) if blocks > 1 else (tiles, native)
        self.tile_exponents: NDArray[np.uint8] = exponents.reshape(shape)

    def ready(self, memory: Memory) -> NDArray[np.int64]:
        """Return, for each entry of the register file `memory`, when the entry can be read.

        The result has cycles, in shape (entries,).
        """
        cycles: NDArray[np.int64] = getattr(self, READY[memory.name])
        return cycles

    def host_file(self, memory: Memory) -> NDArray[Any]:
        """Return the entries of `memory`, a register file of host values, of shape (entries, N)."""
        entries: NDArray[Any] = getattr(self, HOST_FILES[memory.name])
        return entries

    def scalar_values(self) -> dict[str, int]:
        """Return the values of the registers that s_wr sets, by name."""
        values = self.scalars.tolist()
        return {scalar.name: values[place] for place, scalar in enumerate(SCALARS)}
