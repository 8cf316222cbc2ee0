"""Meters: each counts the activities of one core (`macaw.isa.activities`), by line and tensor.

A meter listens to its core, so a run without meters costs nothing. The folder of each core in `emu`
has the core's own meter in the module `meter`. The class here counts the memory accesses that ports
announce. The meters of the cores also count operations and accesses to a core's own memories.
"""

from __future__ import annotations

from collections.abc import Mapping

from macaw.emu.core import Core, Event
from macaw.emu.metered_memory import CHIP, LOCAL, OUTSIDE, MeteredMemory
from macaw.isa.activities import PRODUCTS
from macaw.isa.typed_records import NamedTuple


class Count(NamedTuple):
    """The key of a count: which activity of which instruction, on which data, is counted.

    `address` is the address of the instruction, `layer` the number of a network's layer. A count of
    bytes also has the kind of `memory` ("external", "on-chip", "local", or a memory of the core),
    the name of the `tensor` to which they belong, and whether they were written (`writes`).
    """

    activity: str  # of `macaw.isa.activities.ACTIVITIES`
    address: int | None = None
    memory: str = ""
    writes: bool = False
    tensor: str = ""
    layer: int = -1  # -1: none


class Meter:
    """Counts what a core does. This class counts memory accesses that ports announce.

    `counts` has the number of each activity. `address` is the address of the instruction to which
    accesses belong; `layer` is the present layer of a network.
    """

    def __init__(self, core: Core, memory: MeteredMemory) -> None:
        self.core, self.memory = core, memory
        self.counts: dict[Count, int] = {}
        self.address: int | None = None
        self.layer = -1
        core.listeners.append(self.hear)

    def hear(self, event: Event) -> None:
        """React to an announcement (`event`) of the core."""
        if event.kind in ("read", "write"):
            self.move(int(event.values["address"]), int(event.values["size"]), event.kind)

    def acted(self) -> None:
        """React to the end of an act of the core."""

    def close(self) -> None:
        """Count what the meter has not counted yet, at the end of the run."""

    def move(self, address: int, size: int, kind: str) -> str:
        """Count an access of a port to `size` bytes at `address`; return the name of the tensor.

        `MeteredMemory.tensor` finds the tensor to which the bytes belong. `kind` is "read" or
        "write".
        """
        writes = kind == "write"
        moved = self.memory.access(address, size, writes)
        tensor = self.memory.tensor(address)
        if moved is not None:
            self.add(moved.activity, moved.size, self.address, moved.memory, writes, tensor)
        return tensor

    def add(
        self,
        activity: str,
        count: int,
        address: int | None,
        memory: str = "",
        writes: bool = False,
        tensor: str = "",
    ) -> None:
        """Add `count` to the count of an activity.

        The other arguments are the fields of `Count`: the key of this count.
        """
        if count:
            key = Count(activity, address, memory, writes, tensor, self.layer)
            self.counts[key] = self.counts.get(key, 0) + count

    @property
    def row_use(self) -> tuple[int, int] | None:
        """The number of accessed columns of the core's DRAM, and the number of opened rows.

        The value is None if the core has no DRAM.
        """
        return None

    @property
    def products(self) -> frozenset[str]:
        """The names of the activities that count products, in MACs and in other multiplications."""
        return PRODUCTS

    # Ceilings

    @property
    def peak_operations(self) -> float:
        """The greatest number of operations that the core can do in a device cycle.

        It follows from the core's compute units, and is 0 if the core does no operations.
        """
        return 0.0

    @property
    def access_bytes(self) -> float:
        """The greatest number of bytes that the core's ports can access in a device cycle."""
        return 0.0

    @property
    def peak_bytes(self) -> Mapping[str, float]:
        """The greatest number of bytes that the core can move in a device cycle, by memory.

        A memory may be slower than the core's ports: on-chip memory gives at most one word of each
        bank of a half, and external memory one beat.
        """
        config = self.core.device.config
        half = int(config["mem.banks"]) * int(config["mem.bank_width"])
        return {
            OUTSIDE: float(config["mem.external_width"]),
            CHIP: min(float(half), self.access_bytes),
            LOCAL: self.access_bytes,
        }
