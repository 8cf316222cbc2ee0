"""Delivery: what a packet does when it arrives, with one class for each command of packets."""

from __future__ import annotations

from macaw.emu.faults import Fault
from macaw.emu.pe.cluster_controls import ClusterControls
from macaw.emu.pe.row_units import RowUnits
from macaw.emu.pe.sequence import WEIGHTS
from macaw.emu.pe.state import Packet


class Delivery:
    """Delivers the packets of one command.

    In this base class, the bus may send every segment, and nothing is delivered.
    """

    def __init__(self, controls: ClusterControls, units: RowUnits) -> None:
        self.controls, self.units = controls, units

    def open(self, packet: Packet, address: int, now: int) -> None:
        """Reserve the buffers and circuits that the packet needs. Raises `Fault`.

        The packet's first beat is sent in cycle `now`; `address` is the address of the packet.
        """

    def activate(self, packet: Packet, cycle: int) -> None:
        """Execute the packet's command, whose byte was on the bus in `cycle`.

        An exe lets its runs start; a marker goes to the trace block. Raises `Fault`.
        """

    def can_send(self, packet: Packet, number: int, now: int) -> bool:
        """Return whether the bus may send the first bytes of segment `number` of a packet.

        `now` is the present cycle.
        """
        return True

    def deliver(self, packet: Packet, number: int, piece: bytes, last: bool, cycle: int) -> None:
        """Take `piece`, bytes of segment `number` of a packet that were on the bus in `cycle`.

        `last` says whether the segment ends with these bytes. Raises `Fault`.
        """


class ConfigDelivery(Delivery):
    """Delivers the sequence of a config to the parsers, then its scales and its table."""

    def open(self, packet: Packet, address: int, now: int) -> None:
        for cluster in packet["clusters"]:
            self.controls.units[cluster].parser.begin(packet["buffer"], packet["segments"])

    def can_send(self, packet: Packet, number: int, now: int) -> bool:
        """Return whether the bus may send the first bytes of segment `number` of a config.

        It may not send scales or a table while a run can still store results into the memory that
        holds this segment.
        """
        segment = packet["segments"][number]
        return not number or not self.controls.may_still_write(packet["order"], segment, now)

    def deliver(self, packet: Packet, number: int, piece: bytes, last: bool, cycle: int) -> None:
        parsers = [self.controls.units[cluster].parser for cluster in packet["clusters"]]
        if not number:  # the segment is the sequence
            for parser in parsers:
                parser.append(piece)
            return
        packet["chunks"].append(piece)
        if last:
            data = b"".join(packet["chunks"])
            packet["chunks"] = []
            for parser in parsers:
                parser.store(packet, number, data)


class ExeDelivery(Delivery):
    """Delivers the segments of an exe: in each cluster, lds of one run take the segments."""

    def open(self, packet: Packet, address: int, now: int) -> None:
        self.units.trace.begin(packet, now)
        self.controls.open(packet, address)

    def activate(self, packet: Packet, cycle: int) -> None:
        self.controls.activate(packet, cycle)

    def can_send(self, packet: Packet, number: int, now: int) -> bool:
        """Return whether the bus may send the first bytes of segment `number` of an exe.

        It may if all clusters can take the segment, and if no run can still write bytes of it.
        """
        if self.controls.may_still_write(packet["order"], packet["segments"][number], now):
            return False
        return self.controls.can_take(packet, number, now)

    def deliver(self, packet: Packet, number: int, piece: bytes, last: bool, cycle: int) -> None:
        """Collect `piece`, bytes of segment `number` of a packet.

        After the last bytes (`last`), write the segment to the PEs.
        """
        if not packet["sent"]:
            self.controls.first_beat(packet, number, cycle)
        packet["chunks"].append(piece)
        if not last:
            return
        data = b"".join(packet["chunks"])
        if packet["segments"][number]["type"] == WEIGHTS:
            self.units.loading.fill_queues(packet, number, data)
        else:
            self.controls.fill_dense(packet, number, data)
        packet["chunks"] = []
        self.controls.last_beat(packet, number, cycle)


class MarkerDelivery(Delivery):
    """Delivers markers to the trace block of the row. Each marker takes one beat."""

    def activate(self, packet: Packet, cycle: int) -> None:
        try:
            self.units.trace.mark(packet, packet["mnemonic"] == "trace_begin", cycle)
        except Fault as fault:
            fault.address = self.units.context.shape.address(packet["address"])
            raise


# By the name of the command's row.
DELIVERIES: dict[str, type[Delivery]] = {
    "config": ConfigDelivery,
    "exe": ExeDelivery,
    "trace_begin": MarkerDelivery,
    "trace_end": MarkerDelivery,
}
