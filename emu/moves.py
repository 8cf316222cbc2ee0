"""Records who made and who used the data of transfers, from the accesses that cores announce.

The records lack uses by cores that announce no reads, such as islands. So a transfer without a
known use may still be needed. `MoveLog.readers` has the names of the cores that have announced a
read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from macaw.emu.core import Core, Event
from macaw.isa.memory_map import EXTERNAL

_WORD = 4  # bytes; the log knows who made and who used each word of memory


@dataclass(eq=False)
class Move:
    """A transfer from cycle `begin` to cycle `end` (the first one after it).

    `address` is the address of the instruction that started the transfer, -1 if unknown. `made`
    maps the name of a core to the cycle in which this core last wrote bytes of the source. `used`
    maps the name of a core to the cycle in which this core first read bytes of the destination
    after the transfer. `sources` are earlier transfers that wrote bytes of the source. `is_inward`
    says whether the source is in external memory, `is_outward` whether the destination is.
    """

    begin: int
    address: int = -1
    end: int = 0  # 0: the transfer has not ended
    made: dict[str, int] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    sources: set[Move] = field(default_factory=set)
    is_inward: bool = False
    is_outward: bool = False


class MoveLog:
    """Records the transfers of one core (the mover), with the makers and users of their data.

    The log learns them from the reads and writes that the other cores of the device announce.
    """

    def __init__(self, mover: Core) -> None:
        self.mover = mover
        self.moves: list[Move] = []
        self.readers: set[str] = set()
        # by word: the core that wrote it last and when, or the transfer
        self._makers: dict[int, tuple[str, int] | Move] = {}
        for core in mover.device.order:
            if core is not mover:
                core.listeners.append(self._hear)

    def begin(self, time: int, address: int) -> Move:
        """Return a new transfer, which the instruction at `address` started in cycle `time`."""
        self.moves.append(Move(time, address))
        return self.moves[-1]

    def read(self, move: Move, address: int, size: int) -> None:
        """Record that the transfer `move` has read `size` bytes of its source at `address`."""
        move.is_inward = move.is_inward or address >= EXTERNAL
        for word in _words(address, size):
            maker = self._makers.get(word)
            if isinstance(maker, Move):
                move.sources.add(maker)
            elif maker is not None:
                core, time = maker
                move.made[core] = max(move.made.get(core, 0), time)

    def write(self, move: Move, address: int, size: int) -> None:
        """Record that the transfer `move` has written `size` bytes of its destination."""
        move.is_outward = move.is_outward or address >= EXTERNAL
        self._makers.update(dict.fromkeys(_words(address, size), move))

    def _hear(self, event: Event) -> None:
        if event.kind not in ("read", "write"):
            return
        name = event.core.name
        words = _words(int(event.values["address"]), int(event.values["size"]))
        if event.kind == "write":
            self._makers.update(dict.fromkeys(words, (name, event.time)))
            return
        self.readers.add(name)
        for word in words:
            move = self._makers.get(word)
            if isinstance(move, Move) and 0 < move.end <= event.time:
                move.used.setdefault(name, event.time)


def _words(address: int, size: int) -> range:
    return range(address // _WORD, (address + size - 1) // _WORD + 1)
