"""Reads a Perfetto trace with Perfetto's own classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackDescriptor, TrackEvent


@dataclass
class ReadTrack:
    """A track of the file."""

    descriptor: TrackDescriptor
    slices: list[tuple[int, int, TrackEvent]] = field(default_factory=list)
    points: list[tuple[int, float]] = field(default_factory=list)
    open: list[tuple[int, TrackEvent]] = field(default_factory=list)
    time: int = 0


def read_tracks(data: bytes) -> dict[int, ReadTrack]:
    """The tracks of a trace by number; asserts what Perfetto's documentation demands of each."""
    tracks: dict[int, ReadTrack] = {}
    for packet in Trace.FromString(data).packet:
        assert packet.trusted_packet_sequence_id
        if packet.HasField("track_descriptor"):
            descriptor = packet.track_descriptor
            assert descriptor.uuid
            assert descriptor.uuid not in tracks
            if not descriptor.HasField("process"):  # a parent is described before its children
                assert descriptor.parent_uuid in tracks
            tracks[descriptor.uuid] = ReadTrack(descriptor)
            continue
        event = packet.track_event
        track = tracks[event.track_uuid]  # described before its first event
        assert packet.timestamp >= track.time
        track.time = packet.timestamp
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            assert event.name
            track.open.append((packet.timestamp, event))
        elif event.type == TrackEvent.TYPE_SLICE_END:
            begin, first = track.open.pop()  # the innermost: slices nest
            track.slices.append((begin, packet.timestamp, first))
        else:
            assert event.type == TrackEvent.TYPE_COUNTER
            assert track.descriptor.HasField("counter")
            track.points.append((packet.timestamp, event.double_counter_value))
    assert not any(track.open for track in tracks.values())
    return tracks


def busy_by_core(tracks: dict[int, ReadTrack]) -> dict[str, int]:
    """The total length of the slices of each busy track in cycles, by the track's name."""
    return {
        track.descriptor.name: sum(end - begin for begin, end, _ in track.slices)
        for track in tracks.values()
        if all(event.name == "busy" for _, _, event in track.slices)
        and not track.descriptor.HasField("counter")
        and not track.descriptor.HasField("process")
    }


def disjoint(slices: list[tuple[int, int, TrackEvent]]) -> bool:
    """Whether each slice of a track begins after the one before has ended."""
    pairs = [(begin, end) for begin, end, _ in slices]
    return all(one[1] <= other[0] for one, other in pairwise(pairs))
