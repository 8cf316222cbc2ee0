"""Cuts the channels of a tensor (..., channels) into groups of lanes, and accesses them in memory.

Tensors begin at multiples of 64 bytes, but a position's channels need not. Channels that begin
elsewhere than at multiples of 16 bytes are accessed by strided instructions. These move smaller,
aligned lanes one by one, which takes several cycles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.vector_layouts import VECTOR_BYTES
from macaw.lowering.net.vector.kernel import Kernel
from macaw.lowering.operation import Types

GROUP = 16  # default number of elements that are computed together
STRIDE = "t4"  # the register with the distance between the lanes of a strided access
_LANE = {1: "b", 2: "h", 4: "w", 8: "d"}
_SPARE = ("t0", "t1", "t2", "t3")


@dataclass(frozen=True)
class Columns:
    """The channels of a position: `channels` elements that are consecutive in memory.

    Code accesses them in groups of `lanes` elements.
    """

    channels: int
    dtype: str
    lanes: int = GROUP  # number of lanes of a group

    @property
    def size(self) -> int:
        """The number of bytes of an element."""
        return Types.size(self.dtype)

    @property
    def pitch(self) -> int:
        """The number of bytes from the channels of one position to those of the next."""
        return self.channels * self.size

    @property
    def group_bytes(self) -> int:
        """The number of bytes of a group."""
        return self.lanes * self.size

    @property
    def granule(self) -> int:
        """The greatest power of two up to 16 that divides the address of every position."""
        return math.gcd(self.pitch, VECTOR_BYTES)

    @property
    def full_groups(self) -> int:
        """The number of groups with a channel in each lane. No two of them share a channel."""
        return self.channels // self.lanes

    @property
    def last(self) -> int | None:
        """The first channel of the group for the rest of the channels; None if nothing is left.

        If there are fewer channels than lanes, it is 0. Otherwise this group is as long as the
        others, ends at the last channel, and overlaps the last full group.
        """
        return max(self.channels - self.lanes, 0) if self.channels % self.lanes else None

    @property
    def narrow(self) -> bool:
        """Whether there are fewer channels than lanes of a group."""
        return self.channels < self.lanes

    @property
    def registers(self) -> int:
        """The number of vector registers of a group."""
        return self.group_bytes // VECTOR_BYTES

    def fold(self, positions: int) -> int:
        """Return how many positions to treat as one, so that all begin at multiples of 16 bytes.

        With 4 channels of int8, four positions have 16 bytes, so the result is 4. It is 1 instead
        (no positions are joined) if `positions` is not divisible by 4, or is not more than 4.
        """
        count = VECTOR_BYTES // self.granule
        return count if positions % count == 0 and positions > count else 1

    def folded(self, count: int) -> Columns:
        """Return the description in which `count` neighbouring positions are one position.

        This position has the channels of all of them.
        """
        return Columns(count * self.channels, self.dtype, self.lanes)

    def begin(self, k: Kernel) -> None:
        """Write code that loads the stride of strided accesses; it runs once, before them."""
        if self.granule < VECTOR_BYTES:
            k.put(f"li {STRIDE}, {self.granule}", "bytes of a lane that is aligned")

    def load(self, k: Kernel, registers: Sequence[str], pointer: str, offset: int) -> None:
        """Write code that loads a group of channels into the vector registers `registers`.

        The address is the register `pointer` plus `offset` bytes. It must be a multiple of
        `granule`.
        """
        for number, register in enumerate(registers):
            self._access(k, "l", register, pointer, offset + VECTOR_BYTES * number)

    def store(self, k: Kernel, registers: Sequence[str], pointer: str, offset: int) -> None:
        """Write code that stores a group of channels from the vector registers `registers`.

        The address is the register `pointer` plus `offset` bytes. If a position has fewer channels
        than a group has lanes, the code stores the channels one by one.
        """
        if not self.narrow:
            for number, register in enumerate(registers):
                self._access(k, "st", register, pointer, offset + VECTOR_BYTES * number)
            return
        letter, lanes = _LANE[self.size], VECTOR_BYTES // self.size
        for first in range(0, self.channels, len(_SPARE)):
            some = range(first, min(first + len(_SPARE), self.channels))
            for channel in some:
                spare = _SPARE[channel % len(_SPARE)]
                k.put(f"vext.{letter} {spare}, {registers[channel // lanes]}, {channel % lanes}")
            for channel in some:
                spare = _SPARE[channel % len(_SPARE)]
                k.put(f"s{letter} {spare}, {offset + channel * self.size}({pointer})")

    def move(self, k: Kernel, register: str, pointer: str, offset: int) -> None:
        """Write code that stores all 16 bytes of a register.

        The address is the register `pointer` plus `offset` bytes. Some of the bytes may belong to
        channels of the next position.
        """
        self._access(k, "st", register, pointer, offset)

    def _access(self, k: Kernel, which: str, register: str, pointer: str, offset: int) -> None:
        if not -2048 <= offset < 2048:
            k.block(f"li t5, {offset}", f"add t5, {pointer}, t5")
            pointer, offset = "t5", 0
        if self.granule == VECTOR_BYTES:
            k.put(f"v{which if which == 'st' else 'ld'} {register}, {offset}({pointer})")
            return
        if offset:
            k.put(f"addi t5, {pointer}, {offset}")
            pointer = "t5"
        name = f"v{'sts' if which == 'st' else 'lds'}.{_LANE[self.granule]}"
        k.put(f"{name} {register}, {pointer}, {STRIDE}")
