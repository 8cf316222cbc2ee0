"""The distribution unit 601 of a row: packets from the unit's feeding half to the bus.

Command and data are packed together (seed 000 ¶109): a packet is the command byte and the bytes of
its segments, as one stream over the bus, `dist.bus_bytes` a beat. A beat goes
when all clusters that are to take it can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.faults import Fault
from macaw.emu.pe.commands import command_of
from macaw.emu.pe.row_trace import NOBODY
from macaw.emu.pe.sequence import WEIGHTS
from macaw.emu.pe.state import Beat, Out, Packet, Segment
from macaw.isa.codec import DecodeError, StructureError, decode, unpack
from macaw.isa.pe import (
    COMMAND_BITS,
    COMMAND_BYTES,
    CORE,
    END_OF_LIST,
    OUT,
    PACKET,
    PACKET_ALIGN,
    PAYLOADS,
    SEGMENT,
    SEGMENT_TYPES,
)

if TYPE_CHECKING:
    from macaw.emu.pe.row import Row


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
            if PAYLOADS[command.row.mnemonic].out:
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
            number=NOBODY,
            opened=False,
            commanded=False,
            segment=0,
            sent=0,
            chunks=[],
            entries={},
            packed={},
        )
        command_of(packet).check(packet, where)
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
        if members["compress"] and members["type"] != WEIGHTS:
            message = f"segment {number}: compress makes weights, it holds"
            message = f"{message} {SEGMENT_TYPES[members['type']]}"
            raise Fault("malformed packet", message, {"segment": number}, address=where)
        if not members["length"]:
            message = f"segment {number} has no bytes"
            raise Fault("malformed packet", message, {"segment": number}, address=where)
        return Segment(
            type=members["type"],
            mode=members["mode"],
            compress=bool(members["compress"]),
            offset=members["offset"],
            length=members["length"],
        )

    def _clusters(self, mask: int, where: int) -> list[int]:
        if mask >> self.shape.clusters or not mask:
            message = f"the cluster mask is {mask:#x}, the row has {self.shape.clusters} clusters"
            raise Fault("malformed packet", message, {"clusters": mask}, address=where)
        return [cluster for cluster in range(self.shape.clusters) if mask >> cluster & 1]

    # The bus

    def cycle(self, now: int) -> None:
        """Send the next beat, if there is one and its clusters can take it."""
        self.fetch()
        packet = self.state.packet
        if packet is None or self.state.beat is not None or not self._open(packet, now):
            return
        beat, ranges = self._next_beat(packet, now)
        if not beat["command"] and not beat["pieces"]:
            return
        if self.row.listeners and beat["command"]:
            where = self.row.address(packet["address"])
            clusters = sum(1 << cluster for cluster in packet["clusters"])
            self.row.announce("packet", address=where, order=packet["order"], clusters=clusters)
        first = not packet["sent"] or len(beat["pieces"]) > 1
        if beat["pieces"] and first and command_of(packet).loads:
            self.row.begin_segment(packet)
        self.state.beat = beat
        if ranges:
            self.row.read(ranges)
        else:
            beat["data"] = b""  # a command byte alone, which came with the packet's header

    def _open(self, packet: Packet, now: int) -> bool:
        """Whether the packet's buffers are its own; takes them if all are free."""
        command = command_of(packet)
        if packet["opened"] or not command.takes_buffer:
            return True
        if not self.row.accepts(packet):
            return False
        command.open(self.row, packet, self.row.address(packet["address"]), now)
        packet["opened"] = True
        return True

    def _next_beat(self, packet: Packet, now: int) -> tuple[Beat, list[tuple[int, int]]]:
        """What may go now, and the ranges (offset, bytes) of the half that it needs."""
        command = not packet["commanded"]
        carried = COMMAND_BYTES if command else 0
        beat = Beat(cycle=now, command=command, carried=carried, pieces=[], data=None)
        room = self.shape.bus_bytes - carried
        ranges: list[tuple[int, int]] = []
        number, sent = packet["segment"], packet["sent"]
        while room and number < len(packet["segments"]):
            segment = packet["segments"][number]
            if not sent and not command_of(packet).ready(self.row, packet, number):
                break
            dense, packed = segment["length"], self._bytes(packet, number)
            length = min(room, max(dense, packed) - sent)
            read = min(length, max(dense - sent, 0))
            beat["pieces"].append((number, length, read))
            beat["carried"] += min(length, max(packed - sent, 0))
            if read:
                ranges.append((segment["offset"] + sent, read))
            room -= length
            sent += length
            if sent == max(dense, packed):
                number, sent = number + 1, 0
        return beat, ranges

    def _bytes(self, packet: Packet, number: int) -> int:
        """The bytes of a segment on the bus. Compressed, they are index + value.

        The compressor takes up to a bus width of dense bytes a cycle, and gives as many at most; so
        it needs as many cycles as the longer of both would.
        """
        segment, packed = packet["segments"][number], packet["packed"]
        if not segment["compress"]:
            return segment["length"]
        if number not in packed:
            packed[number] = self.row.loading.packed_bytes(packet, number)
        return packed[number]

    def claims_loader(self, cluster: int, buffer: int) -> bool:
        """Whether a segment for a lower buffer of `cluster` could begin now."""
        packet = self.state.packet
        if packet is None or not packet["opened"]:
            return False
        command = command_of(packet)
        if not command.loads:
            return False
        if cluster not in packet["clusters"]:
            return False
        if self.row.controls[cluster].run_for(packet)["buffer"] > buffer:
            return False
        number = packet["segment"]
        if packet["sent"] or number == len(packet["segments"]) or self.state.beat is not None:
            return False
        return command.ready(self.row, packet, number)

    def take_in(self) -> None:
        """Hand the beat that was on the bus to the clusters. Raises `Fault`."""
        state, packet, beat = self.state, self.state.packet, self.state.beat
        if beat is None or beat["data"] is None:
            return
        controls = [self.row.controls[cluster] for cluster in packet["clusters"]]
        command = command_of(packet)
        cycle, data = beat["cycle"], beat["data"]
        state.beat = None
        self._count(beat)
        if beat["command"]:
            packet["commanded"] = True
            for control in controls:
                command.accept(control, packet, cycle)
            command.taken(self.row, packet, cycle)
        at = 0
        for number, length, read in beat["pieces"]:
            piece = data[at : at + read]
            at += read
            whole = max(packet["segments"][number]["length"], self._bytes(packet, number))
            last = packet["sent"] + length == whole
            command.deliver(self.row, packet, number, piece, last, cycle)
            packet["sent"] += length
            if last:
                packet["segment"], packet["sent"] = number + 1, 0
        if packet["segment"] == len(packet["segments"]):
            state.packet = None

    def _count(self, beat: Beat) -> None:
        state = self.state
        state.bus_beats += 1
        state.bus_bytes += beat["carried"]
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
