"""Defines what each command of `macaw.isa.pe.COMMANDS` requires of its packet."""

from __future__ import annotations

from dataclasses import dataclass

from macaw.emu.faults import Fault
from macaw.emu.pe.state import Packet
from macaw.isa.pe import PAYLOADS, SEGMENT_TYPES, SEQUENCE_ALIGN


@dataclass(frozen=True)
class Command:
    """The properties of one command."""

    rule: str = "{} has no segments"  # `macaw.isa.pe.PAYLOADS` in words
    takes_buffer: bool = False  # it reserves its instruction buffer
    parses: bool = False  # its payload is for the parser 606
    loads: bool = False  # its payload is for the data loading units 502

    def check(self, packet: Packet, where: int) -> None:
        """Raise `Fault` at the address `where` unless the packet's segments suit the command."""
        types = [segment["type"] for segment in packet["segments"]]
        if not PAYLOADS[packet["mnemonic"]].fits(types):
            names = ", ".join(SEGMENT_TYPES[kind] for kind in types) or "none"
            message = f"{self.rule.format(packet['mnemonic'])}; the segments are: {names}"
            raise Fault("malformed packet", message, {"segments": names}, address=where)
        offset = packet["segments"][0]["offset"] if self.parses else 0
        if offset % SEQUENCE_ALIGN:
            message = f"a sequence at offset {offset:#x}, which is no multiple of {SEQUENCE_ALIGN}"
            raise Fault("misaligned access", message, {"offset": offset}, address=where)


# By the row's name, which a packet keeps in the declared state.
COMMANDS = {
    "config": Command(
        "a {} has a sequence, then scales and a table at most once", takes_buffer=True, parses=True
    ),
    "exe": Command("an {} has weights, activations and psums", takes_buffer=True, loads=True),
    "trace_begin": Command(),
    "trace_end": Command(),
}


def command_of(packet: Packet) -> Command:
    """Return the command of a packet."""
    return COMMANDS[packet["mnemonic"]]
