"""Delivery: what the packets of each command do in clusters and trace when they are on the bus."""

from __future__ import annotations

from macaw.emu.faults import Fault
from macaw.emu.pe.cluster_controls import ClusterControls
from macaw.emu.pe.row_units import RowUnits
from macaw.emu.pe.sequence import WEIGHTS
from macaw.emu.pe.state import Packet


class Delivery:
    """Delivers the packets of a command that needs nothing from the clusters."""

    def __init__(self, controls: ClusterControls, units: RowUnits) -> None:
        self.controls, self.units = controls, units

    def open(self, packet: Packet, address: int, now: int) -> None:
        """Reserve the clusters' buffer: the first beat goes in cycle `now`. Raises `Fault`."""

    def activate(self, packet: Packet, cycle: int) -> None:
        """The command byte was on the bus in `cycle`. Raises `Fault`."""

    def can_send(self, packet: Packet, number: int) -> bool:
        """Whether the first bytes of a segment may go."""
        return True

    def deliver(self, packet: Packet, number: int, piece: bytes, last: bool, cycle: int) -> None:
        """Bytes of a segment were on the bus in `cycle`, the last ones or not. Raises `Fault`."""


class ConfigDelivery(Delivery):
    """Delivers sequences to the parsers."""

    def open(self, packet: Packet, address: int, now: int) -> None:
        for cluster in packet["clusters"]:
            self.controls.units[cluster].parser.begin(packet["buffer"], packet["segments"][0])

    def deliver(self, packet: Packet, number: int, piece: bytes, last: bool, cycle: int) -> None:
        for cluster in packet["clusters"]:
            self.controls.units[cluster].parser.append(piece)


class ExeDelivery(Delivery):
    """Opens a run in each cluster, whose lds take the segments."""

    def open(self, packet: Packet, address: int, now: int) -> None:
        self.units.trace.begin(packet, now)
        self.controls.open(packet, address)

    def activate(self, packet: Packet, cycle: int) -> None:
        for cluster in packet["clusters"]:
            self.controls.units[cluster].activate(packet, cycle)

    def can_send(self, packet: Packet, number: int) -> bool:
        """Whether no run has yet to write the bytes, and all clusters can take them."""
        if self.controls.may_still_write(packet["order"], packet["segments"][number]):
            return False
        return self.controls.can_take(packet, number)

    def deliver(self, packet: Packet, number: int, piece: bytes, last: bool, cycle: int) -> None:
        """Collect the bytes of a segment; the last ones bring them all to the PEs."""
        if not packet["sent"]:
            self.controls.first_beat(packet, number, cycle)
        packet["chunks"].append(piece)
        if not last:
            return
        data, loading = b"".join(packet["chunks"]), self.units.loading
        if packet["segments"][number]["type"] == WEIGHTS:
            loading.fill_queues(packet, number, data)
        else:
            loading.fill_dense(packet, number, data, self.controls.targets(packet, number))
        packet["chunks"] = []
        self.controls.last_beat(packet, number, cycle)


class MarkerDelivery(Delivery):
    """Delivers markers to the trace block of the row; each costs its beat."""

    def activate(self, packet: Packet, cycle: int) -> None:
        try:
            self.units.trace.mark(packet, packet["mnemonic"] == "trace_begin", cycle)
        except Fault as fault:
            fault.address = self.units.context.shape.address(packet["address"])
            raise


# By the row's name.
DELIVERIES: dict[str, type[Delivery]] = {
    "config": ConfigDelivery,
    "exe": ExeDelivery,
    "trace_begin": MarkerDelivery,
    "trace_end": MarkerDelivery,
}
