"""What each row of `macaw.isa.pe.COMMANDS` makes of its packet, on the bus and in the clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.faults import Fault
from macaw.emu.pe.state import Packet
from macaw.isa.pe import PAYLOADS, SEGMENT_TYPES, SEQUENCE_ALIGN

if TYPE_CHECKING:
    from macaw.emu.pe.control_unit import Control
    from macaw.emu.pe.row import Row


class Command:
    """A command alone, for which the clusters do nothing."""

    rule = "{} has no segments"  # macaw.isa.pe.PAYLOADS in words
    takes_buffer = False  # it needs its instruction buffer for itself
    parses = False  # its payload is for the parser 606
    loads = False  # its payload is for the data loading units 502

    def check(self, packet: Packet, where: int) -> None:
        """Raise `Fault` unless the packet has the segments that the command needs."""
        types = [segment["type"] for segment in packet["segments"]]
        if not PAYLOADS[packet["mnemonic"]].fits(types):
            names = ", ".join(SEGMENT_TYPES[kind] for kind in types) or "none"
            message = f"{self.rule.format(packet['mnemonic'])}; the segments are: {names}"
            raise Fault("malformed packet", message, {"segments": names}, address=where)

    def open(self, row: Row, packet: Packet, address: int, now: int) -> None:
        """Reserve the clusters' buffer: the first beat goes in cycle `now`. Raises `Fault`."""

    def accept(self, control: Control, packet: Packet, cycle: int) -> None:
        """The command byte was on the bus in `cycle`."""

    def taken(self, row: Row, packet: Packet, cycle: int) -> None:
        """The same, of all its clusters. Raises `Fault`."""

    def ready(self, row: Row, packet: Packet, number: int) -> bool:
        """Whether the first bytes of a segment may go."""
        return True

    def deliver(
        self, row: Row, packet: Packet, number: int, piece: bytes, last: bool, cycle: int
    ) -> None:
        """Bytes of a segment were on the bus in `cycle`, the last ones or not. Raises `Fault`."""


class Config(Command):
    """Its sequence goes to the parsers."""

    rule = "a {} has one segment, a sequence"
    takes_buffer = True
    parses = True

    def check(self, packet: Packet, where: int) -> None:
        super().check(packet, where)
        offset = packet["segments"][0]["offset"]
        if offset % SEQUENCE_ALIGN:
            message = f"a sequence at offset {offset:#x}, which is no multiple of {SEQUENCE_ALIGN}"
            raise Fault("misaligned access", message, {"offset": offset}, address=where)

    def open(self, row: Row, packet: Packet, address: int, now: int) -> None:
        for cluster in packet["clusters"]:
            row.controls[cluster].parser.begin(packet["buffer"], packet["segments"][0])

    def deliver(
        self, row: Row, packet: Packet, number: int, piece: bytes, last: bool, cycle: int
    ) -> None:
        for cluster in packet["clusters"]:
            row.controls[cluster].parser.configure(piece)


class Exe(Command):
    """It makes a run, whose lds take its segments."""

    rule = "an {} has no sequence"
    takes_buffer = True
    loads = True

    def open(self, row: Row, packet: Packet, address: int, now: int) -> None:
        row.tracer.begin(packet, now)
        controls = [row.controls[cluster] for cluster in packet["clusters"]]
        alike = controls[0].loops.like(packet["clusters"], packet["buffer"])
        for control, same in zip(controls, alike, strict=True):
            before = controls[0] if same and control is not controls[0] else None
            control.open(packet, address, before)

    def accept(self, control: Control, packet: Packet, cycle: int) -> None:
        control.accept(packet, cycle)

    def ready(self, row: Row, packet: Packet, number: int) -> bool:
        """Nobody has still to write them, and all clusters of the packet can take them."""
        if row.may_still_write(packet["order"], packet["segments"][number]):
            return False
        return row.ready(packet, number)

    def deliver(
        self, row: Row, packet: Packet, number: int, piece: bytes, last: bool, cycle: int
    ) -> None:
        """Collect the bytes of a segment; the last ones bring them all to the PEs."""
        if not packet["sent"]:
            row.segment_first(packet, number, cycle)
        packet["chunks"].append(piece)
        if last:
            row.loading.fill(packet, number, b"".join(packet["chunks"]))
            packet["chunks"] = []
            row.segment_last(packet, number, cycle)


class Marker(Command):
    """It is for the row's trace block; it costs its beat."""

    def __init__(self, begins: bool) -> None:
        self.begins = begins

    def taken(self, row: Row, packet: Packet, cycle: int) -> None:
        try:
            row.tracer.mark(packet, self.begins, cycle)
        except Fault as fault:
            fault.address = row.address(packet["address"])
            raise


# By the row's name, which a packet keeps in the declared state.
BY_ROW = {
    "config": Config(),
    "exe": Exe(),
    "trace_begin": Marker(True),
    "trace_end": Marker(False),
}


def command_of(packet: Packet) -> Command:
    """What the command of a packet does."""
    return BY_ROW[packet["mnemonic"]]
