"""The distribution unit 601 of a row: packets from the unit's feeding half to the bus.

Command and data are packed together (seed 000 ¶109): a packet is the command byte and the bytes of
its segments, as one stream over the bus, `dist.bus_bytes` a beat. A beat goes
when all clusters that are to take it can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emu.faults import Fault
from emu.pe.sequence import SEQUENCE_SEGMENT, not_available
from emu.pe.state import Beat, Out, Packet, Segment
from isa.codec import DecodeError, StructureError, decode, unpack
from isa.pe import (
    COMMAND_BITS,
    COMMAND_BYTES,
    CORE,
    END_OF_LIST,
    OUT,
    PACKET,
    PACKET_ALIGN,
    SEGMENT,
    SEGMENT_TYPES,
    SEQUENCE_ALIGN,
)

if TYPE_CHECKING:
    from emu.pe.row import Row

EXE, CONFIG = "exe", "config"


class Distribution:
    """The bus of a row and the packet on it; all it knows lies in the row's state."""

    def __init__(self, row: Row) -> None:
        self.row, self.state, self.shape = row, row.state, row.shape

    # The list

    def fetch(self) -> None:
        """Take the next packet of the list to the bus, if there is one. Raises `Fault`.

        The unit reads packets ahead of the bus, through a path of its own.
        """
        state = self.state
        if state.packet is not None or state.next_packet < 0:
            return
        address = state.next_packet
        if self.row.peek(address, 1)[0] == END_OF_LIST:
            state.next_packet = -1
            return
        state.packet = self._read(address)
        state.packets += 1

    def _read(self, address: int) -> Packet:
        where = self.row.address(address)
        if address % PACKET_ALIGN:
            message = f"a packet at offset {address:#x}, which is no multiple of {PACKET_ALIGN}"
            raise Fault("misaligned access", message, {"offset": address}, address=where)
        try:
            head = unpack(PACKET, self.row.peek(address, PACKET.size))
            command = decode(CORE, head["command"], COMMAND_BITS, where)
            at = address + PACKET.size
            segments = []
            for number in range(head["segments"]):
                segments.append(self._segment(at, number, where))
                at += SEGMENT.size
            out: Out | None = None
            if command.row.mnemonic == EXE:
                members = unpack(OUT, self.row.peek(at, OUT.size))
                out = Out(
                    offset=members["offset"],
                    stride=members["stride"],
                    step=members["step"],
                    count=members["count"],
                    pes=members["pes"],
                    element=members["element"],
                )
                at += OUT.size
        except StructureError as error:
            values: dict[str, int | str] = {"packet": address}
            raise Fault("malformed packet", str(error), values, address=where) from None
        except DecodeError as error:
            message = f"the command {error.word:#04x}: {error.detail or 'there is no such command'}"
            values = {"command": error.word}
            raise Fault(error.kind, message, values, address=where) from None
        self.state.next_packet = at
        packet = Packet(
            address=address,
            mnemonic=command.row.mnemonic,
            buffer=command.values.get("ib", command.values.get("g", 0)),
            shift=bool(command.values.get("shift", 0)),
            last=bool(command.values.get("last", 0)),
            clusters=self._clusters(head["clusters"], where),
            segments=segments,
            out=out,
            order=self.state.packets,
            opened=False,
            commanded=False,
            segment=0,
            sent=0,
            chunks=[],
            entries={},
        )
        self._check(packet, where)
        return packet

    def _segment(self, at: int, number: int, where: int) -> Segment:
        members = unpack(SEGMENT, self.row.peek(at, SEGMENT.size))
        end = members["offset"] + members["length"]
        if end > self.row.half_bytes:
            raise Fault(
                "out-of-range access",
                f"segment {number} is at offsets {members['offset']:#x} to {end - 1:#x},"
                f" half a unit has {self.row.half_bytes:#x} bytes",
                {"segment": number, "offset": members["offset"], "length": members["length"]},
                address=where,
            )
        if members["compress"]:
            raise not_available("a segment with compress", where)
        if not members["length"]:
            message = f"segment {number} has no bytes"
            raise Fault("malformed packet", message, {"segment": number}, address=where)
        return Segment(
            type=members["type"],
            mode=members["mode"],
            offset=members["offset"],
            length=members["length"],
        )

    def _clusters(self, mask: int, where: int) -> list[int]:
        if mask >> self.shape.clusters or not mask:
            message = f"the cluster mask is {mask:#x}, the row has {self.shape.clusters} clusters"
            raise Fault("malformed packet", message, {"clusters": mask}, address=where)
        return [cluster for cluster in range(self.shape.clusters) if mask >> cluster & 1]

    def _check(self, packet: Packet, where: int) -> None:
        """Raise `Fault` unless the command has the segments that it needs."""
        types = [segment["type"] for segment in packet["segments"]]
        if packet["mnemonic"] == EXE:
            wrong = SEQUENCE_SEGMENT in types
            rule = "an exe has no sequence"
        elif packet["mnemonic"] == CONFIG:
            wrong = types != [SEQUENCE_SEGMENT]
            rule = "a config has one segment, a sequence"
        else:
            wrong = bool(types)
            rule = f"{packet['mnemonic']} has no segments"
        if wrong:
            names = ", ".join(SEGMENT_TYPES[kind] for kind in types) or "none"
            message = f"{rule}; the segments are: {names}"
            raise Fault("malformed packet", message, {"segments": names}, address=where)
        if packet["mnemonic"] == CONFIG and packet["segments"][0]["offset"] % SEQUENCE_ALIGN:
            offset = packet["segments"][0]["offset"]
            message = f"a sequence at offset {offset:#x}, which is no multiple of {SEQUENCE_ALIGN}"
            raise Fault("misaligned access", message, {"offset": offset}, address=where)

    # The bus

    def cycle(self, now: int) -> None:
        """Send the next beat, if there is one and its clusters can take it."""
        self.fetch()
        packet = self.state.packet
        if packet is None or self.state.beat is not None or not self._open(packet):
            return
        beat, ranges = self._next_beat(packet, now)
        if not beat["command"] and not beat["pieces"]:
            return
        first = not packet["sent"] or len(beat["pieces"]) > 1
        if beat["pieces"] and first and packet["mnemonic"] == EXE:
            for cluster in packet["clusters"]:
                self.row.controls[cluster].begin_segment(packet)
        self.state.beat = beat
        if ranges:
            self.row.read(ranges)
        else:
            beat["data"] = b""  # a command byte alone, which came with the packet's header

    def _open(self, packet: Packet) -> bool:
        """Whether the packet's buffers are its own; takes them if all are free."""
        if packet["opened"] or packet["mnemonic"] not in (EXE, CONFIG):
            return True
        controls = [self.row.controls[cluster] for cluster in packet["clusters"]]
        if not all(control.accepts(packet) for control in controls):
            return False
        for control in controls:
            control.open(packet, self.row.address(packet["address"]))
        packet["opened"] = True
        return True

    def _next_beat(self, packet: Packet, now: int) -> tuple[Beat, list[tuple[int, int]]]:
        """What may go now, and the ranges (offset, bytes) of the half that it needs."""
        beat = Beat(cycle=now, command=not packet["commanded"], pieces=[], data=None)
        room = self.shape.bus_bytes - (COMMAND_BYTES if beat["command"] else 0)
        ranges: list[tuple[int, int]] = []
        number, sent = packet["segment"], packet["sent"]
        while room and number < len(packet["segments"]):
            segment = packet["segments"][number]
            if not sent and not self._ready(packet, number):
                break
            length = min(room, segment["length"] - sent)
            beat["pieces"].append((number, length))
            ranges.append((segment["offset"] + sent, length))
            room -= length
            sent += length
            if sent == segment["length"]:
                number, sent = number + 1, 0
        return beat, ranges

    def _ready(self, packet: Packet, number: int) -> bool:
        """Whether the first bytes of a segment may go.

        Nobody has still to write them, and all clusters of the packet can take them.
        """
        if packet["mnemonic"] != EXE:
            return True
        segment, controls = packet["segments"][number], self.row.controls
        if any(control.may_still_write(packet["order"], segment) for control in controls):
            return False
        return all(controls[cluster].ready(packet, number) for cluster in packet["clusters"])

    def claims_loader(self, cluster: int, buffer: int) -> bool:
        """Whether a segment for a lower buffer of `cluster` could begin now."""
        packet = self.state.packet
        if packet is None or not packet["opened"] or packet["mnemonic"] != EXE:
            return False
        if cluster not in packet["clusters"] or packet["buffer"] > buffer:
            return False
        number = packet["segment"]
        waiting = not packet["sent"] and number < len(packet["segments"])
        return waiting and self.state.beat is None and self._ready(packet, number)

    def take_in(self) -> None:
        """Hand the beat that was on the bus to the clusters. Raises `Fault`."""
        state, packet, beat = self.state, self.state.packet, self.state.beat
        if beat is None or beat["data"] is None:
            return
        controls = [self.row.controls[cluster] for cluster in packet["clusters"]]
        cycle, data = beat["cycle"], beat["data"]
        state.beat = None
        self._count(beat, len(data))
        if beat["command"]:
            packet["commanded"] = True
            if packet["mnemonic"] in (EXE, CONFIG):
                for control in controls:
                    control.accept(packet, cycle)
        at = 0
        for number, length in beat["pieces"]:
            piece = data[at : at + length]
            at += length
            if packet["mnemonic"] == CONFIG:
                for control in controls:
                    control.parser.configure(piece)
            else:
                self._deliver(packet, number, piece, cycle)
            packet["sent"] += length
            if packet["sent"] == packet["segments"][number]["length"]:
                packet["segment"], packet["sent"] = number + 1, 0
        if packet["segment"] == len(packet["segments"]):
            state.packet = None

    def _deliver(self, packet: Packet, number: int, piece: bytes, cycle: int) -> None:
        """Collect the bytes of a segment; the last ones bring them all to the PEs."""
        controls = [self.row.controls[cluster] for cluster in packet["clusters"]]
        if not packet["sent"]:
            for control in controls:
                control.segment_first(packet, number, cycle)
        packet["chunks"].append(piece)
        if packet["sent"] + len(piece) == packet["segments"][number]["length"]:
            self.row.loading.fill(packet, number, b"".join(packet["chunks"]))
            packet["chunks"] = []
            for control in controls:
                control.segment_last(packet, number, cycle)

    def _count(self, beat: Beat, length: int) -> None:
        state = self.state
        state.bus_beats += 1
        state.bus_bytes += length + (COMMAND_BYTES if beat["command"] else 0)
        state.bus_waits += beat["cycle"] - state.bus_free
        state.bus_free = beat["cycle"] + 1

    def stalled_on(self) -> str:
        """What the bus waits for, in words."""
        packet = self.state.packet
        if packet is None:
            return "its instructions"
        return f"{packet['mnemonic']} ib={packet['buffer']} at offset {packet['address']:#x}"

    @property
    def done(self) -> bool:
        """Whether the list is over and everything of it has been on the bus."""
        return self.state.packet is None and self.state.next_packet < 0
