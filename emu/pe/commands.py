"""Commands of packets: the rules for packets with each command of `macaw.isa.pe.COMMANDS`."""

from __future__ import annotations

from macaw.emu.faults import Fault
from macaw.emu.pe.state import Packet
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.pe import PAYLOADS, SEGMENT_TYPES, SEQUENCE_ALIGN


@dataclass(frozen=True)
class Command:
    """The rule for packets with a command, and the units of a cluster that these packets need.

    `rule` describes the segments of such a packet, for messages. The packet reserves its
    instruction buffer if `takes_buffer`. Its payload goes to the parser 606 if `parses`, and to
    the data loading units 502 if `loads`.
    """

    # a text for messages that describes the command's `macaw.isa.pe.PAYLOADS`
    rule: str = "{} has no segments"
    takes_buffer: bool = False
    parses: bool = False
    loads: bool = False

    def check(self, packet: Packet, where: int) -> None:
        """Raise `Fault` unless the packet's segments suit the command.

        `where` is the address for the fault.
        """
        types = [segment["type"] for segment in packet["segments"]]
        if not PAYLOADS[packet["mnemonic"]].fits(types):
            names = ", ".join(SEGMENT_TYPES[kind] for kind in types) or "none"
            message = f"{self.rule.format(packet['mnemonic'])}; the segments are: {names}"
            raise Fault("malformed packet", message, {"segments": names}, address=where)
        offset = packet["segments"][0]["offset"] if self.parses else 0
        if offset % SEQUENCE_ALIGN:
            message = f"a sequence at offset {offset:#x}, which is no multiple of {SEQUENCE_ALIGN}"
            raise Fault("misaligned access", message, {"offset": offset}, address=where)


# By the name of the command's row, which a packet has in the declared state.
COMMANDS = {
    "config": Command(
        "a {} has a sequence, then scales and a table at most once", takes_buffer=True, parses=True
    ),
    "exe": Command("an {} has weights, activations and psums", takes_buffer=True, loads=True),
    "trace_begin": Command(),
    "trace_end": Command(),
}


def command_of(packet: Packet) -> Command:
    """Return the item of `COMMANDS` for the command of a packet."""
    return COMMANDS[packet["mnemonic"]]
