"""Writes a profile as a Perfetto trace, for ui.perfetto.dev and trace_processor.

The format is TrackEvent protobuf. A cycle is a nanosecond of the trace. One process has the six
rows as tracks, in their order. A row's own track has its busy intervals as slices; child tracks
have its recorded instructions. A series is a counter track below its row.

Perfetto requires that the slices of a track nest, but instructions may overlap without nesting.
Such an instruction is then written to another child track of the same name; Perfetto shows these
tracks as one.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

from macaw.errors import InputError
from macaw.files import text_bytes
from macaw.profiling.model import Group, Profile, Series, Slice, Track
from macaw.profiling.slice_levels import stack_slices

PROCESS = 1  # number of the process and of its track
SEQUENCE = 1  # number of the only sequence of packets
INSTALL = "install it: pip install 'macaw-npu[perfetto]'"


def encode(profile: Profile) -> bytes:
    """Return the bytes of a `.pftrace` file.

    Raises `InputError` if the optional package `perfetto` is not installed.
    """
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
    except ImportError:
        raise InputError("a Perfetto trace needs the package 'perfetto'", INSTALL) from None
    writer = _Writer(protos)
    writer.profile(profile)
    return b"".join(writer.pieces)


class _Writer:
    def __init__(self, protos: Any) -> None:
        self.protos = protos
        self.pieces: list[bytes] = []
        self.numbers = count(PROCESS + 1)  # of tracks
        self.metrics: dict[tuple[str, int, int], Group] = {}

    def profile(self, profile: Profile) -> None:
        self.metrics = {group.slice.key: group for group in profile.groups}
        self._process(profile)
        if profile.layers:
            about = "layers of the network, from begin to begin"
            uuid = self._track("layers", PROCESS, len(profile.rows) + len(profile.series), about)
            self._slices(uuid, ((item.begin, item.end, item.name, None) for item in profile.layers))
        for rank, row in enumerate(profile.rows):
            uuid = self._busy(row, PROCESS, rank)
            cores = profile.cores(row.row) or (row,)
            for place, core in enumerate(cores):
                self._core(core, uuid, place, alone=core is row)
            own = (series for series in profile.series if series.row == row.row)
            for place, series in enumerate(own, len(cores)):
                self._series(series, uuid, place)
        rows = {row.row for row in profile.rows}
        rest = (series for series in profile.series if series.row not in rows)
        for place, series in enumerate(rest, len(profile.rows)):
            self._series(series, PROCESS, place)

    def _process(self, profile: Profile) -> None:
        packet = self._packet()
        packet.first_packet_on_sequence = True
        # The trace does not continue an earlier one.
        packet.sequence_flags = self.protos.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        track = packet.track_descriptor
        track.uuid = PROCESS
        track.child_ordering = self.protos.TrackDescriptor.EXPLICIT
        track.process.pid = PROCESS
        track.process.process_name = text_bytes(f"{profile.program} on {profile.device}")
        self._write(packet)

    def _core(self, core: Track, parent: int, place: int, *, alone: bool) -> None:
        """Write the records of a core to tracks below track `parent`, the track of its row.

        If the core is not `alone` in its row, these tracks are below a new track of the core, which
        has the position `place` among the tracks below `parent`.
        """
        if not alone:
            parent = self._busy(core, parent, place)
        for lane in stack_slices(core.slices):
            about = "what register groups recorded"
            uuid = self._track(f"{core.core}: instructions", parent, 0, about)
            named = ((item.begin, item.end, item.name or "instructions", item) for item in lane)
            self._slices(uuid, named)

    def _busy(self, track: Track, parent: int, rank: int) -> int:
        """Write a track of busy intervals below track `parent` and return its number.

        `rank` is its position among the tracks below `parent`.
        """
        uuid = self._track(
            track.core, parent, rank, "busy intervals, without waits for other cores"
        )
        self._slices(uuid, ((begin, end, "busy", None) for begin, end in track.busy))
        return uuid

    def _track(self, name: str, parent: int, rank: int, about: str) -> int:
        """Write a track below track `parent` and return the number of the new track.

        `rank` is its position among the tracks below `parent`, `about` its description.
        """
        packet = self._packet()
        track = packet.track_descriptor
        track.uuid, track.parent_uuid = next(self.numbers), parent
        track.name, track.description = name, about
        track.sibling_order_rank = rank
        track.child_ordering = self.protos.TrackDescriptor.EXPLICIT
        self._write(packet)
        return int(track.uuid)

    def _slices(self, track: int, slices: Iterable[tuple[int, int, str, Slice | None]]) -> None:
        """Write slices (begin, end, name, recorded slice or None), in this order, to a track."""
        kinds = self.protos.TrackEvent
        for begin, end, name, item in slices:
            packet = self._event(track, begin, kinds.TYPE_SLICE_BEGIN)
            packet.track_event.name = text_bytes(name)
            if item is not None:
                self._about(packet.track_event, item)
            self._write(packet)
            self._write(self._event(track, end, kinds.TYPE_SLICE_END))

    def _about(self, event: Any, item: Slice) -> None:
        """Add the source position and the counters of a slice to an event."""
        file, _, line = item.place.rpartition(":")
        if file and line.isdecimal():
            event.source_location.file_name = text_bytes(file)
            event.source_location.line_number = int(line)
        numbers: dict[str, int | float] = {
            "first": item.first,
            "instructions": item.instructions,
            "waited": item.waited,
            **item.counters,
        }
        group = self.metrics.get(item.key)
        for metric in group.metrics if group else ():
            if metric.value is not None:
                numbers[metric.key] = metric.value
        for name, value in numbers.items():
            note = event.debug_annotations.add()
            note.name = name
            if isinstance(value, int):
                note.int_value = value
            else:
                note.double_value = value

    def _series(self, series: Series, parent: int, rank: int) -> None:
        packet = self._packet()
        track = packet.track_descriptor
        track.uuid, track.parent_uuid = next(self.numbers), parent
        track.name = series.name
        track.sibling_order_rank = rank
        track.counter.unit_name = series.unit
        if series.most is not None:
            track.description = f"at most {series.most:g} {series.unit}"
        self._write(packet)
        for cycle, value in series.points:
            packet = self._event(track.uuid, cycle, self.protos.TrackEvent.TYPE_COUNTER)
            packet.track_event.double_counter_value = value
            self._write(packet)

    def _event(self, track: int, cycle: int, kind: Any) -> Any:
        packet = self._packet()
        packet.timestamp = cycle
        packet.track_event.type = kind
        packet.track_event.track_uuid = track
        return packet

    def _packet(self) -> Any:
        packet = self.protos.TracePacket()
        packet.trusted_packet_sequence_id = SEQUENCE
        return packet

    def _write(self, packet: Any) -> None:
        """Append a packet; a trace is a sequence of packets."""
        self.pieces.append(self.protos.Trace(packet=[packet]).SerializeToString())
