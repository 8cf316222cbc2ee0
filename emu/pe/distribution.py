"""The distribution unit 601 of a row: it sends packets from the feeding half over the row's bus.

The feeding half is the half of an on-chip unit that the row now reads. Command and data travel
together (seed 000 ¶109). A packet is one stream of bytes: its command byte and its segments,
`dist.bus_bytes` in each beat. The distribution unit sends a beat when all clusters that receive it
can take it.
"""

from __future__ import annotations

from typing import cast

from macaw.emu.faults import Fault
from macaw.emu.pe.cluster_controls import ClusterControls
from macaw.emu.pe.commands import command_of
from macaw.emu.pe.delivery import DELIVERIES
from macaw.emu.pe.packet_reader import PacketReader
from macaw.emu.pe.row_units import RowUnits
from macaw.emu.pe.sequence import COMPRESS
from macaw.emu.pe.state import Beat, Packet
from macaw.isa.pe import COMMAND_BYTES, END_OF_LIST


class Distribution:
    """The bus of a row, with the packet that is on it."""

    def __init__(self, controls: ClusterControls, units: RowUnits) -> None:
        self.controls, self.units, self.context = controls, units, units.context
        self.state, self.shape = self.context.state, self.context.shape
        self.reader = PacketReader(self.context.memory, self.shape)
        self.deliveries = {name: kind(controls, units) for name, kind in DELIVERIES.items()}
        for unit in controls.units:
            unit.bus_claims_loader = self.claims_loader

    # The list

    def fetch(self) -> None:
        """If no packet is on the bus, put the next packet of the list on it. Raises `Fault`.

        This takes no beat, because the distribution unit reads packet headers in advance, through a
        separate path.
        """
        state = self.state
        if state.packet is not None or state.next_packet < 0:
            return
        address, following = state.next_packet, self._read_next()
        if following is None:
            state.next_packet = -1
            return
        packet, state.next_packet = following
        command_of(packet).check(packet, self.shape.address(address))
        state.packet = packet
        state.packets += 1

    def coming_packet(self) -> Packet | None:
        """Return the packet for which the bus reserves buffers next; None if there is none.

        The result is also None while another packet is on the bus, or if the packet is malformed.
        """
        state = self.state
        if state.packet is not None:
            return None if state.packet["opened"] else cast(Packet, state.packet)
        try:
            following = None if state.next_packet < 0 else self._read_next()
        except Fault:
            return None
        return None if following is None else following[0]

    def _read_next(self) -> tuple[Packet, int] | None:
        """Return the next packet of the list, and the offset after it; None at the list's end.

        The caller ensures that the list has not ended yet. Raises `Fault`.
        """
        state = self.state
        if self.context.memory.peek(state.next_packet, 1)[0] == END_OF_LIST:
            return None
        return self.reader.read(state.next_packet, state.packets)

    # The bus

    def cycle(self, now: int) -> None:
        """Request the next beat in cycle `now` if there is one and the clusters can take it.

        Raises `Fault`.
        """
        self.fetch()
        packet = self.state.packet
        if packet is None or self.state.beat is not None or not self._open(packet, now):
            return
        beat, ranges = self._next_beat(packet, now)
        if not beat["command"] and not beat["pieces"]:
            return
        if self.context.core.listeners and beat["command"]:
            where = self.shape.address(packet["address"])
            clusters = sum(1 << cluster for cluster in packet["clusters"])
            self.context.core.announce(
                "packet", address=where, order=packet["order"], clusters=clusters
            )
        first = not packet["sent"] or len(beat["pieces"]) > 1
        if beat["pieces"] and first and command_of(packet).loads:
            self.controls.begin_segment(packet)
        self.state.beat = beat
        if ranges:
            self.context.memory.read(ranges, packet["number"])
        else:
            beat["data"] = b""  # only the command byte, which arrived with the packet's header

    def _open(self, packet: Packet, now: int) -> bool:
        """Reserve the packet's buffers in cycle `now` if all are free, unless it has them already.

        Return whether the packet has the buffers that it needs; a marker needs none.
        """
        command = command_of(packet)
        if packet["opened"] or not command.takes_buffer:
            return True
        if not self.controls.accepts(packet):
            return False
        address = self.shape.address(packet["address"])
        self.deliveries[packet["mnemonic"]].open(packet, address, now)
        packet["opened"] = True
        return True

    def can_send(self, packet: Packet, number: int, now: int) -> bool:
        """Return whether the bus may send the first bytes of segment `number` in cycle `now`.

        `packet` is the packet on the bus.
        """
        return self.deliveries[packet["mnemonic"]].can_send(packet, number, now)

    def _next_beat(self, packet: Packet, now: int) -> tuple[Beat, list[tuple[int, int]]]:
        """Return the packet's beat that can be sent in cycle `now`, and the ranges that it reads.

        A range of the half is a pair: offset in the half, and number of bytes.
        """
        command = not packet["commanded"]
        carried = COMMAND_BYTES if command else 0
        beat = Beat(cycle=now, command=command, carried=carried, pieces=[], data=None)
        room = self.shape.bus_bytes - carried
        ranges: list[tuple[int, int]] = []
        number, sent = packet["segment"], packet["sent"]
        while room and number < len(packet["segments"]):
            segment = packet["segments"][number]
            if not sent and not self.can_send(packet, number, now):
                break
            dense_bytes, packed_bytes = segment["length"], self._bytes(packet, number)
            length = min(room, max(dense_bytes, packed_bytes) - sent)
            read = min(length, max(dense_bytes - sent, 0))
            beat["pieces"].append((number, length, read))
            beat["carried"] += min(length, max(packed_bytes - sent, 0))
            if read:
                ranges.append((segment["offset"] + sent, read))
            room -= length
            sent += length
            if sent == max(dense_bytes, packed_bytes):
                number, sent = number + 1, 0
        return beat, ranges

    def _bytes(self, packet: Packet, number: int) -> int:
        """Return the number of bytes that the bus carries for segment `number` of a packet.

        A segment with the form `compress` is sent as pairs of index + value. The result is then the
        number of bytes of the pairs, although the segment may occupy the bus for longer: in each
        cycle the compressor reads at most one bus width of dense bytes, and sends at most one bus
        width. So the caller computes the cycles from the longer of the two forms.
        """
        segment, packed = packet["segments"][number], packet["packed"]
        if segment["form"] != COMPRESS:
            return segment["length"]
        if number not in packed:
            packed[number] = self.units.loading.packed_bytes(packet, number)
        return packed[number]

    def claims_loader(self, cluster: int, buffer: int, now: int) -> bool:
        """Return whether a segment from the bus will occupy a cluster's loader in cycle `now`.

        That is so if the bus can now begin a segment for a run of the cluster whose buffer number
        is `buffer` or less. Then an `ld` of `buffer` that needs no data from the bus must wait,
        although the loading unit is still free.
        """
        packet = self.state.packet
        if packet is None or not packet["opened"]:
            return False
        if not command_of(packet).loads:
            return False
        if cluster not in packet["clusters"]:
            return False
        if self.context.clusters[cluster].run_for(packet)["buffer"] > buffer:
            return False
        number = packet["segment"]
        if packet["sent"] or number == len(packet["segments"]) or self.state.beat is not None:
            return False
        return self.can_send(packet, number, now)

    def take_in(self) -> None:
        """Deliver the beat on the bus to the clusters. Raises `Fault`."""
        state, packet, beat = self.state, self.state.packet, self.state.beat
        if beat is None or beat["data"] is None:
            return
        delivery = self.deliveries[packet["mnemonic"]]
        cycle, data = beat["cycle"], beat["data"]
        state.beat = None
        self._count(beat)
        if beat["command"]:
            packet["commanded"] = True
            delivery.activate(packet, cycle)
        at = 0
        for number, length, read in beat["pieces"]:
            piece = data[at : at + read]
            at += read
            total = max(packet["segments"][number]["length"], self._bytes(packet, number))
            last = packet["sent"] + length == total
            delivery.deliver(packet, number, piece, last, cycle)
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
        """Return a description of what the bus waits for, such as "exe ib=0 at offset 0x40"."""
        packet = self.state.packet
        if packet is None:
            return "its instructions"
        return f"{packet['mnemonic']} ib={packet['buffer']} at offset {packet['address']:#x}"

    @property
    def is_done(self) -> bool:
        """Whether all packets of the list have been on the bus."""
        return self.state.packet is None and self.state.next_packet < 0
